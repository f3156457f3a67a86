package chain

import (
	"net/http"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/chain/answer"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// TestEncodings checks how answers that are not plain UTF-8 are decoded, such as JSON with a byte order mark or text
// declared as ISO-8859-1.
func TestEncodings(t *testing.T) {
	for _, c := range []struct{ kind, body, want string }{
		{"application/json", "\xef\xbb\xbf{\"n\":\"café\"}", `{"n":"café"}`},
		{"application/json; charset=ISO-8859-1", "{\"n\":\"caf\xe9 \x80\"}", `{"n":"café €"}`},
		{"application/json; charset=utf-8", `{"n":"café"}`, `{"n":"café"}`},
		{"text/plain; charset=windows-1252", "\x93caf\xe9\x94", `"“café”"`},
		{"text/plain; charset=koi8-r", "\xcb\xc1\xc6\xc5", `"кафе"`},
		{"text/plain; charset=Shift_JIS", "\x83J\x83t\x83F", `"カフェ"`},
		{"text/plain; charset=UTF-16LE", "\xff\xfec\x00a\x00f\x00\xe9\x00", `"café"`},
		{"text/plain; charset=x-unknown", "caf\xe9", `"caf` + "\uFFFD" + `"`},
		{"text/plain; charset=utf-8", "caf\xe9", `"caf` + "\uFFFD" + `"`},
		{"text/plain", "caf\xe9", `"caf` + "\uFFFD" + `"`},
		{"text/plain", "\xef\xbb\xbfcafé", `"café"`},
		{"", "café", `"café"`},
		{"text/plain; charset", "café", `"café"`},
	} {
		v, err := answer.Read(&service.Answer{Status: 200, Header: http.Header{"Content-Type": {c.kind}}, Body: []byte(c.body)}, false)
		if err != nil {
			t.Errorf("%s %q: %v", c.kind, c.body, err)
			continue
		}
		got, err := value.AppendJSON(nil, v)
		if err != nil || !strings.Contains(string(got), `"body":`+c.want) {
			t.Errorf("%s %q: %s, %v, want %s", c.kind, c.body, got, err, c.want)
		}
	}
}
