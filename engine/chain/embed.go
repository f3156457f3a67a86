package chain

import (
	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/embedding"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/openai"
)

// embed is an embed step. Its output is a record with the model and the vector of a text, or the vectors of a list
// of texts.
type embed struct {
	service *Service
	input   expr.Value
	size    int // 0 means the model's default
}

func readEmbed(r *reader, n *doc.Node) action {
	n.Require("service", "input")
	return &embed{
		service: r.embedder(n.Get("service")), input: r.Data(n.Get("input"), "input"), size: n.Get("dimensions").Int(1, 100_000),
	}
}

// embedder returns the service of a step that embeds texts; nil if it is not known.
func (r *reader) embedder(n *doc.Node) *Service {
	s := r.serviceOf(n, "llm")
	if s != nil && s.Wire.Chats {
		n.Errorf("a service of another provider, such as `provider: openai`", "the service %s has no embeddings: `api: %s` has none", s.Name, s.Wire.Name)
	}
	return s
}

// embedModel returns the model for embeddings.
func (s *Service) embedModel() string {
	if s.Embeds == "" {
		return s.Models[0]
	}
	return s.Embeds
}

func (e *embed) changes() *Service { return nil }

var (
	vectorShape  = value.NewShape("vector", "model")
	vectorsShape = value.NewShape("vectors", "model")
)

func (e *embed) asks() ([]*Service, odds.Odds) { return []*Service{e.service}, odds.Surely }

func (e *embed) run(t *turn) (value.Value, error) {
	v, err := e.input.Eval(t)
	if err != nil {
		return nil, err
	}
	texts, many, err := embedding.Texts(v)
	if err != nil {
		return nil, err
	}
	s := t.bound(e.service)
	model := s.embedModel()
	if len(texts) == 0 {
		return vectorsShape.Record(value.NewList(nil), starlark.String(model)), nil
	}
	vectors, err := t.embed(s, t.path, texts, e.size)
	if err != nil {
		return nil, err
	}
	lists := make([]value.Value, len(vectors))
	for i, vector := range vectors {
		lists[i] = embedding.Numbers(vector)
	}
	if !many {
		return value.Data(vectorShape.Record(lists[0], starlark.String(model)))
	}
	return value.Data(vectorsShape.Record(value.NewList(lists), starlark.String(model)))
}

// embed asks a service, as bound, for the vectors of texts, in one call with a path of its own in the journal. All have the same length:
// size, unless it is 0.
func (t *turn) embed(s *Service, path string, texts []string, size int) ([][]float32, error) {
	ask := openai.Embedding{Header: make(map[string][]string), Model: s.embedModel(), Texts: texts, Dimensions: size}
	if err := s.sign(t, ask.Header); err != nil {
		return nil, err
	}
	call := t.call(s)
	call.Path = path
	t.asked = true
	vectors, err := s.LLM.Embed(call, ask)
	t.record().Take(&call.Record)
	if err == nil && size > 0 && len(vectors[0]) != size {
		return nil, engine.Fail(engine.BadAnswer, "the model %s returned embeddings of %d numbers, not %d: it may not support `dimensions`", ask.Model, len(vectors[0]), size)
	}
	return vectors, err
}
