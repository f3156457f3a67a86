package llm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/service/redact"
)

// pieces are the lines of a stream, with what each adds to the fields of a message.
type pieces struct {
	lines [][]byte
	added map[string][]string // by field; one for each line
	dirty map[int]bool        // the changed lines
}

// event is the data of a line. Unknown fields stay as they are.
type event map[string]json.RawMessage

// added returns the fields that an event adds to a message, and a function that replaces them: those of the first choice, or of the
// event itself.
func (e event) added() (delta event, replace func()) {
	var choices []event
	if json.Unmarshal(e["choices"], &choices) == nil && len(choices) > 0 && json.Unmarshal(choices[0]["delta"], &delta) == nil {
		return delta, func() {
			choices[0]["delta"] = asRaw(delta)
			e["choices"] = asRaw(choices)
		}
	}
	for _, name := range []string{"delta", "message"} {
		if json.Unmarshal(e[name], &delta) == nil && delta != nil {
			return delta, func() { e[name] = asRaw(delta) }
		}
	}
	return nil, nil
}

// dataOf returns the event in a line: data of server-sent events, or a line of JSON. before is the text in front of it.
func dataOf(line []byte) (before string, e event) {
	data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
	if ok {
		before = "data: "
	}
	if json.Unmarshal(data, &e) != nil {
		return "", nil
	}
	return before, e
}

func piecesOf(body []byte) *pieces {
	p := &pieces{lines: slices.Collect(bytes.Lines(body)), added: map[string][]string{}, dirty: map[int]bool{}}
	for i, line := range p.lines {
		_, e := dataOf(line)
		delta, _ := e.added()
		for name, value := range delta {
			var content Content // other fields have text too
			if json.Unmarshal(value, &content) != nil || content.Text == "" {
				continue
			}
			text := content.Text
			if p.added[name] == nil {
				p.added[name] = make([]string, len(p.lines))
			}
			p.added[name][i] = text
		}
	}
	return p
}

// redact removes a secret from the concatenated pieces. The piece in which it begins gets the mark.
func (p *pieces) redact(secret string) {
	for _, texts := range p.added {
		whole := strings.Join(texts, "")
		for from := strings.Index(whole, secret); from >= 0; from = strings.Index(whole, secret) {
			p.cut(texts, from, from+len(secret))
			whole = strings.Join(texts, "")
		}
	}
}

// cut removes the bytes between two offsets from consecutive texts.
func (p *pieces) cut(texts []string, from, to int) {
	begin := 0
	for i, text := range texts {
		end := begin + len(text)
		if text != "" && begin < to && end > from {
			mark := ""
			if from >= begin {
				mark = redact.Mark
			}
			texts[i] = text[:max(from-begin, 0)] + mark + text[min(to, end)-begin:]
			p.dirty[i] = true
		}
		begin = end
	}
}

// body returns the stream.
func (p *pieces) body() []byte {
	for _, i := range slices.Sorted(maps.Keys(p.dirty)) {
		before, e := dataOf(p.lines[i])
		delta, replace := e.added()
		for name, texts := range p.added {
			if _, ok := delta[name]; ok && string(delta[name]) != "null" {
				delta[name] = asRaw(texts[i])
			}
		}
		replace()
		p.lines[i] = append(append([]byte(before), asRaw(e)...), '\n')
	}
	return bytes.Join(p.lines, nil)
}

// RedactStream removes the spellings of secrets from a stream, even if they are spread over several events.
func RedactStream(body []byte, spellings []string) []byte {
	p := piecesOf(body)
	redact.Each(spellings, p.redact)
	if len(p.dirty) == 0 {
		return body
	}
	return p.body()
}

func asRaw(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, and values that were read as JSON
	}
	return raw
}
