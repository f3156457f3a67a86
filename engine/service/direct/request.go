package direct

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxDirect is the largest body, in bytes, that is written before the response is read: socket buffers hold that much.
const maxDirect = 16 << 10

// canSend reports whether the client supports a request: it is short, has no headers that a Transport writes, reads or rejects, and may
// be sent again on another connection if the server closed the first one.
func canSend(r *http.Request) bool {
	hasBody := r.Body != nil && r.Body != http.NoBody
	switch {
	case r.ContentLength > maxDirect, r.ContentLength > 0 != hasBody, r.Host == "":
		return false
	case r.Method != http.MethodGet && r.Header["Idempotency-Key"] == nil:
		return false
	}
	for name, values := range r.Header {
		switch name {
		case "Connection", "Content-Length", "Expect", "Host", "Trailer", "Transfer-Encoding", "Upgrade", "":
			return false
		case "User-Agent":
			if len(values) != 1 || values[0] == "" {
				return false
			}
		}
		if strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == ':' }) {
			return false
		}
		for _, v := range values {
			if strings.ContainsFunc(v, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
				return false
			}
		}
	}
	return true
}

// appendRequest appends a request as a Transport writes it, except for the position of Accept-Encoding.
func appendRequest(b []byte, r *http.Request) ([]byte, error) {
	b = append(append(b, r.Method...), ' ')
	b = append(append(b, r.URL.RequestURI()...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, r.Host...), "\r\n"...)
	if _, ok := r.Header["User-Agent"]; !ok {
		b = append(b, "User-Agent: Go-http-client/1.1\r\n"...)
	}
	if r.ContentLength > 0 || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), r.ContentLength, 10), "\r\n"...)
	}
	names := make([]string, 0, 16)
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range r.Header[name] {
			b = append(append(append(b, name...), ": "...), strings.Trim(v, " \t")...)
			b = append(b, "\r\n"...)
		}
	}
	if acceptsGzip(r) {
		b = append(b, "Accept-Encoding: gzip\r\n"...)
	}
	b = append(b, "\r\n"...)
	if r.ContentLength == 0 {
		return b, nil
	}
	body := slices.Grow(b, int(r.ContentLength))
	body = body[:len(b)+int(r.ContentLength)]
	_, err := io.ReadFull(r.Body, body[len(b):])
	return body, errors.Join(err, r.Body.Close())
}

// acceptsGzip reports whether the response may be compressed without the request's asking for it.
func acceptsGzip(r *http.Request) bool {
	return r.Header["Accept-Encoding"] == nil && r.Header["Range"] == nil && r.Method != http.MethodHead
}
