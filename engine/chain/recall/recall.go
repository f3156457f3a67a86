// Package recall searches the notes of an agent: it says which texts need embeddings, takes them, and ranks the notes.
package recall

import (
	"math"
	"slices"
	"strconv"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/retrieval"
	"github.com/throng-sim/throng/engine/script/value"
)

const (
	// MostNotes is how many notes are compared with a query. All of them are: there is no index.
	MostNotes = 5000
	// MostRecalled is how many notes can be recalled.
	MostRecalled = 1000
)

// The limits of one request for embeddings.
const (
	mostTexts = 256
	mostBytes = 256 << 10
)

// Query is what is searched for.
type Query struct {
	Text    string
	Top     int // how many notes are recalled
	Weights retrieval.Weights
	Fields  Fields
	Model   string // for embeddings
	Size    int    // requested length of the embeddings; 0 is the model's
	Cycle   int    // the current one
}

// Fields name the parts of notes that are records.
type Fields struct{ Text, Importance string }

// search is a search of an agent's notes. Its embeddings are taken from what is kept with the notes; due lists those that are missing.
type search struct {
	query *Query
	space uint32
	asked []byte // the embedding of the query; nil until it is known
	notes []note // without repeated notes, and those without text
	asks  []int  // notes of the newest request; -1 is the query
}

// note is a note that may be recalled.
type note struct {
	json  []byte
	value value.Value // nil until it is needed
	kept  retrieval.Kept
	fresh bool // its embedding was requested by this search
}

// Search recalls notes of a memory. embed returns the embeddings of texts; call counts from 1, and needs no call if there are no notes. An
// error of this function means that the notes cannot be searched, any other one is of embed.
func Search(m *engine.Memory, q *Query, embed func(call int, texts []string) ([][]float32, error)) (*Recalled, error) {
	s, err := open(m, q)
	if err != nil {
		return nil, err
	}
	if len(s.notes) == 0 {
		return &Recalled{Output: value.NewList(nil)}, nil
	}
	for call := 1; ; call++ {
		texts, err := s.due()
		if err != nil {
			return nil, err
		}
		if len(texts) == 0 {
			return s.rank()
		}
		vectors, err := embed(call, texts)
		if err != nil {
			return nil, err
		}
		if err := s.take(vectors); err != nil {
			return nil, err
		}
	}
}

// open starts a search of a memory.
func open(m *engine.Memory, q *Query) (*search, error) {
	if q.Text == "" {
		return nil, engine.Fail(engine.Script, "the query is empty")
	}
	if len(m.Notes) > MostNotes {
		return nil, engine.Fail(engine.Script, "the agent has %d notes; at most %d can be compared with a query. `keep` of a remember step bounds them", len(m.Notes), MostNotes)
	}
	s := &search{query: q, space: retrieval.Space(q.Model, strconv.Itoa(q.Size), q.Fields.Text)}
	s.notes = make([]note, 0, len(m.Notes))
	known := make(map[uint64]bool, len(m.Notes))
	for _, text := range slices.Backward(m.Notes) { // of equal notes, the newest counts
		n := note{json: text}
		n.kept, _ = retrieval.Of(m.Kept, retrieval.Key(text))
		if known[n.kept.Note] {
			continue
		}
		known[n.kept.Note] = true
		if !s.embedded(&n) {
			text, err := s.text(&n)
			if err != nil {
				return nil, err
			}
			if text == "" {
				continue
			}
		}
		s.notes = append(s.notes, n)
	}
	slices.Reverse(s.notes) // the oldest first, as in the memory
	return s, nil
}

// embedded reports whether a note has an embedding that can be compared with that of the query.
func (s *search) embedded(n *note) bool {
	numbers := retrieval.Numbers(n.kept.Vector, s.space)
	return numbers > 0 && (s.asked == nil || numbers == retrieval.Numbers(s.asked, s.space))
}

// decoded returns the value of a note.
func (n *note) decoded() (v value.Value, err error) {
	if n.value == nil {
		n.value, err = value.DecodeJSON(n.json)
	}
	return n.value, err
}

// field returns a field of a note that is a record; nil if there is none.
func (n *note) field(name string) (value.Value, error) {
	if len(n.json) == 0 || n.json[0] != '{' {
		return nil, nil //nolint:nilnil // a missing field is not an error
	}
	v, err := n.decoded()
	if err != nil {
		return nil, err
	}
	if r, ok := v.(*value.Record); ok {
		if f, ok := r.Field(name); ok && f != starlark.None {
			return f, nil
		}
	}
	return nil, nil //nolint:nilnil // a missing field is not an error
}

// text returns the text of a note that is embedded: its field, or all of it.
func (s *search) text(n *note) (string, error) {
	v, err := n.field(s.query.Fields.Text)
	if v == nil && err == nil {
		v, err = n.decoded()
	}
	if err != nil {
		return "", err
	}
	return value.Text(v)
}

// due returns texts whose embeddings are missing, as many as fit into one request: the query, then notes, the oldest first. Without any,
// the notes can be ranked.
func (s *search) due() (texts []string, err error) {
	s.asks = s.asks[:0]
	if s.asked == nil {
		texts, s.asks = append(texts, s.query.Text), append(s.asks, -1)
	}
	size := 0
	for i := range s.notes {
		n := &s.notes[i]
		if s.embedded(n) {
			continue
		}
		text, err := s.text(n)
		if err != nil {
			return nil, err
		}
		if size += len(text); len(texts) == mostTexts || len(texts) > 0 && size > mostBytes {
			break
		}
		texts, s.asks = append(texts, text), append(s.asks, i)
	}
	if len(texts) > 0 && size > expr.MaxSent {
		return nil, expr.TooMuchSent("notes")
	}
	return texts, nil
}

// take takes the embeddings of the texts that due returned, in their order.
func (s *search) take(vectors [][]float32) error {
	for k, at := range s.asks {
		v, err := retrieval.Compact(vectors[k], s.space)
		if err != nil {
			return engine.Fail(engine.BadAnswer, "%v", err)
		}
		if at < 0 {
			s.asked = v
			continue
		}
		n := &s.notes[at]
		n.kept.Vector, n.fresh = v, true
		if !s.embedded(n) {
			return engine.Fail(engine.BadAnswer, "the model %s returned embeddings of %d and of %d numbers, which cannot be compared", s.query.Model, len(vectors[k]), retrieval.Numbers(s.asked, s.space))
		}
	}
	return nil
}

// Recalled is what a search found.
type Recalled struct {
	Output value.Value      // list of records, the best first
	Kept   []retrieval.Kept // changes of what is kept with the notes
}

var shape = value.NewShape("text", "cycle", "score", "similarity", "recency", "importance", "note")

// rank returns the notes that match best. All embeddings must be known.
func (s *search) rank() (*Recalled, error) {
	candidates, err := s.candidates()
	if err != nil {
		return nil, err
	}
	best := retrieval.Rank(candidates, s.asked, s.query.Weights, s.query.Top)
	found, out := make([]value.Value, len(best)), &Recalled{}
	for i, b := range best {
		n := &s.notes[b.At]
		if found[i], err = s.record(n, &candidates[b.At], &b); err != nil {
			return nil, err
		}
		n.kept.Used = max(n.kept.Used, s.query.Cycle)
		if !n.fresh {
			used := n.kept
			used.Vector = nil // it is there already
			out.Kept = append(out.Kept, used)
		}
	}
	for i := range s.notes {
		if s.notes[i].fresh {
			out.Kept = append(out.Kept, s.notes[i].kept)
		}
	}
	out.Kept, out.Output = retrieval.List(out.Kept), value.NewList(found)
	return out, nil
}

// candidates returns the notes as they are ranked.
func (s *search) candidates() ([]retrieval.Candidate, error) {
	all := make([]retrieval.Candidate, len(s.notes))
	for i := range s.notes {
		n := &s.notes[i]
		all[i] = retrieval.Candidate{Vector: n.kept.Vector, Age: max(s.query.Cycle-n.kept.Used, 0)}
		v, err := n.field(s.query.Fields.Importance)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		f, ok := starlark.AsFloat(v)
		if !ok || math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, engine.Fail(engine.Script, "the %s of a note is %s, not a number", s.query.Fields.Importance, value.Shown(v))
		}
		all[i].Importance, all[i].Rated = f, true
	}
	return all, nil
}

// record returns a recalled note.
func (s *search) record(n *note, c *retrieval.Candidate, b *retrieval.Score) (value.Value, error) {
	v, err := n.decoded()
	if err != nil {
		return nil, err
	}
	text, err := s.text(n)
	if err != nil {
		return nil, err
	}
	var cycle, importance value.Value = starlark.None, starlark.None
	if n.kept.Cycle >= 0 {
		cycle = starlark.MakeInt(n.kept.Cycle)
	}
	if c.Rated {
		importance = starlark.Float(c.Importance)
	}
	return shape.Record(starlark.String(text), cycle, starlark.Float(b.Score), starlark.Float(b.Similarity), starlark.Float(b.Recency), importance, v), nil
}
