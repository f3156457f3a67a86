package direct

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// fuzzHead is the limit of headers while fuzzing, in bytes.
	fuzzHead = 4 << 10
	// fuzzBody is how much of a body is read while fuzzing, in bytes: a few compressed ones are huge.
	fuzzBody = 64 << 10
)

// errSilent is the error of a read from a server that says nothing more.
var errSilent = errors.New("the server is silent")

// canned is a connection to a server that answers the first request with fixed bytes.
type canned struct {
	answer []byte
	step   int   // most bytes of one read
	end    error // of reads after the answer

	mu    sync.Mutex
	at    int           // bytes that were read
	asked chan struct{} // closed when something was written, or at the end
	once  sync.Once
}

var _ net.Conn = (*canned)(nil)

// Read implements [net.Conn].
func (c *canned) Read(p []byte) (int, error) {
	<-c.asked
	c.mu.Lock()
	defer c.mu.Unlock()
	n := copy(p[:min(len(p), c.step)], c.answer[c.at:])
	c.at += n
	if n == 0 && len(p) > 0 {
		return 0, c.end
	}
	return n, nil
}

// Write implements [net.Conn].
func (c *canned) Write(p []byte) (int, error) {
	c.once.Do(func() { close(c.asked) })
	return len(p), nil
}

// Close implements [net.Conn].
func (c *canned) Close() error {
	c.once.Do(func() { close(c.asked) })
	return nil
}

func (c *canned) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *canned) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *canned) SetDeadline(time.Time) error      { return nil }
func (c *canned) SetReadDeadline(time.Time) error  { return nil }
func (c *canned) SetWriteDeadline(time.Time) error { return nil }

// exchanged is the outcome of a request.
type exchanged struct {
	Err     string // of the request
	Status  string
	Proto   string
	Header  http.Header
	Length  int64
	Coding  []string
	Close   bool
	Plain   bool // was decompressed
	Body    string
	BodyErr string
	Trailer http.Header
}

// fetched sends a request, and reads the response to its end.
func fetched(rt http.RoundTripper, r *http.Request) exchanged {
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return exchanged{Err: err.Error()}
	}
	e := exchanged{
		Status: resp.Status, Proto: fmt.Sprint(resp.Proto, resp.ProtoMajor, resp.ProtoMinor), Header: resp.Header, Length: resp.ContentLength,
		Coding: resp.TransferEncoding, Close: resp.Close, Plain: resp.Uncompressed,
	}
	if resp.StatusCode == http.StatusSwitchingProtocols { // the rest is not HTTP
		_ = resp.Body.Close()
		return e
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, fuzzBody))
	_ = resp.Body.Close()
	e.Body, e.Trailer = string(body), resp.Trailer
	if err != nil {
		e.BodyErr = err.Error()
	}
	return e
}

// fuzzed is one server's behavior.
type fuzzed struct {
	answer []byte
	method string
	end    error
}

func (f fuzzed) conn(step int) *canned {
	return &canned{answer: f.answer, step: step, end: f.end, asked: make(chan struct{})}
}

func (f fuzzed) request(ctx context.Context, t *testing.T) *http.Request {
	t.Helper()
	body := ""
	if f.method == http.MethodPost {
		body = "{}"
	}
	return asks(ctx, t, f.method, body)
}

// byTransport returns the outcome by a Transport that reads byte by byte, and whether it keeps the connection.
func (f fuzzed) byTransport(t *testing.T) (e exchanged, kept bool) {
	t.Helper()
	rt := transport()
	rt.MaxResponseHeaderBytes = fuzzHead
	rt.ReadBufferSize = maxLinkBuffer // an unfinished line that fills the buffer has another error
	rt.DialContext = func(context.Context, string, string) (net.Conn, error) { return f.conn(1), nil }
	defer rt.CloseIdleConnections()
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{PutIdleConn: func(err error) { kept = err == nil }})
	e = fetched(rt, f.request(ctx, t))
	return e, kept
}

// directly returns the outcome by the client, whether it keeps the connection, and how many bytes of the answer it read.
func (f fuzzed) directly(t *testing.T, step int) (e exchanged, kept bool, read int) {
	t.Helper()
	rest := transport()
	rest.MaxResponseHeaderBytes = fuzzHead
	c := New(&url.URL{Scheme: "http", Host: "shop.example"}, rest)
	defer c.Close()
	conn := f.conn(step)
	c.dial = func(context.Context, string, string) (net.Conn, error) { return conn, nil }
	e = fetched(c, f.request(t.Context(), t))
	return e, len(c.kept) == 1, conn.at
}

// tooLong ends the error for headers over the limit.
var tooLong = fmt.Sprintf("server response headers exceeded %d bytes; aborted", fuzzHead)

// bareEnd matches an empty line that does not end trailers in the form that the reader looks for.
var bareEnd = regexp.MustCompile(`\n\n|[^\r]\n\r\n`)

// check compares the client with a Transport.
func (f fuzzed) check(t *testing.T) {
	t.Helper()
	want, reusable := f.byTransport(t)
	got, kept, read := f.directly(t, 1)
	for tries := 0; kept && !reusable && tries < 5; tries++ { // a Transport keeps no connection whose writer got no processor within 50 ms
		want, reusable = f.byTransport(t)
	}
	if reusable && !kept && len(got.Coding) > 0 && bareEnd.Match(f.answer[:read]) {
		// The reader looks for the end of trailers further than an empty line with a bare line feed before or as it. A Transport keeps the
		// connection for the moment until it looks at what is left.
		reusable = false
	}
	if !reflect.DeepEqual(got, want) || kept != reusable {
		t.Errorf("to %s %q, a Transport says\n%+v, kept: %v; the client\n%+v, kept: %v", f.method, f.answer, want, reusable, got, kept)
	}
	whole, keptWhole, _ := f.directly(t, len(f.answer)+1)
	if strings.HasSuffix(whole.Err, tooLong) && got.Err != "" { // headers that are malformed, too, and were read ahead
		whole.Err = got.Err
	}
	if !reflect.DeepEqual(whole, got) {
		t.Errorf("to %s %q, the client says byte by byte\n%+v; otherwise\n%+v", f.method, f.answer, got, whole)
	}
	if got.BodyErr != "" || len(got.Body) == fuzzBody || len(f.answer) > maxLinkBuffer {
		return // how much was read depends on the sizes of buffers
	}
	if more := read < len(f.answer); keptWhole != (kept && !more) {
		t.Errorf("to %s %q, the connection is kept: %v; byte by byte: %v, with more than the response: %v", f.method, f.answer, keptWhole, kept, more)
	}
}

// answers are the seeds of [FuzzAnswers].
func answers(t testing.TB) []string {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, strings.Repeat("packed", 50)); err != nil {
		t.Fatal(err)
	} else if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const ok = "HTTP/1.1 200 OK\r\n"
	zipped := "Content-Encoding: gzip\r\nContent-Length: " + fmt.Sprint(packed.Len()) + "\r\n\r\n" + packed.String()
	return []string{
		"", "H", "HTTP/1.1 200", ok, ok + "\r\n", ok + "\r\nuntil the end", "HTTP/1.1 200\r\n\r\n", "HTTP/1.1 200OK\r\n\r\n", "HTTP/1.1 099 No\r\n\r\n",
		"HTTP/1.0 200 OK\r\n\r\nold", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n0\r\n\r\n",
		"HTTP/0.9 200 OK\r\n\r\n", "http/1.1 200 OK\r\n\r\n", "220 mail\r\n\r\n", "\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 -20 OK\r\n\r\n",
		ok + "Content-Length: 2\r\n\r\nok", ok + "Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n", ok + "Content-Length: 4\r\n\r\nok",
		ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!", ok + "Content-Length: 2, 2\r\n\r\nok",
		ok + "Content-Length: -1\r\n\r\nok", ok + "Content-Length: +2\r\n\r\nok", ok + "Content-Length: 0x2\r\n\r\nok", ok + "Content-Length:\r\n\r\nok",
		ok + "Content-Length: 99999999999999999999\r\n\r\nok", ok + "Content-Length: 0\r\n\r\n", ok + "Content-Length : 2\r\n\r\nok", ok + " Content-Length: 2\r\n\r\nok",
		ok + "Content-Length: 2\r\nConnection: close\r\n\r\nok", ok + "Content-Length: 2\r\nConnection: Keep-Alive, Close\r\n\r\nok",
		ok + "Transfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x=y\r\nk\r\n0\r\n\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n1\r\no\r\n0\r\nX: y\r\n\r\n",
		ok + "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n", ok + "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n0\r\n\nok", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\nok\r\n\r\nmore", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nX:\n\r\n\r\n", ok + "Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n0\r\n\r\n",
		ok + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ok + "Transfer-Encoding: identity\r\n\r\nok",
		ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nok", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n",
		ok + "Transfer-Encoding: chunked\r\n\r\nx\r\nok\r\n0\r\n\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n-1\r\nok\r\n0\r\n\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n",
		ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nok\r\n0\r\n\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n2\nok\n0\n\n", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nmore",
		"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nok", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nok",
		"HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\nok" + ok + "\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nraw",
		strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 100) + "\n" + strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 100),
		strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 200) + ok + "Content-Length: 2\r\n\r\nok", "HTTP/1.1 199 Odd\r\n\r\n" + ok + "Content-Length: 0\r\n\r\n",
		ok + zipped, ok + "Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n4\r\nnope\r\n0\r\n\r\n", ok + "Content-Encoding: GZIP\r\nContent-Length: 2\r\n\r\nok",
		ok + "Content-Encoding: gzip\r\nContent-Length: 34\r\n\r\n" + strings.Repeat("0", 34),
		ok + "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", ok + "Content-Encoding: gzip\r\n\r\n" + packed.String()[:packed.Len()-5], ok + zipped + "more",
		ok + "X: " + strings.Repeat("x", fuzzHead) + "\r\n\r\n", ok + strings.Repeat("X: y\r\n", fuzzHead) + "\r\n", ok + "X: " + strings.Repeat("x", 2*maxLinkBuffer-100) + "\r\nContent-Length: 2\r\n\r\nok",
		strings.Repeat("x", 2*fuzzHead), strings.Repeat("x", maxLinkBuffer), ok + "Content-Length: 3000\r\n\r\n" + strings.Repeat("x", 3000), ok + "\r\n" + strings.Repeat("x", 9000),
		ok + "X\r\n\r\n", ok + ": x\r\n\r\n", ok + "X: a\r\n b\r\nContent-Length: 0\r\n\r\n", ok + "X: a\x00b\r\n\r\n", ok + "X y: z\r\n\r\n", ok + "x: é\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", ok + "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ndata:x\r\n0\r\n\r\n", ok + "Keep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n",
		ok + "Connection: close\r\n\r\nok", ok + "Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 301 Moved\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops", "<html>", "\x15\x03\x01\x00\x02\x02\x28",
	}
}

// FuzzAnswers compares the client with a Transport: the same bytes from the server are the same response or the same error, and the
// connection is kept in the same cases.
func FuzzAnswers(f *testing.F) {
	if !canLook {
		f.Skip("direct connections are not supported here")
	}
	log.SetOutput(io.Discard) // a Transport reports what comes after a response
	f.Cleanup(func() { log.SetOutput(os.Stderr) })
	for _, answer := range answers(f) {
		for method := range uint8(3) {
			f.Add([]byte(answer), method, true)
			f.Add([]byte(answer), method, false)
		}
	}
	f.Fuzz(func(t *testing.T, answer []byte, method uint8, closes bool) {
		one := fuzzed{answer, []string{http.MethodGet, http.MethodPost, http.MethodHead}[method%3], errSilent}
		if closes {
			one.end = io.EOF
		}
		one.check(t)
	})
}
