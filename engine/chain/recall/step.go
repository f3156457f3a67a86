package recall

import (
	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/prompt"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/retrieval"
	"github.com/throng-sim/throng/engine/script/value"
)

// Step holds the keys of a recall step.
type Step struct {
	Size int // requested length of embeddings; 0 is the model's default

	query   expr.Value
	top     expr.Value
	numbers [len(numbers)]expr.Value
	fields  Fields
}

// numbers are the weights of a score with the decay of recency, their largest values, and their defaults: those of Generative Agents.
var numbers = [...]struct {
	name           string
	most, standard float64
}{{"similarity", 1000, 1}, {"recency", 1000, 1}, {"importance", 1000, 1}, {"decay", 1, 0.995}}

// usualTop is how many notes are recalled by default.
const usualTop = 5

// Read reads the keys of a step, except for its service.
func Read(c *expr.Compiler, n *doc.Node) *Step {
	s := &Step{
		query: c.Data(n.Get("query"), "query"), top: c.Data(n.Get("top"), "top"),
		fields: Fields{Text: "text", Importance: "importance"}, Size: n.Get("dimensions").Int(1, retrieval.MostNumbers),
	}
	if v, ok := s.query.(expr.Const); ok && v.V == starlark.String("") {
		n.Get("query").Errorf("a text, such as `${agent.memory.plan}`", "the query is empty")
	}
	if v, ok := s.top.(expr.Const); ok && v.V != nil {
		if _, err := topOf(v.V); err != nil {
			n.Get("top").Errorf("", "%v", err)
		}
	}
	weights, fields := n.Get("weights"), n.Get("fields")
	weights.Fields("similarity", "recency", "importance")
	for i, of := range numbers {
		at := weights
		if of.name == "decay" {
			at = n
		}
		s.numbers[i] = prompt.ReadNumber(c, at.Get(of.name), of.name, of.most)
	}
	fields.Fields("text", "importance")
	for name, to := range map[string]*string{"text": &s.fields.Text, "importance": &s.fields.Importance} {
		if at := fields.Get(name); at != nil {
			*to = at.Text()
		}
	}
	return s
}

// topOf reads how many notes to recall.
func topOf(v value.Value) (int, error) {
	if i, ok := v.(starlark.Int); ok {
		if n, ok := i.Int64(); ok && n >= 1 && n <= MostRecalled {
			return int(n), nil
		}
	}
	return 0, engine.Fail(engine.Script, "top is %s; it must be a number of notes from 1 to %d", value.Shown(v), MostRecalled)
}

// Query evaluates the query.
func (s *Step) Query(c expr.Contexts) (q Query, err error) {
	q = Query{Top: usualTop, Fields: s.fields, Size: s.Size}
	v, err := s.query.Eval(c)
	if err != nil {
		return q, err
	}
	if q.Text, err = value.Text(v); err != nil {
		return q, err
	}
	if s.top != nil {
		if v, err = s.top.Eval(c); err != nil {
			return q, err
		}
		if q.Top, err = topOf(v); err != nil {
			return q, err
		}
	}
	w := &q.Weights
	for i, to := range [...]*float64{&w.Similarity, &w.Recency, &w.Importance, &w.Decay} {
		if *to = numbers[i].standard; s.numbers[i] == nil {
			continue
		}
		if *to, err = prompt.Number(c, s.numbers[i], numbers[i].name, numbers[i].most); err != nil {
			return q, err
		}
	}
	return q, nil
}
