package journey

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"github.com/throng-sim/throng/engine/importer/exchange"
)

// longestMarkup limits the answers that are searched as text, in bytes.
const longestMarkup = 1 << 20

// pattern escapes a text for a regular expression. A percent sign would be taken for the place of the path.
func pattern(text string) string { return strings.ReplaceAll(regexp.QuoteMeta(text), "%", `\x25`) }

// markup finds the fields of forms and the meta tags of an HTML page.
func (s *sources) markup(call int, m *exchange.Message) {
	if !strings.Contains(m.Type, "html") && !strings.Contains(m.Body[:min(len(m.Body), 1024)], "<html") {
		return
	}
	z := html.NewTokenizer(strings.NewReader(m.Body))
	seen := make(map[string]bool)
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			switch t.Data {
			case "input", "textarea", "button":
				name, value := attr(t, "name"), attr(t, "value")
				if name != "" && value != "" && !seen[name] { // the first field of a name counts
					s.add(value, source{call: call, origin: fromField, path: ".body", wrap: "form_field(%s, " + percent(quote(name)) + ")", key: name})
				}
				seen[name] = true
			case "meta":
				s.meta(call, m.Body, t)
			}
		default:
		}
	}
}

// percent escapes a text for [importer.From.Wrap].
func percent(text string) string { return strings.ReplaceAll(text, "%", "%%") }

func attr(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// meta adds the content of a meta tag, if a pattern finds it.
func (s *sources) meta(call int, body string, t html.Token) {
	value := attr(t, "content")
	if !s.wanted[value] {
		return
	}
	for _, by := range []string{"name", "property", "id"} {
		name := attr(t, by)
		if name == "" {
			continue
		}
		for _, p := range []string{
			`<meta[^>]*` + by + `=["']` + pattern(name) + `["'][^>]*content=["']([^"']+)`,
			`<meta[^>]*content=["']([^"']+)["'][^>]*` + by + `=["']` + pattern(name) + `["']`,
		} {
			if finds(p, body, value) {
				s.add(value, source{call: call, origin: fromMeta, path: ".body", wrap: "extract(%s, " + quote(p) + ")", key: name})
				return
			}
		}
	}
}

// finds reports whether the first match of a pattern in a text is a value.
func finds(p, text, value string) bool {
	re, err := regexp.Compile(p)
	if err != nil {
		return false
	}
	m := re.FindStringSubmatch(text)
	return len(m) == 2 && m[1] == value
}

// nameBefore matches the name of what follows: a variable, an attribute, a tag.
var nameBefore = regexp.MustCompile(`([\w-]+)["']?\s*[:=>]\s*["']?$`)

// inText finds a value in the text of an answer, as the last resort: it must stand after something that names it.
func inText(call int, m *exchange.Message, value string) (source, bool) {
	const before, most = 40, 5 // bytes; occurrences
	body := m.Body
	if len(body) > longestMarkup || isJSON(m) {
		return source{}, false
	}
	from := 0
	for range most {
		i := strings.Index(body[from:], value)
		if i < 0 {
			return source{}, false
		}
		i += from
		from = i + len(value)
		head := strings.ToValidUTF8(body[max(0, i-before):i], "")
		if cut := strings.LastIndexAny(head, "\n\r{},;"); cut >= 0 {
			head = head[cut+1:]
		}
		class := `([^"'<>&\s,;]+)`
		key := ""
		switch name := nameBefore.FindStringSubmatch(head); {
		case name != nil:
			key, head = name[1], name[0]
		case strings.HasSuffix(head, "/"): // a link
			class = `([^"'<>&\s/?#]+)`
			if cut := strings.LastIndexAny(head, `"'`); cut >= 0 {
				head = head[cut:]
			}
			parts := strings.Split(strings.Trim(head, `/"'`), "/")
			key = parts[len(parts)-1]
		default:
			continue
		}
		if p := pattern(head) + class; finds(p, body, value) {
			return source{call: call, origin: fromText, path: ".body", wrap: "extract(%s, " + quote(p) + ")", key: key}, true
		}
	}
	return source{}, false
}
