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

	Discord  Kind = "discord"
	Teams    Kind = "teams"
	Telegram Kind = "telegram"
)

// Kinds lists all kinds with their labels.
var Kinds = []struct {
	Kind  Kind
	Title string
}{{JSON, "JSON, for a program of your own"}, {Slack, "Slack"}, {Ntfy, "ntfy"}, {Discord, "Discord"}, {Teams, "Microsoft Teams"}, {Telegram, "Telegram"}}

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
		return Target{}, &engine.FieldError{Field: "notify", Problem: "is not the address of a webhook", Hint: "use https://…, with a prefix such as slack:, ntfy:, discord:, teams:, telegram: or json: if needed"}
	}
	if t.Kind == "" {
		t.Kind = kindOf(u)
	}
	if t.Kind == Ntfy && strings.Trim(u.Path, "/") == "" {
		return Target{}, &engine.FieldError{Field: "notify", Problem: "has no ntfy topic", Hint: "for example https://ntfy.sh/TOPIC"}
	}
	if t.Kind == Telegram && (!strings.HasSuffix(u.Path, "/sendMessage") || u.Query().Get(chatID) == "") {
		return Target{}, &engine.FieldError{Field: "notify", Problem: "has no Telegram chat", Hint: "for example https://api.telegram.org/botTOKEN/sendMessage?chat_id=@CHANNEL"}
	}
	return t, nil
}

// chatID is the parameter of a Telegram address that names the chat.
const chatID = "chat_id"

// kindOf returns the kind that follows from a host.
func kindOf(u *url.URL) Kind {
	host := strings.ToLower(u.Hostname())
	switch {
	case host == "hooks.slack.com":
		return Slack
	case host == "discord.com" || host == "discordapp.com":
		return Discord
	case host == "api.telegram.org":
		return Telegram
	case strings.HasSuffix(host, ".webhook.office.com"), strings.HasSuffix(host, ".logic.azure.com"), strings.HasSuffix(host, ".api.powerplatform.com"):
		return Teams
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
	body, header, address := []byte(nil), http.Header{}, t.URL
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
	case Discord:
		header.Set("Content-Type", "application/json")
		body, err = encoded(map[string]any{"content": "**" + m.headline() + "**\n" + m.Text, "allowed_mentions": map[string]any{"parse": []string{}}})
	case Teams:
		header.Set("Content-Type", "application/json")
		body, err = encoded(card(m))
	case Telegram:
		header.Set("Content-Type", "application/json")
		var chat string
		if address, chat, err = splitChat(t.URL); err == nil {
			body, err = encoded(map[string]string{chatID: chat, "text": m.headline() + "\n" + m.Text})
		}
	default:
		header.Set("Content-Type", "application/json")
		body, err = encoded(m)
	}
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(body)) //nolint:noctx // once adds the context
	if err != nil {
		return nil, err
	}
	header.Set("User-Agent", "Throng")
	r.Header = header
	return r, nil
}

// splitChat takes the chat out of a Telegram address: the API expects it in the body.
func splitChat(address string) (without, chat string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", err
	}
	q := u.Query()
	chat = q.Get(chatID)
	q.Del(chatID)
	u.RawQuery = q.Encode()
	return u.String(), chat, nil
}

// card is a message for the Teams workflow "When a Teams webhook request is received".
func card(m *Message) any {
	type block struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Weight string `json:"weight,omitempty"`
		Wrap   bool   `json:"wrap"`
	}
	return map[string]any{"type": "message", "attachments": []any{map[string]any{
		"contentType": "application/vnd.microsoft.card.adaptive",
		"content": map[string]any{
			"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
			"body": []block{{"TextBlock", m.headline(), "Bolder", true}, {"TextBlock", m.Text, "", true}},
		},
	}}}
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
