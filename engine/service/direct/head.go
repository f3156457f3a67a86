package direct

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"strings"
)

// readHead reads the head of a response as [http.ReadResponse] does. Most heads have arrived as a whole and have nothing unusual, and are
// read here with half the allocations. All others are left to it, from their first byte.
func readHead(in *bufio.Reader, r *http.Request) (*http.Response, error) {
	here, _ := in.Peek(in.Buffered()) // cannot fail
	if end := bytes.Index(here, []byte("\r\n\r\n")); end >= 0 && r.Method != http.MethodHead {
		if resp, ok := usual(string(here[:end+2]), in); ok {
			_, _ = in.Discard(end + 4) // cannot fail
			resp.Request = r
			return resp, nil
		}
	}
	return http.ReadResponse(in, r)
}

// statusStart is how the usual head starts.
const statusStart = "HTTP/1.1 "

// usual parses a head without its last line: that of a response of HTTP/1.1 with a body of known length. ok is false for others.
func usual(head string, in *bufio.Reader) (resp *http.Response, ok bool) {
	lines := strings.Count(head, "\n")
	status, rest, _ := strings.Cut(head, "\r\n")
	if status, ok = strings.CutPrefix(status, statusStart); !ok || !isStatus(status) {
		return nil, false
	}
	code := int(status[0]-'0')*100 + int(status[1]-'0')*10 + int(status[2]-'0')
	if code < http.StatusOK || code == http.StatusNoContent || code == http.StatusNotModified {
		return nil, false
	}
	length := int64(-1)
	header, values := make(http.Header, lines), make([]string, lines)
	for i := 0; rest != ""; i++ {
		var line string
		line, rest, _ = strings.Cut(rest, "\r\n")
		name, value, found := strings.Cut(line, ":")
		if !found || name == "" || !allOf(name, &inNames) || !allOf(value, &inValues) {
			return nil, false
		}
		name, value = textproto.CanonicalMIMEHeaderKey(name), strings.Trim(value, " \t")
		switch name {
		case "Content-Length":
			if length >= 0 {
				return nil, false
			}
			if length = shortLength(value); length < 0 {
				return nil, false
			}
		case "Connection":
			if !strings.EqualFold(value, "keep-alive") {
				return nil, false
			}
		case "Transfer-Encoding", "Trailer", "Pragma":
			return nil, false
		}
		if more := header[name]; more != nil {
			header[name] = append(more, value)
			continue
		}
		values[i] = value
		header[name] = values[i : i+1 : i+1]
	}
	if length < 0 {
		return nil, false
	}
	return &http.Response{
		Status: status, StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, ContentLength: length,
		Body: &sized{in: in, left: length},
	}, true
}

// isStatus reports whether a text is a code of three digits, a space and a text.
func isStatus(text string) bool {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	return len(text) > 4 && digit(text[0]) && digit(text[1]) && digit(text[2]) && text[3] == ' ' && text[4] != ' ' && allOf(text, &inValues)
}

// shortLength returns the number that a few digits are; -1 for other texts.
func shortLength(text string) (n int64) {
	if text == "" || len(text) > 15 {
		return -1
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return -1
		}
		n = 10*n + int64(text[i]-'0')
	}
	return n
}

// inNames and inValues are the bytes of the usual names and values of headers.
var (
	inNames  = bytesOf("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
	inValues = func() [256]bool {
		all := bytesOf("\t")
		for c := ' '; c <= '~'; c++ {
			all[c] = true
		}
		return all
	}()
)

func bytesOf(text string) (all [256]bool) {
	for i := range len(text) {
		all[text[i]] = true
	}
	return all
}

// allOf reports whether a text consists of some bytes.
func allOf(text string, of *[256]bool) bool {
	for i := range len(text) {
		if !of[text[i]] {
			return false
		}
	}
	return true
}

// sized is a body of known length. Its errors are those of a body of net/http.
type sized struct {
	in   *bufio.Reader
	left int64
}

// Read implements [io.Reader].
func (b *sized) Read(p []byte) (n int, err error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err = b.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF) && b.left > 0:
		err = io.ErrUnexpectedEOF
	case err == nil && n > 0 && b.left == 0:
		err = io.EOF
	}
	return n, err
}

// Close implements [io.Closer].
func (b *sized) Close() error { return nil }
