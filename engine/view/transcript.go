package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/decision"
)

// LineKind is what a line of a transcript is.
type LineKind uint8

// The kinds of lines: what a model said for an agent, a message to other agents, an event that a session emitted, and the tools that a
// model asked for.
const (
	SaidLine LineKind = iota
	MessageLine
	EventLine
	ToolLine
)

var lineKinds = [...]string{SaidLine: "said", MessageLine: "message", EventLine: "event", ToolLine: "tool"}

func (k LineKind) String() string { return lineKinds[k] }

// MarshalText implements [encoding.TextMarshaler].
func (k LineKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Line is a line of a transcript.
type Line struct {
	Kind    LineKind  `json:"kind"`
	At      time.Time `json:"at,omitzero"`
	Cycle   int       `json:"cycle"`
	Agent   int       `json:"index"`
	ID      string    `json:"agent"`
	Take    int       `json:"take,omitempty"`
	Step    string    `json:"step,omitempty"`
	Speaker string    `json:"speaker"`
	To      string    `json:"to,omitempty"`   // the recipients of a message
	Text    string    `json:"text"`           // for an event, its name
	More    string    `json:"more,omitempty"` // the other fields of a structured answer, or of an event
	Prompt  string    `json:"prompt,omitempty"`
}

// TranscriptQuery selects a page of a transcript. The zero value is not valid: Agent and Cycle are -1 for all.
type TranscriptQuery struct {
	Agent, Cycle int
	Text         string    // in the line, regardless of case; "" is any
	Until        time.Time // only lines up to this moment; zero does not limit
	From         Cursor
	Most         int // lines on the page, roughly
}

// Cursor is a place in a transcript, which is in the order of cycles and agents. The zero value is the beginning.
type Cursor struct{ Cycle, Agent int }

// Transcript is a page of what the agents of a run said and decided.
type Transcript struct {
	Lines []Line `json:"lines"`
	// Next is where the next page begins, if there is More.
	Next Cursor `json:"-"`
	More bool   `json:"more,omitempty"`
	// Note says why lines may be missing; "" if none are.
	Note string `json:"note,omitempty"`
}

// Matches reports whether a line contains a text, regardless of case.
func (l *Line) Matches(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return text == "" || strings.Contains(strings.ToLower(l.Speaker+"\n"+l.Text+"\n"+l.More+"\n"+l.ID+"\n"+l.Step), text)
}

// Aside reports whether a line is not a person's words: an event, or a use of tools.
func (l *Line) Aside() bool { return l.Kind == EventLine || l.Kind == ToolLine }

// Sentence formats a line as text: who said what.
func (l *Line) Sentence() string {
	switch {
	case l.Kind == EventLine && l.More == "":
		return "[" + l.Text + "]"
	case l.Kind == EventLine:
		return "[" + l.Text + "] " + l.More
	case l.Kind == ToolLine:
		return l.Speaker + " uses " + l.Text
	}
	text := l.Speaker
	if l.To != "" {
		text += " to " + l.To
	}
	text += ": " + l.Text
	if l.More != "" {
		text += " (" + l.More + ")"
	}
	return text
}

// Lines returns what was said in a session, in order. id is the ID of its agent.
func Lines(t *engine.AgentTurn, id string) []Line {
	var all []Line
	for i := range t.Exchanges {
		e := &t.Exchanges[i]
		if strings.Contains(e.Path, decision.Aside) { // the agent did not say what only the shadow sample asked for
			continue
		}
		if e.Calls != "" {
			all = append(all, Line{Kind: ToolLine, At: e.At.Add(e.Took), Step: e.Path, Speaker: cmp.Or(e.Speaker, id), Text: e.Calls, Prompt: e.Prompt})
		}
		if e.Reply == "" {
			continue
		}
		l := Line{Kind: SaidLine, At: e.At.Add(e.Took), Step: e.Path, Speaker: cmp.Or(e.Speaker, id), Prompt: e.Prompt}
		l.Text, l.More = spoken(e.Reply)
		if e.To != "" {
			l.Kind, l.To, l.Speaker = MessageLine, e.To, id
		}
		if k := slices.IndexFunc(all, func(o Line) bool { return o.Kind == l.Kind && o.Step == l.Step }); k >= 0 {
			all[k] = l // a later attempt
			continue
		}
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b Line) int { return a.At.Compare(b.At) })
	nameSpeakers(all, t.Events)
	all = withoutEchoes(all)
	silent := !slices.ContainsFunc(all, func(l Line) bool { return l.Kind == SaidLine })
	for i := range t.Events {
		all = append(all, eventLines(&t.Events[i], t.Started.Add(t.Total), id, silent, all)...)
	}
	for i := range all {
		all[i].Cycle, all[i].Agent, all[i].Take, all[i].ID = t.Cycle, t.Agent, t.Take, id
	}
	return all
}

// nameSpeakers names the speakers of lines that an event of the session lists with names.
func nameSpeakers(all []Line, events []engine.Event) {
	for i := range events {
		for _, listed := range listedLines(events[i].Data) {
			for k := range all {
				if all[k].Kind == SaidLine && strings.HasPrefix(all[k].Text, listed.Text) && listed.Text != "" {
					all[k].Speaker, all[k].Text = listed.Speaker, listed.Text // without marks for the program
				}
			}
		}
	}
}

// withoutEchoes removes answers of a model that the session then sent as a message: the message says who heard it.
func withoutEchoes(all []Line) []Line {
	for i := range all {
		if all[i].Kind != MessageLine {
			continue
		}
		for k := range all[:i] {
			if all[k].Kind == SaidLine && all[k].Text == all[i].Text {
				all[i].Speaker, all[i].More, all[i].Prompt = all[k].Speaker, all[k].More, all[k].Prompt
				all[k].Text = ""
			}
		}
	}
	return slices.DeleteFunc(all, func(l Line) bool {
		return l.Text == "" && l.More == "" || l.Kind == SaidLine && l.Text == "" && echoed(all, &l)
	})
}

// echoed reports whether a message of the session has what an answer without text had.
func echoed(all []Line, l *Line) bool {
	return slices.ContainsFunc(all, func(o Line) bool { return o.Kind == MessageLine && o.More == l.More && o.Prompt == l.Prompt })
}

// speech are the fields of a structured answer that hold what was said, the most likely first.
var speech = []string{"says", "said", "text", "message", "reply", "answer", "content", "line", "utterance", "reason", "summary", "thought"}

// names are the fields that hold who said a line.
var names = []string{"name", "speaker", "from", "role", "agent"}

// spoken splits an answer into its text and the other fields of a structured answer.
func spoken(reply string) (text, more string) {
	text = strings.TrimSpace(reply)
	fields, ok := readFields([]byte(text))
	if !ok {
		return text, ""
	}
	for _, name := range speech {
		if said := fields.text(name); said != "" {
			return said, fields.without(name).String()
		}
	}
	return fields.String(), ""
}

// eventLines returns the line of an event, without what the lines before already say. If nothing else is known of a
// conversation, its lines are read from the event.
func eventLines(e *engine.Event, at time.Time, id string, silent bool, before []Line) (all []Line) {
	if silent {
		for _, l := range listedLines(e.Data) {
			l.At, l.Step = at, e.Path
			all = append(all, l)
		}
	}
	l := Line{Kind: EventLine, At: at, Step: e.Path, Speaker: id, Text: e.Name}
	if fields, ok := readFields(e.Data); ok {
		l.More = fields.unsaid(before).String()
	} else if len(e.Data) > 0 && string(e.Data) != "null" {
		l.More = string(e.Data)
	}
	return append(all, l)
}

// listedLines returns the lines of a conversation that the data of an event lists: objects with a name and a text.
func listedLines(data []byte) (all []Line) {
	fields, _ := readFields(data)
	for _, f := range fields {
		var list []json.RawMessage
		if len(f.value) == 0 || f.value[0] != '[' || json.Unmarshal(f.value, &list) != nil {
			continue
		}
		for _, one := range list {
			of, ok := readFields(one)
			if !ok {
				break
			}
			l := Line{Kind: SaidLine, Speaker: of.first(names), Text: of.first(speech)}
			if l.Speaker == "" || l.Text == "" {
				break
			}
			all = append(all, l)
		}
	}
	return all
}

// field is a field of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

// fieldList are the fields of a JSON object, in their order.
type fieldList []field

// readFields reads a JSON object.
func readFields(data []byte) (all fieldList, ok bool) {
	d := json.NewDecoder(strings.NewReader(string(data)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		f := field{name: name.(string)}
		if d.Decode(&f.value) != nil {
			return nil, false
		}
		all = append(all, f)
	}
	_, err := d.Token()
	return all, err == nil
}

// text returns a field that is a string, or "".
func (l fieldList) text(name string) (s string) {
	for _, f := range l {
		if f.name == name && json.Unmarshal(f.value, &s) == nil {
			return strings.TrimSpace(s)
		}
	}
	return ""
}

// first returns the first of some fields that is a string and not empty.
func (l fieldList) first(names []string) string {
	for _, name := range names {
		if s := l.text(name); s != "" {
			return s
		}
	}
	return ""
}

func (l fieldList) without(name string) fieldList {
	return slices.DeleteFunc(slices.Clone(l), func(f field) bool { return f.name == name })
}

// unsaid returns the fields that no line has.
func (l fieldList) unsaid(lines []Line) fieldList {
	return slices.DeleteFunc(slices.Clone(l), func(f field) bool {
		text := short(f.value)
		part := strings.ReplaceAll(f.name, "_", " ") + ": " + text
		return slices.ContainsFunc(lines, func(o Line) bool {
			return text != "" && o.Kind != EventLine && (o.Text == text || strings.Contains(o.More, part))
		})
	})
}

// String formats the fields in one line; long lists are counted, and empty fields left out.
func (l fieldList) String() string {
	var parts []string
	for _, f := range l {
		if text := short(f.value); text != "" {
			parts = append(parts, strings.ReplaceAll(f.name, "_", " ")+": "+text)
		}
	}
	return strings.Join(parts, " · ")
}

// mostItems is how many items of a list are shown.
const mostItems = 5

// short formats a JSON value for one line.
func short(value json.RawMessage) string {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return string(value)
	}
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		return shortList(v)
	case map[string]any:
		fields, _ := readFields(value)
		if len(fields) > mostItems {
			return fmt.Sprintf("%d fields", len(fields))
		}
		return fields.String()
	}
	return string(value)
}

func shortList(all []any) string {
	if len(all) == 0 {
		return ""
	}
	var parts []string
	for _, v := range all {
		switch v := v.(type) {
		case string:
			parts = append(parts, v)
		case float64:
			parts = append(parts, strconv.FormatFloat(v, 'f', -1, 64))
		default:
			return fmt.Sprintf("%d items", len(all))
		}
	}
	if len(parts) > mostItems {
		return fmt.Sprintf("%d values", len(all))
	}
	return strings.Join(parts, ", ")
}

// EventQuery selects a page of the events of a run. Cycle is -1 for all.
type EventQuery struct {
	Name  string // of the events; "" is any
	Cycle int
	Until time.Time // only events up to this moment; zero does not limit
	From  Cursor
	Most  int // events on the page, roughly
}

// EventRow is an event that a session emitted.
type EventRow struct {
	At    time.Time
	Cycle int
	Agent int
	ID    string // of the agent
	Step  string
	Name  string
	Data  string // JSON
}

// Events is a page of events, in the order of cycles and agents.
type Events struct {
	Rows []EventRow
	Next Cursor // where the next page begins, if there is More
	More bool
}

// Fields returns the fields of the event's data, as text.
func (e *EventRow) Fields() (all []engine.Fact) {
	fields, _ := readFields([]byte(e.Data))
	for _, f := range fields {
		all = append(all, engine.Fact{Name: f.name, Value: short(f.value)})
	}
	return all
}
