package service

import (
	"net/url"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/service/redact"
)

// TestSecretsTakeTheirPlaceWhenARequestLeaves inserts a secret into each part of a request.
func TestSecretsTakeTheirPlaceWhenARequestLeaves(t *testing.T) {
	const value = `a "b"/ä&c=..`
	mark := redact.SecretMark("KEY")
	r := Request{
		Method: "POST", Target: must(t, "/x/"+mark+"?q="+mark), Body: []byte(`{"k": "` + mark + `"}`),
		Kind: BodyJSON, Secrets: redact.Secrets{"KEY": value},
	}
	got, err := r.revealed()
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"k": "a \"b\"/ä\u0026c=.."}`; string(got.Body) != want {
		t.Errorf("body %s, want %s", got.Body, want)
	}
	if want := "/x/" + url.PathEscape(value); got.Target.path != want {
		t.Errorf("path %s, want %s", got.Target.path, want)
	}
	if want := "q=" + url.QueryEscape(value); got.Target.query != want {
		t.Errorf("query %s, want %s", got.Target.query, want)
	}
	other := r
	other.Secrets = redact.Secrets{"KEY": "rotated"}
	if r.hash() != other.hash() {
		t.Error("a new value is another request")
	}
	other.Target = must(t, "/x/"+redact.SecretMark("OTHER")+"?q="+mark)
	if r.hash() == other.hash() {
		t.Error("another secret is the same request")
	}
	if _, err := other.revealed(); err == nil || !strings.Contains(err.Error(), "OTHER") {
		t.Errorf("a secret of another service: %v", err)
	}
	r.Secrets = redact.Secrets{"KEY": ".."}
	if _, err := r.revealed(); err == nil {
		t.Error("a secret of dots climbs")
	}
	if got := redact.Unmarked("a " + mark + " b"); got != "a secret:KEY b" {
		t.Errorf("unmarked %q", got)
	}
}
