package mock

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/throng-sim/throng/engine/internal/draw"
)

const (
	documentTries = 32
	deepLevel     = 6       // from this level on, only required parts are written
	fullDocument  = 8 << 10 // the same from this many bytes on
	mostDocument  = 1 << 20 // a larger document is an error
	usualItems    = 3       // of an array without an upper bound, more than the lower one
	optionalShare = 0.7     // of the optional members are written
)

var errLargeDocument = errors.New("its smallest document is larger than 1 MiB")

// freeObject is the schema of answers to which the request allows any JSON object.
var freeObject = func() *schema {
	s, err := readSchema(json.RawMessage(`{"type":"object","additionalProperties":false,"required":["answer","confidence","reasons"],"properties":{
		"answer":{"type":"string"},
		"confidence":{"type":"number","minimum":0,"maximum":1,"multipleOf":0.01},
		"reasons":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":3}}}`), true)
	if err != nil {
		panic(err)
	}
	return s
}()

// document makes a JSON text that matches the schema.
func (s *schema) document(key draw.Key, t *talk) (string, error) {
	for try := range uint64(documentTries) {
		d := document{source: key.Text("document").Int(try).Source(), talk: t}
		d.write(s.root, 0)
		if d.err != nil {
			return "", d.err
		}
		if s.check == nil || s.check.Check(d.b) == nil {
			return string(d.b), nil
		}
	}
	return "", fmt.Errorf("the mock found no document that matches the schema in %d tries", documentTries)
}

// document is a document during writing.
type document struct {
	source *draw.Source
	talk   *talk
	field  string // that is being written
	b      []byte
	err    error
}

// sparse reports that from here on only required parts are written. Every further step then leads to a shallower form.
func (d *document) sparse(level int) bool { return level >= deepLevel || len(d.b) > fullDocument }

func (d *document) write(s *form, level int) {
	if len(d.b) > mostDocument && d.err == nil {
		d.err = errLargeDocument
	}
	if d.err != nil {
		return
	}
	switch s.kind {
	case formNothing: // matches no document: its depth is endless
	case formChoice:
		d.write(d.choose(s, level), level+1)
	case formValue:
		d.b = append(d.b, s.values[d.pick(s.values)]...)
	case formObject:
		d.object(s, level)
	case formArray:
		d.array(s, level)
	case formText:
		text, err := s.text.draw(d.source, d.talk)
		d.err = err
		d.b = appendText(d.b, text)
	case formNumber:
		if lean := d.talk.leaning; lean != nil {
			d.b = append(d.b, s.number.level(lean.Level(d.source.Float64(), d.field))...)
		} else {
			d.b = append(d.b, s.number.draw(d.source)...)
		}
	}
}

// pick draws one of the values.
func (d *document) pick(values []string) int {
	if lean := d.talk.leaning; lean != nil {
		return lean.Pick(d.source.Float64(), d.field, values)
	}
	return d.source.IntN(len(values))
}

// choose draws one of the choices with finite depth, or takes the shallowest.
func (d *document) choose(s *form, level int) *form {
	shallow := s.choices[0]
	var ending []*form
	for _, c := range s.choices {
		if c.depth < shallow.depth {
			shallow = c
		}
		if c.depth < endless {
			ending = append(ending, c)
		}
	}
	if d.sparse(level) {
		return shallow
	}
	return ending[d.source.IntN(len(ending))]
}

func (d *document) object(s *form, level int) {
	d.b = append(d.b, '{')
	n := 0
	for _, f := range s.fields {
		if !f.required && (f.form.depth == endless || d.sparse(level) || d.source.Float64() >= optionalShare) {
			continue
		}
		d.b = append(append(comma(d.b, n), f.name...), ':')
		d.field = f.name
		d.write(f.form, level+1)
		n++
	}
	if s.extra != nil && s.extra.depth < endless && !d.sparse(level) {
		for i := range 1 + d.source.IntN(usualItems) {
			d.b = append(appendText(comma(d.b, i), "item "+strconv.Itoa(i+1)), ':')
			d.write(s.extra, level+1)
		}
	}
	d.b = append(d.b, '}')
}

func (d *document) array(s *form, level int) {
	n := s.least
	if s.items.depth < endless && !d.sparse(level) {
		n += d.source.IntN(min(s.most-s.least, usualItems) + 1)
	}
	d.b = append(d.b, '[')
	for i := range n {
		d.b = comma(d.b, i)
		d.write(s.items, level+1)
	}
	d.b = append(d.b, ']')
}
