package chain

import (
	"strconv"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/openai"
)

// embedding is an embed step. Its output is a record with the model and the vector of a text, or the vectors of a list
// of texts.
type embedding struct {
	service *Service
	input   expr.Value
	size    int // 0 means the model's default
}

// maxTexts is how many texts one call may embed.
const maxTexts = 2048

func readEmbed(r *reader, n *doc.Node) action {
	n.Require("service", "input")
	s := r.serviceOf(n.Get("service"), "llm")
	if s != nil && s.Wire.Chats {
		n.Get("service").Errorf("a service of another provider, such as `provider: openai`", "the service %s has no embeddings: `api: %s` has none", s.Name, s.Wire.Name)
	}
	return &embedding{
		service: s, input: r.Data(n.Get("input"), "input"), size: n.Get("dimensions").Int(1, 100_000),
	}
}

func (e *embedding) changes() *Service { return nil }

var (
	vectorShape  = value.NewShape("vector", "model")
	vectorsShape = value.NewShape("vectors", "model")
)

func (e *embedding) asks() ([]*Service, odds.Odds) { return []*Service{e.service}, odds.Surely }

func (e *embedding) run(t *turn) (value.Value, error) {
	v, err := e.input.Eval(t)
	if err != nil {
		return nil, err
	}
	texts, many, err := textsOf(v)
	if err != nil {
		return nil, err
	}
	s := t.bound(e.service)
	model := s.Embeds
	if model == "" {
		model = s.Models[0]
	}
	if len(texts) == 0 {
		return vectorsShape.Record(value.NewList(nil), starlark.String(model)), nil
	}
	ask := openai.Embedding{Header: make(map[string][]string), Model: model, Texts: texts, Dimensions: e.size}
	if err := s.sign(t, ask.Header); err != nil {
		return nil, err
	}
	call := t.call(s)
	t.asked = true
	vectors, err := s.LLM.Embed(call, ask)
	t.record().Take(&call.Record)
	if err != nil {
		return nil, err
	}
	lists := make([]value.Value, len(vectors))
	for i, vector := range vectors {
		lists[i] = numbersOf(vector)
	}
	if !many {
		return value.Data(vectorShape.Record(lists[0], starlark.String(model)))
	}
	return value.Data(vectorsShape.Record(value.NewList(lists), starlark.String(model)))
}

// textsOf returns the texts to embed: one, or a list.
func textsOf(v value.Value) (texts []string, many bool, err error) {
	list, many := v.(*starlark.List)
	if !many {
		list = starlark.NewList([]starlark.Value{v})
	}
	if list.Len() > maxTexts {
		return nil, many, engine.Fail(engine.Script, "%d texts in one embed step; at most %d", list.Len(), maxTexts)
	}
	size := 0
	for item := range list.Elements() {
		text, err := value.Text(item)
		if err != nil {
			return nil, many, err
		}
		if text == "" {
			return nil, many, engine.Fail(engine.Script, "an empty text has no embedding")
		}
		texts = append(texts, text)
		if size += len(text); size > expr.MaxSent {
			return nil, many, expr.TooMuchSent("texts")
		}
	}
	return texts, many, nil
}

// numbersOf returns the numbers of a vector with the digits of a float32.
func numbersOf(vector []float32) value.Value {
	numbers := make([]value.Value, len(vector))
	for i, f := range vector {
		exact, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
		if err != nil { // it is a number
			exact = float64(f)
		}
		numbers[i] = starlark.Float(exact)
	}
	return value.NewList(numbers)
}
