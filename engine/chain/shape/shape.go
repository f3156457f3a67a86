// Package shape describes and checks the form of a model's answer.
package shape

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/outputs"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/fit"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/script/value"
)

// Shape is the expected shape of a model's answer.
type Shape struct {
	Schema json.RawMessage // the schema shown to the model
	Strict bool            // services can enforce it
	schema *fit.Schema     // the schema for checking answers
	Known  *known.Shape    // the same, as far as expressions can be checked with it
	Form   *form           // the same for values that are not text yet; nil if the file has a schema
}

// Read reads a shape: names with a type, a list of choices or a nested shape, where a name that ends with a
// question mark is optional; or a JSON Schema under schema.
func Read(n *doc.Node) *Shape {
	if n.Kind() != doc.Map {
		n.Errorf("`{shop: bool, reason: string}`", "the shape of an answer is a map of names")
		return nil
	}
	a := &Shape{Known: outputs.Answer(n)}
	var sent, check map[string]any
	if s := n.Get("schema"); s.Kind() == doc.Map {
		n.Fields("schema")
		var ok bool
		if sent, ok = plain(s).(map[string]any); !ok {
			return nil
		}
		if sent["type"] != "object" {
			s.Errorf("`type: object`, with what is asked for under `properties`", "an answer is an object")
		}
		check = sent
	} else {
		if len(n.Entries()) == 0 {
			n.Errorf("`{shop: bool, reason: string}`", "a shape without names")
		}
		f := formOf(n)
		sent, check = f.schemas()
		a.Form, a.Strict = f, true
	}
	var err error
	if a.Schema, err = json.Marshal(sent); err != nil {
		n.Errorf("", "%v", err)
		return nil
	}
	tight, err := json.Marshal(check)
	if err == nil {
		a.schema, err = fit.Compile(tight)
	}
	if err != nil {
		n.Errorf("https://json-schema.org says what it can be", "invalid JSON Schema: %v", err)
		return nil
	}
	return a
}

// plain reads data without expressions.
func plain(n *doc.Node) any {
	switch n.Kind() {
	case doc.Map:
		m := map[string]any{}
		for _, e := range n.Entries() {
			m[e.Key.Text()] = plain(e.Value)
		}
		return m
	case doc.List:
		list := []any{}
		for _, item := range n.List() {
			list = append(list, plain(item))
		}
		return list
	case doc.Null, doc.Absent:
		return nil
	default:
		return n.Scalar()
	}
}

// mostLooked limits the positions at which to look for a document.
const mostLooked = 100

// document finds the JSON document in a model's text, which may be in a code fence or between words. If there are
// several, it returns the longest.
func document(text string) string {
	text = strings.TrimSpace(text)
	if _, after, ok := strings.Cut(text, "</think>"); ok && strings.Contains(after, "{") && text[0] != '{' {
		text = strings.TrimSpace(after) // text before it is the model's reasoning
	}
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return text
	}
	best, rest := "", text
	for range mostLooked {
		from := strings.IndexByte(rest, '{')
		if from < 0 {
			break
		}
		rest = rest[from:]
		var found json.RawMessage
		if err := json.NewDecoder(strings.NewReader(rest)).Decode(&found); err != nil {
			rest = rest[1:]
			continue
		}
		if rest = rest[len(found):]; len(found) > len(best) {
			best = string(found)
		}
	}
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if best != "" || from < 0 || to < from {
		return cmp.Or(best, text)
	}
	return text[from : to+1] // its error can be explained
}

// Parse extracts the answer from a model's text. Its error tells the model what is wrong.
func (a *Shape) Parse(text string) (value.Value, error) {
	found := document(text)
	if err := a.schema.Check([]byte(found)); err != nil {
		return nil, err
	}
	return value.DecodeJSON([]byte(found))
}

// Filled returns data that fit the shape with the optional names that they lack, which are None.
func (a *Shape) Filled(v value.Value) value.Value {
	r, ok := v.(*value.Record)
	if !ok || a.Form == nil {
		return v
	}
	var fields []value.Field
	for _, name := range r.AttrNames() {
		x, _ := r.Field(name)
		fields = append(fields, value.Field{Name: name, Value: x})
	}
	had := len(fields)
	for _, f := range a.Form.fields {
		if _, there := r.Field(f.name); !there {
			fields = append(fields, value.Field{Name: f.name, Value: starlark.None})
		}
	}
	if len(fields) == had {
		return v
	}
	return value.NewRecord(fields...)
}

// Accept checks a value that replaces an answer.
func (a *Shape) Accept(v value.Value) error {
	if a.Form != nil && a.Form.Fits(v) {
		return nil
	}
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		return err
	}
	if err := a.schema.Check(text); err != nil {
		return engine.Fail(engine.Script, "otherwise does not fit the answer: %w", err)
	}
	return nil
}

// Instruction describes the shape in words, for services that cannot enforce a schema.
func (a *Shape) Instruction() string {
	return fmt.Sprintf("Answer with one JSON document that fits this JSON Schema, and nothing else:\n%s", a.Schema)
}
