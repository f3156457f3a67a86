package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
	"go.starlark.net/starlark"
)

// payload is what chains see as input: a row for each agent, or one value for all. The zero value is missing for all.
type payload struct {
	rows []value.Value // nil where there is one value
	all  value.Value
}

// of returns the input of an agent.
func (p *payload) of(agent int) value.Value {
	switch {
	case agent < len(p.rows):
		return p.rows[agent]
	case p.all != nil:
		return p.all
	}
	return value.Missing
}

// payload reads the input of the chains and records what the run adds to the scenario. The number of rows sets the
// number of agents. If the scenario defines its own population, populated is true, and the rows must not outnumber it.
func (r *reader) payload(populated bool) error {
	if r.extras.Chain != "" {
		r.keep(engine.OnlyChain, []byte(r.extras.Chain))
	}
	p := r.extras.Payload
	if p == nil {
		return nil
	}
	r.keep(engine.PayloadFiles+p.Name, p.Text)
	in, ok := readPayload(p, r.report)
	if !ok {
		return nil
	}
	r.s.input = in
	n := len(in.rows)
	if n == 0 {
		return nil
	}
	if populated && n > r.s.Agents {
		return &engine.FieldError{
			Field: "payload", Problem: fmt.Sprintf("%s has %d rows for a population of %d", p.Name, n, r.s.Agents), Hint: "a row is for an agent",
		}
	}
	r.s.Agents = n
	return nil
}

// readPayload parses a payload according to its file extension. It adds errors to the report.
func readPayload(p *Payload, report *doc.Report) (in payload, ok bool) {
	text := bytes.TrimPrefix(p.Text, []byte(byteOrderMark))
	switch path.Ext(p.Name) {
	case ".csv":
		in.rows, ok = sheetRows(p.Name, text, report)
	case ".jsonl":
		in.rows, ok = lineRows(p.Name, text, report)
	default:
		v, err := value.DecodeJSON(text)
		if err != nil {
			wrongJSON(report, p.Name, text, 0, err)
			return in, false
		}
		list, isList := v.(*starlark.List)
		if !isList {
			in.all = v
			return in, true
		}
		for i := range list.Len() {
			in.rows = append(in.rows, list.Index(i))
		}
		ok = true
	}
	if ok && len(in.rows) == 0 {
		report.AddSource(p.Name, text)
		report.Add(doc.Problem{File: p.Name, Line: 1, Col: 1, Problem: "the payload has no rows", Guess: suggest.Guess{Hint: "an object, or a list with one for each agent"}})
		return in, false
	}
	return in, ok
}

// lineRows reads a value from each line that is not blank.
func lineRows(name string, text []byte, report *doc.Report) (rows []value.Value, ok bool) {
	ok = true
	told := 0
	for start := 0; start < len(text); {
		line, _, _ := bytes.Cut(text[start:], []byte("\n"))
		if len(bytes.TrimSpace(line)) > 0 {
			v, err := value.DecodeJSON(line)
			if err != nil {
				if ok = false; told < maxTold {
					wrongJSON(report, name, text, start, err)
				}
				told++
			}
			rows = append(rows, v)
		}
		start += len(line) + 1
	}
	return rows, ok
}

// wrongJSON reports a mistake in the JSON that begins at a byte of a file.
func wrongJSON(report *doc.Report, name string, text []byte, from int, err error) {
	at, problem := from, err.Error()
	if mistake, ok := errors.AsType[*value.JSONError](err); ok {
		at, problem = min(from+mistake.Offset, len(text)), mistake.Problem
	}
	before := text[:at]
	report.AddSource(name, text)
	report.Add(doc.Problem{
		File: name, Line: bytes.Count(before, []byte("\n")) + 1,
		Col: utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1, Problem: problem,
		Guess: suggest.Guess{Hint: "JSON, such as {\"text\": \"…\"}"},
	})
}

// sheetRows reads a record from each row of a CSV file; columns are typed as those of a population.
func sheetRows(name string, text []byte, report *doc.Report) (rows []value.Value, ok bool) {
	s := newSheet(name, text, report)
	s.plain = true
	t := s.read(nil)
	if t == nil || s.mistakes > 0 {
		return nil, false
	}
	names := t.names
	if t.ids != nil {
		names = append([]string{"id"}, names...)
	}
	shape := value.NewShape(names...)
	for row := range t.rows {
		values := make([]value.Value, 0, len(names))
		if t.ids != nil {
			values = append(values, starlark.String(t.ids.at(row)))
		}
		for _, column := range t.columns {
			values = append(values, column.value(row))
		}
		rows = append(rows, shape.Record(values...))
	}
	return rows, true
}
