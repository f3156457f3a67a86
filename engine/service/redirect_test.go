package service

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/spans"
)

// moved is a redirect that keeps method and body.
func moved(to string) reply {
	return reply{status: http.StatusTemporaryRedirect, header: map[string]string{"Location": to}}
}

// TestARedirectedRequestIsVerified checks that a changing request that follows a redirect is not sent again before its service was asked.
func TestARedirectedRequestIsVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := &script{answers: []reply{moved("/base/final"), {err: errReset}, ok200("done")}}
		h := client(t, fake, Limits{})
		var asked InDoubt
		row := stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			c.Verify = &Verify{
				Ask: func(in InDoubt) (Request, error) {
					asked = in
					return Request{Method: "GET", Target: must(t, "/x")}, nil
				},
				Judge: func(a *Answer) (*Answer, bool, error) { return a, true, nil },
			}
			_, err := h.Follow(c, Request{Method: "POST", Target: must(t, "/first"), Body: []byte("body")})
			end(s, c, err)
		})
		var sent string
		for _, r := range fake.requests() {
			sent += r.method + " "
		}
		if sent != "POST POST GET " || row.Class != engine.NoError {
			t.Errorf("sent %s: %s", sent, row.Error)
		}
		if key := fake.requests()[1].header.Get("Idempotency-Key"); asked != (InDoubt{key, "step~2", "POST", "/base/final"}) {
			t.Errorf("asked about %+v, its key is %s", asked, key)
		}
	})
}

// TestRedirectsToOddPaths checks redirects to paths that a scenario could not write.
func TestRedirectsToOddPaths(t *testing.T) {
	for location, want := range map[string]string{
		"http://shop.example//a//b?c=1": "http://shop.example//a//b?c=1", "/base//x": "http://shop.example/base//x", "http://shop.example": "http://shop.example/",
	} {
		fake := &script{answers: []reply{moved(location), ok200("")}}
		h := client(t, fake, Limits{})
		row := stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			_, err := h.Follow(c, Request{Method: "GET", Target: must(t, "/")})
			end(s, c, err)
		})
		if all := fake.requests(); len(all) != 2 || all[1].url != want || row.Class != engine.NoError {
			t.Errorf("to %s: %d requests, the last %s: %s", location, len(all), fmt.Sprint(all[len(all)-1].url), row.Error)
		}
	}
}

// TestEachRedirectedRequestIsAnnounced checks that no request has the traceparent of another one, unless the scenario sets it.
func TestEachRedirectedRequestIsAnnounced(t *testing.T) {
	for _, own := range []bool{false, true} {
		fake := &script{answers: []reply{moved("/base/2"), moved("/base/3"), ok200("")}}
		h := client(t, fake, Limits{})
		h.Trace(spans.Options{Propagate: true})
		header := http.Header{}
		if own {
			header.Set("Traceparent", "own")
		}
		stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			_, err := h.Follow(c, Request{Method: "GET", Target: must(t, "/"), Header: header})
			end(s, c, err)
		})
		seen := map[string]int{}
		for _, r := range fake.requests() {
			seen[r.header.Get("Traceparent")]++
		}
		if own && seen["own"] != 3 || !own && (len(seen) != 3 || seen[""] > 0) {
			t.Errorf("traceparents %v", seen)
		}
	}
}
