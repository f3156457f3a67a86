package draft

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
)

const figure = `[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?`

var (
	numberForm = regexp.MustCompile(`^` + figure + `$`)
	unitForm   = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(%|[a-z]+([0-9]+[a-z]+)*)$`) // 5%, 8h, 1h30m
	rangeForm  = regexp.MustCompile(`^(` + figure + `) to (` + figure + `)((?:,? (?:log|step ` + figure + `|` + figure + ` points))*)$`)
	cycleForm  = regexp.MustCompile(`^(.*\S),? from cycle (\S+)$`)
)

// levels formats the text of a factor's levels for a file.
func levels(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	at := ""
	if m := cycleForm.FindStringSubmatch(text); m != nil {
		text, at = m[1], "at: "+token(m[2])
	}
	m := rangeForm.FindStringSubmatch(text)
	switch {
	case m != nil:
		return "{" + ranged(m[1], m[2], strings.Fields(strings.ReplaceAll(m[3], ",", " ")), at) + "}"
	case at != "":
		return "{levels: " + listed(text) + ", " + at + "}"
	default:
		return listed(text)
	}
}

// ranged formats the fields of a range. how are the words behind its ends.
func ranged(from, to string, how []string, at string) string {
	fields, log := []string{"from: " + from, "to: " + to}, false
	for i, word := range how {
		switch word {
		case "log":
			log = true
		case "step":
			fields = append(fields, "step: "+how[i+1])
		case "points":
			fields = append(fields, "points: "+how[i-1])
		}
	}
	if log {
		fields = append([]string{"log: [" + from + ", " + to + "]"}, fields[2:]...)
	}
	if at != "" {
		fields = append(fields, at)
	}
	return strings.Join(fields, ", ")
}

// listed formats a list.
func listed(text string) string {
	var all []string
	for _, one := range split(text) {
		all = append(all, one.token())
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// part is an item of a list.
type part struct {
	text   string
	quoted bool
}

func (p part) token() string {
	if p.quoted {
		return quote(p.text)
	}
	return token(p.text)
}

// split splits a list at its commas. A final comma, after which nothing is typed yet, adds nothing.
func split(text string) (all []part) {
	for text = strings.TrimSpace(text); text != ""; {
		var one part
		if d := json.NewDecoder(strings.NewReader(text)); strings.HasPrefix(text, `"`) && d.Decode(&one.text) == nil {
			after := strings.TrimSpace(text[d.InputOffset():])
			if rest, more := strings.CutPrefix(after, ","); more || after == "" {
				one.quoted = true
				all, text = append(all, one), strings.TrimSpace(rest)
				continue
			}
		}
		item, rest, _ := strings.Cut(text, ",")
		all, text = append(all, part{text: strings.TrimSpace(item)}), strings.TrimSpace(rest)
	}
	return all
}

// token formats a typed value for a file: numbers, true and false as they are, all else as text.
func token(text string) string {
	if numberForm.MatchString(text) || unitForm.MatchString(text) || text == "true" || text == "false" {
		return text
	}
	return doc.Format(text)
}

// quote formats a text that stays a text, whatever it looks like.
func quote(text string) string {
	out, err := json.Marshal(text)
	if err != nil { // texts can be encoded
		panic(err)
	}
	return string(out)
}

// item returns the typed form of a value; "" if it is not a single one.
func item(n *doc.Node) string {
	if n.Kind() != doc.Scalar {
		return ""
	}
	text := n.Text()
	if _, isText := n.Scalar().(string); !isText {
		return text
	}
	all := split(text)
	plain := len(all) == 1 && !all[0].quoted && all[0].text == text && strings.Join(strings.Fields(text), " ") == text
	if !plain || numberForm.MatchString(text) || text == "true" || text == "false" || rangeForm.MatchString(text) || cycleForm.MatchString(text) {
		return quote(text)
	}
	return text
}

// levelsOf returns the typed form of a factor's levels; "" if there is none.
func levelsOf(n *doc.Node) string {
	switch n.Kind() {
	case doc.Scalar:
		return item(n)
	case doc.List:
		all := make([]string, 0, len(n.List()))
		for _, i := range n.List() {
			if i.Kind() != doc.Scalar {
				return ""
			}
			all = append(all, item(i))
		}
		return strings.Join(all, ", ")
	case doc.Map:
		text := rangeOf(n)
		if at := n.Get("at"); at != nil && text != "" {
			text += " from cycle " + scalar(at)
		}
		return text
	case doc.Absent, doc.Null:
	}
	return ""
}

func rangeOf(n *doc.Node) string {
	if l := n.Get("levels"); l != nil {
		return levelsOf(l)
	}
	from, to, text := scalar(n.Get("from")), scalar(n.Get("to")), ""
	if ends := list(n.Get("log")); len(ends) == 2 {
		from, to, text = ends[0], ends[1], " log"
	}
	if !numberForm.MatchString(from) || !numberForm.MatchString(to) {
		return ""
	}
	if step := n.Get("step"); step != nil {
		text += " step " + scalar(step)
	}
	if points := n.Get("points"); points != nil {
		text += " " + scalar(points) + " points"
	}
	return from + " to " + to + text
}
