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

// Kind is the format of a notification.
type Kind string

// The kinds.
const (
	JSON  Kind = "json"
	Slack Kind = "slack"
	Ntfy  Kind = "ntfy"
)

// Kinds lists all kinds with their labels.
var Kinds = []struct {
	Kind  Kind
	Title string
}{{JSON, "JSON, for a program of your own"}, {Slack, "Slack"}, {Ntfy, "ntfy"}}

// Target is the destination of notifications. The zero value means none. Its address is a secret: anyone who has it can post
// there.
type Target struct {
	Kind Kind
	URL  string
}

// ParseTarget parses an address. A prefix selects a kind that does not follow from the host: slack:https://… Its errors are
// *engine.FieldError values without the address.
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
		return Target{}, &engine.FieldError{Field: "notify", Problem: "is not the address of a webhook", Hint: "use https://…, with the prefix json:, slack: or ntfy: if needed"}
	}
	if t.Kind == "" {
		t.Kind = kindOf(u)
	}
	if t.Kind == Ntfy && strings.Trim(u.Path, "/") == "" {
		return Target{}, &engine.FieldError{Field: "notify", Problem: "has no ntfy topic", Hint: "for example https://ntfy.sh/TOPIC"}
	}
	return t, nil
}

// kindOf returns the kind that follows from a host.
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

// Host returns the host of the address, which may be shown. The rest of the address is secret.
func (t Target) Host() string {
	u, err := url.Parse(t.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// request returns the HTTP request for a message. Credentials in the address go into a header.
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
	r, err := http.NewRequest(http.MethodPost, t.URL, bytes.NewReader(body)) //nolint:noctx // once adds the context
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

// escaped escapes the three special characters of Slack.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

var (
	priorities = map[bool]string{false: "default", true: "high"}
	tags       = map[bool]string{false: "checkered_flag", true: "warning"}
)
