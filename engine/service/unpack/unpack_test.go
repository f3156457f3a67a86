package unpack

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

const plain = "a body that is compressed, compressed, compressed"

// packed returns the body in a coding.
func packed(t *testing.T, coding, text string) string {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	case "raw":
		w, err = flate.NewWriter(&out, 5)
	case "br":
		w = brotli.NewWriter(&out)
	case "zstd":
		w, err = zstd.NewWriter(&out)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestBody checks every coding, alone and combined.
func TestBody(t *testing.T) {
	for _, tt := range []struct{ name, coding, body, want, problem string }{
		{"gzip", "gzip", packed(t, "gzip", plain), plain, ""},
		{"deflate", "Deflate", packed(t, "deflate", plain), plain, ""},
		{"raw deflate", "deflate", packed(t, "raw", plain), plain, ""},
		{"brotli", "br", packed(t, "br", plain), plain, ""},
		{"zstd", "zstd", packed(t, "zstd", plain), plain, ""},
		{"two", "gzip, br", packed(t, "br", packed(t, "gzip", plain)), plain, ""},
		{"none", "identity", plain, plain, ""},
		{"unknown", "compress", plain, "", `compressed with "compress"`},
		{"many", strings.Repeat("gzip,", 9), plain, "", "more than 5 times"},
		{"damaged", "gzip", plain, "", "gzip: invalid header"},
		{"cut", "zstd", packed(t, "zstd", plain)[:20], "", "EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp := &http.Response{Header: http.Header{"Content-Encoding": {tt.coding}}, Body: io.NopCloser(strings.NewReader(tt.body)), ContentLength: int64(len(tt.body))}
			err := Body(&http.Request{Method: "GET", Header: http.Header{"Accept-Encoding": {tt.coding}}}, resp)
			var text []byte
			if err == nil {
				text, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			if tt.problem == "" && (err != nil || string(text) != tt.want) || tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem)) {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
}

// TestUnaskedBody checks that a response is left to the client that asked for its coding.
func TestUnaskedBody(t *testing.T) {
	body := io.NopCloser(strings.NewReader(plain))
	resp := &http.Response{Header: http.Header{"Content-Encoding": {"compress"}}, Body: body, ContentLength: 9}
	if err := Body(&http.Request{Header: http.Header{}}, resp); err != nil || resp.Body != body {
		t.Errorf("error %v", err)
	}
}
