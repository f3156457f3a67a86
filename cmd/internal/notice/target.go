package notice

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Kind is how a service wants to be told.
type Kind string

// The kinds.
const (
	JSON  Kind = "json"
	Slack Kind = "slack"
	Ntfy  Kind = "ntfy"
)

// Kinds are all of them, with what they are called.
var Kinds = []struct {
	Kind  Kind
	Title string
}{{JSON, "JSON, for a program of your own"}, {Slack, "Slack"}, {Ntfy, "ntfy"}}

// Target is where notices go. The zero value is nowhere. Its address is a secret: who has it can write there.
type Target struct {
	Kind Kind
	URL  string
}

// ParseTarget reads an address, with its kind in front where the host does not say it: slack:https://… Its errors are a
// *engine.FieldError, without the address.
func ParseTarget(text string) (Target, error) {
	var t Target
	t.URL = strings.TrimSpace(text)
	for _, k := range Kinds {
		if rest, ok := strings.CutPrefix(t.URL, string(k.Kind)+":"); ok {
			t.Kind, t.URL = k.Kind, rest
		}
	}
	u, err := url.Parse(t.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return Target{}, &engine.FieldError{Field: "notify", Problem: "is not the address of a web hook", Hint: "https://…; in front of it may stand json:, slack: or ntfy:"}
	}
	if t.Kind == "" {
		t.Kind = kindOf(u)
	}
	if t.Kind == Ntfy && strings.Trim(u.Path, "/") == "" {
		return Target{}, &engine.FieldError{Field: "notify", Problem: "names no topic of ntfy", Hint: "https://ntfy.sh/ and the topic"}
	}
	return t, nil
}

// kindOf is the kind that an address means where nobody says one.
func kindOf(u *url.URL) Kind {
	host := strings.ToLower(u.Hostname())
	switch {
	case host == "hooks.slack.com":
		return Slack
	case slices.Contains(strings.Split(host, "."), "ntfy"):
		return Ntfy
	}
	return JSON
}

// Host is where the notices go, for people; the rest of the address is nobody's business.
func (t Target) Host() string {
	u, err := url.Parse(t.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// request is a notice as its kind of service wants it. Credentials of the address go into a header.
func (t Target) request(m *Message) (*http.Request, error) {
	body, header := []byte(nil), http.Header{}
	var err error
	switch t.Kind {
	case Ntfy:
		body = []byte(m.Text)
		header.Set("Content-Type", "text/plain; charset=utf-8")
		header.Set("Title", mime.QEncoding.Encode("utf-8", m.headline()))
		header.Set("Priority", priorities[m.urgent])
		header.Set("Tags", tags[m.urgent])
	case Slack:
		header.Set("Content-Type", "application/json")
		body, err = encoded(map[string]string{"text": "*" + escaped.Replace(m.headline()) + "*\n" + escaped.Replace(m.Text)})
	default:
		header.Set("Content-Type", "application/json")
		body, err = encoded(m)
	}
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, t.URL, bytes.NewReader(body)) //nolint:noctx // the sender adds it
	if err != nil {
		return nil, err
	}
	header.Set("User-Agent", "Throng")
	r.Header = header
	return r, nil
}

func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// escaped are the three characters that mean something to Slack.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

var (
	priorities = map[bool]string{false: "default", true: "high"}
	tags       = map[bool]string{false: "checkered_flag", true: "warning"}
)
