package scenario

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// lines are the rows of a JSONL file: its own text, and where each row starts. A row is decoded when it is asked for.
type lines struct {
	name   string
	text   []byte
	starts []uint32
}

// record decodes a row.
func (l *lines) record(row int) (*value.Record, error) {
	line, _, _ := bytes.Cut(l.text[l.starts[row]:], []byte("\n"))
	v, err := value.DecodeJSON(line)
	if err != nil {
		return nil, fmt.Errorf("row %d of %s: %w", row+1, l.name, err)
	}
	r, ok := v.(*value.Record)
	if !ok {
		return nil, fmt.Errorf("row %d of %s is a %s", row+1, l.name, v.Type())
	}
	return r, nil
}

const rowHint = `an object a line, such as {"id": "ann", "age": 30}`

// lineReader reads a JSONL file.
type lineReader struct {
	*sheet
	lines *lines
	names []string
	known map[string]bool
	named int // rows that have an id
	lost  int // lines that are not rows
}

func readLines(s *sheet) *table {
	r := &lineReader{sheet: s, lines: &lines{name: s.name, text: s.text}, known: map[string]bool{}}
	line := 0
	for start := 0; start < len(s.text); line++ {
		text, _, _ := bytes.Cut(s.text[start:], []byte("\n"))
		if len(bytes.TrimSpace(text)) > 0 {
			r.row(text, start, line+1)
		}
		start += len(text) + 1
	}
	if len(r.lines.starts) == 0 && r.mistakes == 0 {
		r.errorf(1, 1, rowHint, "the file is empty")
	}
	if r.lost > 0 { // they may have attributes that no other row has
		return nil
	}
	t := newTable(r.names)
	if r.mistakes > 0 {
		return t
	}
	t.rows, t.records, t.ids = len(r.lines.starts), r.lines, r.ids.column()
	return t
}

// row reads the object of one line.
func (r *lineReader) row(text []byte, start, line int) {
	v, err := value.DecodeJSON(text)
	var mistake *value.JSONError
	record, isRecord := v.(*value.Record)
	if err != nil || !isRecord {
		r.lost++
	}
	switch {
	case errors.As(err, &mistake):
		r.errorf(line, mistake.Offset+1, rowHint, "%s", mistake.Problem)
		return
	case err != nil:
		r.errorf(line, 1, "", "%v", err)
		return
	case !isRecord:
		r.errorf(line, 1, rowHint, "a row cannot be a %s", v.Type())
		return
	}
	if len(r.lines.starts) == maxAgents {
		r.errorf(line, 1, "", "more than %d rows", maxAgents)
		return
	}
	r.lines.starts = append(r.lines.starts, uint32(start))
	for name := range record.All() {
		if name != "id" && !r.known[name] {
			r.learn(name, line)
		}
	}
	r.identify(record, line)
}

// learn records the name of an attribute when a row has it for the first time.
func (r *lineReader) learn(name string, line int) {
	if len(r.names) > maxNames {
		return
	}
	r.known[name] = true
	if r.names = append(r.names, name); len(r.names) > maxNames {
		r.errorf(line, 1, "rows have the same names, mostly", "more than %d attributes", maxNames)
	}
	r.checkName(line, 1, name)
}

// identify records what the agent of a row is called. Either all rows say it or none.
func (r *lineReader) identify(record *value.Record, line int) {
	v, has := record.Field("id")
	if has {
		r.named++
	}
	switch v := v.(type) {
	case nil:
		if r.named > 0 {
			r.addID("", line, 1)
		}
	case starlark.String:
		r.missed(line)
		r.addID(string(v), line, 1)
	case starlark.Int:
		r.missed(line)
		r.addID(v.String(), line, 1)
	default:
		r.errorf(line, 1, "a text or a whole number", "an id cannot be %s", quoted(v.String()))
	}
}

// missed reports the first row that has an id where those above have none.
func (r *lineReader) missed(line int) {
	if above := len(r.lines.starts) - 1; r.named == 1 && above > 0 {
		r.errorf(line, 1, "every row has one, or none has", "the %s above have no id", counted(above, "row"))
	}
}
