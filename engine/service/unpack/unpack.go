// Package unpack decompresses the responses to requests that set Accept-Encoding themselves.
package unpack

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// maxCodings is how many times a body may be compressed, and maxWindow the most memory that decompressing zstd may take, in bytes.
const (
	maxCodings = 5
	maxWindow  = 8 << 20
)

// Body replaces the body of a response by the decompressed one, if the request has set Accept-Encoding itself: otherwise the
// client has decompressed it already. An unknown coding is an error.
func Body(r *http.Request, resp *http.Response) error {
	coding := resp.Header.Get("Content-Encoding")
	if coding == "" || r.Header["Accept-Encoding"] == nil || r.Method == http.MethodHead || resp.ContentLength == 0 {
		return nil
	}
	codings := strings.Split(strings.ToLower(coding), ",")
	if len(codings) > maxCodings {
		return fmt.Errorf("the answer is compressed more than %d times", maxCodings)
	}
	body := &unpacked{packed: resp.Body, from: resp.Body}
	for _, name := range slices.Backward(codings) {
		name = strings.TrimSpace(name)
		open, known := readers[name]
		if !known {
			return fmt.Errorf("the answer is compressed with %q, which Throng cannot read: ask for gzip, deflate, br or zstd in Accept-Encoding, or leave the header out", name)
		}
		if open != nil {
			body.open = append(body.open, open)
		}
	}
	if len(body.open) == 0 {
		return nil
	}
	resp.Body = body
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
	return nil
}

// readers open the decompressor of a coding; nil is for none.
var readers = map[string]func(r io.Reader) (io.Reader, error){
	"gzip": openGzip, "x-gzip": openGzip, "deflate": openDeflate, "br": openBrotli, "zstd": openZstd, "identity": nil,
}

func openGzip(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }

func openBrotli(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }

// openDeflate reads zlib, as the standard says, or raw deflate, as some servers send.
func openDeflate(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	head, err := in.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		return zlib.NewReader(in)
	}
	return flate.NewReader(in), nil
}

func openZstd(r io.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// unpacked is a decompressed body. Its decompressors are opened at the first read.
type unpacked struct {
	packed io.ReadCloser
	from   io.Reader
	open   []func(io.Reader) (io.Reader, error)
	opened []io.Closer
}

// Read implements [io.Reader].
func (u *unpacked) Read(p []byte) (int, error) {
	for len(u.open) > 0 {
		r, err := u.open[0](u.from)
		if err != nil {
			return 0, err
		}
		if c, ok := r.(io.Closer); ok {
			u.opened = append(u.opened, c)
		}
		u.from, u.open = r, u.open[1:]
	}
	return u.from.Read(p)
}

// Close implements [io.Closer].
func (u *unpacked) Close() error {
	for _, c := range u.opened {
		_ = c.Close()
	}
	return u.packed.Close()
}
