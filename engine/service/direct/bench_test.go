package direct

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkRequest measures a short request and its response by the client and by a Transport, the server included.
func BenchmarkRequest(b *testing.B) {
	answer := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n" + strings.Repeat("x", 900)
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		server := rawServerOf(b, secure, nil, func(conn net.Conn) {
			in := bufio.NewReader(conn)
			for {
				line, err := in.ReadSlice('\n')
				if err != nil {
					return
				}
				if len(line) > len("\r\n") {
					continue
				}
				if _, err := io.WriteString(conn, answer); err != nil {
					return
				}
			}
		})
		whole := transport()
		defer whole.CloseIdleConnections()
		if secure {
			whole.TLSClientConfig = server.shop.trust()
		}
		for by, rt := range map[string]http.RoundTripper{"client": server.client(b), "Transport": whole} {
			b.Run(name+"/"+by, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					resp, err := rt.RoundTrip(asksAt(b.Context(), b, server.address, "GET", ""))
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, resp.Body); err != nil {
						b.Fatal(err)
					}
					_ = resp.Body.Close()
				}
			})
		}
	}
}
