package service

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/throng-sim/throng/engine"
)

// TestOtherRequestsHoldNoMemory checks that no memory is held for the large answers of logins and of other requests that a step needed,
// which no step settles.
func TestOtherRequestsHoldNoMemory(t *testing.T) {
	large := ok200(strings.Repeat("x", 2*roomFree))
	get := func() (Request, error) { return Request{Method: "GET", Target: must(t, "/x")}, nil }
	for name, of := range map[string]struct {
		path    string // of the other request
		answers []reply
		change  func(*Call, *HTTP)
	}{
		"redirect": {"step~2", []reply{moved("/base/next"), large}, func(*Call, *HTTP) {}},
		"verify": {"step.verify", []reply{{err: errReset}, large}, func(c *Call, _ *HTTP) {
			c.Verify = &Verify{
				Ask:   func(InDoubt) (Request, error) { return get() },
				Judge: func(*Answer) (*Answer, bool, error) { return &Answer{Status: 200, Header: http.Header{}}, true, nil },
			}
		}},
		"login": {"step.login", []reply{large, ok200("in")}, func(c *Call, h *HTTP) {
			r, err := get()
			if err != nil {
				t.Fatal(err)
			}
			c.Auth = &Auth{Tokens: &Tokens{}, Issuer: &Login{Client: h, Request: r}, Header: "Authorization"}
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			fake := &script{answers: of.answers}
			h := client(t, fake, Limits{})
			row := stage{}.play(t, func(s *engine.Session) {
				c := callOf(s, "step")
				of.change(c, h)
				_, err := h.Follow(c, Request{Method: "POST", Target: must(t, "/"), Body: []byte("body")})
				if missing := s.SettleMemory(of.path, roomFree); !s.HoldsMemory() || missing < roomFree {
					t.Errorf("%s: %s holds memory, or never held any", name, of.path)
				}
				end(s, c, err)
			})
			if n := len(fake.requests()); n != len(of.answers) {
				t.Errorf("%s: %d requests: %s", name, n, row.Error)
			}
		})
	}
}
