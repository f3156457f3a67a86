package service

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/openai"
	"github.com/throng-sim/throng/engine/service/redact"
)

// TestEverySpellingIsBlackedOut removes a secret of any characters from an answer, however it is escaped and wherever it is in a
// longer text.
func TestEverySpellingIsBlackedOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[ -~äß€]{8,40}`).Draw(t, "secret")
		before, after := rapid.StringMatching(`[a-z]{0,5}:`).Draw(t, "before"), rapid.StringMatching(`[a-z]{0,4}`).Draw(t, "after")
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		whole := before + secret + after
		issued := rapid.Bool().Draw(t, "issued") // by a login
		for name, text := range map[string]string{
			"as it is": secret, "JSON": string(quoted[1 : len(quoted)-1]), "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
			"hex":       fmt.Sprintf("%x", secret),
			"HEX":       fmt.Sprintf("%X", secret),
			"base64":    base64.StdEncoding.EncodeToString([]byte(whole)),
			"base64url": base64.RawURLEncoding.EncodeToString([]byte(whole)),
		} {
			c := &Call{Secrets: redact.Spellings(secret)}
			if issued {
				c = &Call{credentials: credentials{token: &token{value: secret}}}
			}
			a := &Answer{Body: []byte("you sent " + text + "."), Header: http.Header{"X-You": {text}}}
			c.display().redact(a)
			if got := string(a.Body); strings.Contains(got, text) || !strings.Contains(got, redact.Mark) {
				t.Errorf("%s: %q of %q", name, got, secret)
			}
			if got := a.Header.Get("X-You"); !strings.Contains(got, redact.Mark) {
				t.Errorf("%s: header %q", name, got)
			}
			// At most two bytes at either end remain of base64: those that share a character with others.
			left := strings.ReplaceAll(string(a.Body), redact.Mark, "")
			if len(left) > len("you sent .")+4*(len(before)+len(after))/3+12 {
				t.Errorf("%s: %q is left of %q", name, left, secret)
			}
		}
	})
}

// TestSecretsAreBlackedOutAcrossPieces checks that a secret is found although it is spread over several events.
func TestSecretsAreBlackedOutAcrossPieces(t *testing.T) {
	const secret = "sk-key-4711-0815"
	var body strings.Builder
	for i, piece := range []string{"your key is ", "sk-key", "-4711-", "0815, and sk-key-", "4711-0815 again", ""} {
		fmt.Fprintf(&body, "data: {\"id\":\"%d\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q}}]}\n\n", i, piece)
	}
	body.WriteString("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	a := &Answer{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: []byte(body.String())}
	(&Call{Secrets: redact.Spellings(secret)}).display().redact(a)
	got, err := llm.ReadStream(openai.API{}.Stream(false), a.Body)
	if err != nil || got.Text != "your key is …, and … again" {
		t.Errorf("%v, %+v", err, got)
	}
	for _, part := range []string{"sk-key", "4711", "0815"} {
		if strings.Contains(string(a.Body), part) {
			t.Errorf("%q is left in\n%s", part, a.Body)
		}
	}
	if !strings.Contains(string(a.Body), `"role":"assistant"`) || !strings.Contains(string(a.Body), `"id":"3"`) {
		t.Errorf("other text is missing:\n%s", a.Body)
	}
	clean := []byte("data: {\"choices\":[{\"delta\":{\"content\":\"hello\"}}]}\n\n")
	a.Body = clean
	if (&Call{Secrets: redact.Spellings(secret)}).display().redact(a); !bytes.Equal(a.Body, clean) {
		t.Errorf("changed to %s", a.Body)
	}
}

func TestShortSecretsHaveOneForm(t *testing.T) {
	if got := redact.Spellings("1234567"); len(got) != 1 || got[0] != "1234567" {
		t.Errorf("got %q", got)
	}
	if got := len(redact.Spellings("plain-token.1")); got > 10 {
		t.Errorf("%d forms of a token without special characters", got)
	}
	c := &Call{Secrets: redact.Spellings("1234567")}
	if got := c.display().forDisplay("no 1234567"); got != "no …" {
		t.Errorf("got %s", got)
	}
	c = &Call{Secrets: redact.Spellings(`a/ "b"`)}
	if got := c.display().forDisplay(`GET /a%2F%20%22b%22?k=a%2F+%22b%22 {"k": "a/ \"b\""}`); got != `GET /…?k=… {"k": "…"}` {
		t.Errorf("a request is shown as %s", got)
	}
}

// TestMalformedAnswersSayNoSecrets uses a server whose responses are not HTTP and repeat the request, which Go's client quotes in
// its error.
func TestMalformedAnswersSayNoSecrets(t *testing.T) {
	for _, private := range []bool{false, true} {
		for _, text := range []string{
			"HTTP/1.1 hunter2-long OK\r\n\r\n", "hunter2-long\r\n\r\n", "HTTP/1.1 200 OK\r\nhunter2-long\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: hunter2-long\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: hunter2-long\r\n\r\n",
			"HTTP/1.1 200 OK\r\nX-" + hex.EncodeToString([]byte("hunter2-long")) + "\r\n\r\n",
		} {
			h, err := NewHTTP("door", raw(t, text), Limits{NoBreaker: true}, false)
			if err != nil {
				t.Fatal(err)
			}
			st := stage{journal: &enginetest.Journal{}}
			row := st.play(t, func(s *engine.Session) {
				c := callOf(s, "a")
				if c.Private = private; !private {
					c.Secrets = redact.Spellings("hunter2-long")
				}
				c.Retry.Attempts = 1
				_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/x")})
				end(s, c, err)
			})
			h.Close()
			kept := row.Error
			for _, a := range enginetest.Of[engine.AnswerRow](st.journal) {
				kept += a.Error + string(a.Output)
			}
			if row.Error == "" || strings.Contains(kept, "hunter2") || strings.Contains(kept, "68756e74657232") {
				t.Errorf("of %q: %s", text, kept)
			}
		}
	}
}

// raw returns the address of a server that answers every connection with a text and closes it.
func raw(t *testing.T, text string) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = io.WriteString(conn, text)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return "http://" + l.Addr().String()
}
