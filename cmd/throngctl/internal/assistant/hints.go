package assistant

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
)

// Hints translate what commands say, such as "resume it with: throngctl resume 20300301-120000-abcd": an assistant has tools in place of the
// commands of the terminal.
type Hints struct {
	Commands func() []string // of the terminal, such as "run" and "queue cancel"
	Reader   bool            // there are only tools that change nothing
}

// translation is a command that is a tool.
type translation struct {
	tool   string
	args   []string // parameters of its arguments, in their order
	ignore []string // flags that the tool does not need
	writes bool     // a server for reading does not have it
}

// translations are the commands that are tools. Others are for a person at a terminal.
var translations = map[string]translation{
	"run":                {tool: "run", args: []string{"file"}, writes: true},
	"resume":             {tool: "resume", args: []string{"run"}, writes: true},
	"validate":           {tool: "validate", args: []string{"file"}},
	"check":              {tool: "check", args: []string{"file"}, writes: true},
	"scenarios":          {tool: "scenarios", args: []string{"name"}},
	"runs":               {tool: "runs"},
	"status":             {tool: "status", args: []string{"run"}, ignore: []string{"follow"}},
	"agents":             {tool: "agents", args: []string{"run"}},
	"timeline":           {tool: "timeline", args: []string{"run", "agent"}},
	"transcript":         {tool: "transcript", args: []string{"run"}},
	"compare":            {tool: "compare"},
	"checkpoints":        {tool: "checkpoints", args: []string{"run"}},
	"audit":              {tool: "audit", args: []string{"run"}},
	"pause":              {tool: "pause", args: []string{"run"}, writes: true},
	"continue":           {tool: "continue", args: []string{"run"}, writes: true},
	"stop":               {tool: "stop", args: []string{"run"}, writes: true},
	"queue":              {tool: "queue"},
	"queue cancel":       {tool: "queue_cancel", args: []string{"id"}, writes: true},
	"guide":              {tool: "guide", args: []string{"page"}},
	"experiment list":    {tool: "experiments"},
	"experiment status":  {tool: "experiment", args: []string{"file"}, ignore: []string{"json"}},
	"experiment run":     {tool: "experiment_run", args: []string{"file"}, writes: true},
	"experiment compare": {tool: "experiment_compare", args: []string{"file"}},
	"experiment stop":    {tool: "experiment_stop", args: []string{"file"}, writes: true},
}

// parameters are the parameters of tools that are flags of commands.
var parameters = map[string]string{
	"cycles": "cycles", "seed": "seed", "max-concurrent": "max_concurrent", "filter": "filter", "budget": "budget_usd", "max-tokens": "max_tokens", "set": "parameters",
	"as-it-was": "as_it_was", "cycle": "cycle", "where": "where", "state": "state", "agent": "agent", "find": "find", "search": "search", "last": "last",
}

var (
	words    = regexp.MustCompile(`^([a-z]+)(?: [a-z]+)?`)
	named    = regexp.MustCompile("`?throngctl ([a-z]+)")
	argument = regexp.MustCompile(`^(?:[0-9]{8}-[0-9]{6}-[0-9a-z]+|[A-Z]+(?:\.yaml)?|'[^']*'|\S+\.ya?ml|shopping\b)`)
	isName   = regexp.MustCompile(`^\s*:`)
	entry    = regexp.MustCompile(`^(?:[a-z]{4}|ID)\b`)
	limited  = regexp.MustCompile(`^ max-concurrent=(\w+)`)
	option   = regexp.MustCompile(`--([a-z][a-z-]*[a-z])(?:[ =]([A-Z]+\b|[0-9][0-9.a-z]*\b|\S+/\S*))?`)
)

// commandOf returns the name of the command at the start of a text, such as "queue cancel"; "" if there is none.
func (h *Hints) commandOf(text string) string {
	m := words.FindStringSubmatch(text)
	for _, name := range []string{m[0], m[1]} {
		if slices.Contains(h.Commands(), name) {
			return name
		}
	}
	return ""
}

// Translate replaces commands and flags in a text by tools and their parameters. It says which of them are only for a terminal.
func (h *Hints) Translate(text string) string {
	var out strings.Builder
	var rest, others []string // commands and flags that no tool has
	for {
		at := named.FindStringIndex(text)
		if at == nil {
			break
		}
		begin := strings.Index(text[at[0]:], "throngctl ") + at[0]
		after := text[begin+len("throngctl "):]
		name := h.commandOf(after)
		if name == "" {
			out.WriteString(text[:at[1]])
			text = text[at[1]:]
			continue
		}
		quoted := begin > at[0]
		tool, length, known := h.tooled(name, after[len(name):])
		if !known {
			rest = with(rest, "throngctl "+name)
			out.WriteString(text[:begin] + "throngctl " + name)
			text = after[len(name):]
			continue
		}
		out.WriteString(text[:at[0]] + tool)
		text = after[len(name)+length:]
		if quoted {
			text = strings.Replace(text, "`", "", 1)
		}
	}
	out.WriteString(text)
	plain := option.ReplaceAllStringFunc(out.String(), func(flag string) string {
		m := option.FindStringSubmatch(flag)
		if name := parameters[m[1]]; name != "" {
			return strings.Replace(flag, "--"+m[1], name, 1)
		}
		if m[1] != "allow" { // see failure
			others = with(others, "--"+m[1])
		}
		return flag
	})
	if len(rest) == 0 { // otherwise they probably belong to a command
		rest = others
	}
	if len(rest) > 0 {
		plain = strings.TrimRight(plain, "\n") + " (only the person you work for can use this, in a terminal: " + strings.Join(rest, ", ") + ")"
	}
	return plain
}

// with returns a list with one more text, unless it has it.
func with(list []string, one string) []string {
	if slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}

// tooled returns the words for a command as a tool, and the length of its arguments and flags at the start of a text.
func (h *Hints) tooled(name, text string) (words string, length int, known bool) {
	t, known := translations[name]
	known = known && (!t.writes || !h.Reader)
	if name == "set" && !h.Reader {
		if m := limited.FindStringSubmatch(text); m != nil {
			return "the tool limit (max_concurrent: " + m[1] + ")", len(m[0]), true
		}
	}
	if !known {
		return "", 0, false
	}
	var given []string
	args := t.args
	for {
		rest := text[length:]
		if !strings.HasPrefix(rest, " ") {
			break
		}
		if m := option.FindStringSubmatch(rest[1:]); m != nil && strings.HasPrefix(rest[1:], m[0]) {
			switch parameter := parameters[m[1]]; {
			case slices.Contains(t.ignore, m[1]):
			case parameter == "":
				return "", 0, false
			case m[2] == "":
				given = append(given, parameter+": true")
			default:
				given = append(given, parameter+": "+m[2])
			}
			length += 1 + len(m[0])
			continue
		}
		value := argument.FindString(rest[1:])
		if name == "queue cancel" {
			value = entry.FindString(rest[1:])
		}
		if value == "" || len(args) == 0 {
			break
		}
		value = strings.TrimRight(value, ".,;:)")
		given = append(given, args[0]+": "+strings.Trim(value, "'"))
		args = args[1:]
		length += 1 + len(value)
	}
	words = "the tool " + t.tool
	if len(given) > 0 {
		words += " (" + strings.Join(given, ", ") + ")"
	}
	return words, length, true
}

// recorded are the fields whose texts were recorded or written by others.
var recorded = map[string]bool{"reason": true, "title": true, "name": true, "about": true, "note": true, "because": true, "value": true, "default": true}

// inJSON translates the texts in a JSON value, but neither names of fields nor what was recorded.
func (h *Hints) inJSON(text []byte) []byte {
	var out []byte
	field := "" // whose value is next
	for i := 0; i < len(text); {
		if text[i] != '"' {
			out = append(out, text[i])
			i++
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(text))
		literal := text[i:end]
		var value string
		if isName.Match(text[end:]) {
			field = string(literal[1 : len(literal)-1])
		} else if !recorded[field] && (strings.Contains(string(literal), "throngctl ") || strings.Contains(string(literal), "--")) && json.Unmarshal(literal, &value) == nil {
			var translated bytes.Buffer
			if answer.PrintLine(&translated, h.Translate(value)) == nil {
				literal = bytes.TrimSpace(translated.Bytes())
			}
		}
		out = append(out, literal...)
		i = end
	}
	return out
}
