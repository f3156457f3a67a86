package redact

import (
	"bytes"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/throng-sim/throng/engine/internal/charset"
)

const decodedSecret = `canary "key"/4711`

// response is the response of a service.
type response struct {
	Body   []byte
	Header http.Header
}

// everyUnit writes each character as \uXXXX, and everyByte each byte as %XX.
func everyUnit(text string) (all string) {
	for _, u := range utf16.Encode([]rune(text)) {
		all += fmt.Sprintf(`\u%04X`, u)
	}
	return all
}

func everyByte(text string) (all string) {
	for _, b := range []byte(text) {
		all += fmt.Sprintf("%%%02x", b)
	}
	return all
}

// TestSecretsAreTakenOutOfEncodedAnswers uses a service that repeats a secret in ways that only decoding reveals.
func TestSecretsAreTakenOutOfEncodedAnswers(t *testing.T) {
	for name, sent := range map[string]string{
		"all escaped":       `{"sent": "` + everyUnit(decodedSecret) + `", "rest": "stays \u00e4"}`,
		"some escaped":      `{"sent": "c\u0061nary \"k\u0065y\"\/4711", "rest": "stays"}`,
		"percent":           "sent=" + everyByte(decodedSecret) + "&rest=stays",
		"some percent":      "sent=can%61ry \"key\"%2f4711&rest=stays",
		"utf-16le":          string(inUTF16("sent: "+decodedSecret+", rest stays", 0)),
		"utf-16be":          string(inUTF16("\ufeffsent: "+decodedSecret+", rest stays", 1)),
		"JSON in UTF-16":    string(inUTF16(`{"sent": "`+everyUnit(decodedSecret)+`", "rest": "stays"}`, 0)),
		"%XX in \\u":        `{"sent": "` + everyUnit(everyByte(decodedSecret)) + `", "rest": "stays"}`,
		"\\u in JSON":       `{"sent": "{\"k\": \"` + strings.ReplaceAll(everyUnit(decodedSecret), `\`, `\u005c`) + `\"}", "rest": "stays"}`,
		"%XX twice":         "sent=" + strings.ReplaceAll(everyByte(decodedSecret), "%", "%25") + "&rest=stays",
		"HTML":              "<p>sent canary &#34;key&quot;/4711, rest stays</p>",
		"HTML in hex":       "<p>sent &#x63;an&#97;ry &#34;key&quot;/47&#49;1, rest stays &amp; &nothing; &</p>",
		"in parts":          "sent can\x1b(Bary \"key\"/4711, rest stays",
		"next to a garbled": `\u12 \ud83d\u0061% %zz stays ` + everyByte(decodedSecret),
	} {
		t.Run(name, func(t *testing.T) {
			a := &response{Body: []byte(sent), Header: http.Header{"X-Sent": {everyByte(decodedSecret) + " stays"}}}
			switch name {
			case "in parts": // ISO-2022-JP can switch characters anywhere, invisibly
				a.Header.Set("Content-Type", "text/plain; charset=iso-2022-jp")
			case "JSON in UTF-16":
				a.Header.Set("Content-Type", "application/json; charset=utf-16le")
			}
			a.Body = Response(a.Body, a.Header, Spellings(decodedSecret))
			for form, text := range map[string]string{
				"as it is": string(a.Body), "without NUL": strings.ReplaceAll(string(a.Body), "\x00", ""),
				"unescaped": string(decoded(a.Body, unescapeJSON)), "unquoted": string(decoded(a.Body, unescapePercent)),
				"as the answer says": string(charset.UTF8(a.Body, a.Header.Get("Content-Type"))),
				"both":               string(decoded(decoded(a.Body, unescapeJSON), unescapePercent)), "HTML": string(decoded(a.Body, unescapeHTML)),
				"twice":  string(decoded(decoded(a.Body, unescapePercent), unescapePercent)),
				"nested": string(decoded(decoded(charset.UTF8(a.Body, a.Header.Get("Content-Type")), unescapeJSON), unescapeJSON)),
				"header": string(decoded([]byte(a.Header.Get("X-Sent")), unescapePercent)),
			} {
				if strings.Contains(text, decodedSecret) || strings.Contains(text, "4711") {
					t.Errorf("%s: the secret is in %q", form, text)
				}
			}
			if !strings.Contains(strings.ReplaceAll(string(a.Body), "\x00", ""), "stays") || a.Header.Get("X-Sent") != "… stays" {
				t.Errorf("more than the secret was removed: %q %v", a.Body, a.Header)
			}
		})
	}
}

func decoded(text []byte, decode decoder) []byte { return decode.all(text) }

// TestLongAnswersTakeLittleMemory uses answers in which every character is escaped, once or twice.
func TestLongAnswersTakeLittleMemory(t *testing.T) {
	for _, piece := range []string{"%25", `\u0025`, "&amp;%25", "1% of it"} {
		body := bytes.Repeat([]byte(piece), 4<<20/len(piece))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Response(body, http.Header{}, Spellings(decodedSecret))
		runtime.ReadMemStats(&after)
		if times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(body)); times > 8 {
			t.Errorf("an answer of %q takes %.1f times its length", piece, times)
		}
	}
}

// TestNothingButSecretsIsTakenOut uses an escaped answer without a secret.
func TestNothingButSecretsIsTakenOut(t *testing.T) {
	sent := []byte(`{"a": "\u00e4\ud83d\ude00 100% %41 \" \\ "}`)
	a := &response{Body: bytes.Clone(sent), Header: http.Header{}}
	a.Body = Response(a.Body, a.Header, Spellings(decodedSecret))
	if !bytes.Equal(a.Body, sent) {
		t.Errorf("got %s, want %s", a.Body, sent)
	}
}
