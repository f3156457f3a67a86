package scenario

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/extra"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/suggest"
)

// models reads what a service of kind llm has: a provider, or an address; and its models.
func (r serviceReader) models(s *chain.Service, n *doc.Node) {
	p := r.provider(n)
	s.URL, s.Free, s.Bearer, s.Embeds = p.URL, p.Free, p.Secret, p.Embeds
	if u := n.Get("url"); u != nil {
		if text, ok := r.constantText(u); ok && text != "" {
			s.URL = r.url(u, "model")
		}
	}
	if s.URL == "" && n.Get("url") == nil && n.Get("provider") == nil {
		n.Errorf("`provider: openrouter`, or `url: https://llm.example.com/v1`", "a service of models without an address")
	}
	for _, m := range listOf(n.Get("model")) {
		if text, ok := r.constantText(m); ok && text != "" {
			s.Models = append(s.Models, text)
		}
	}
	if strings.HasPrefix(s.URL, Mock) && p.Model == "" {
		p = service.Providers[0]
	}
	s.Spans.Provider = p.Name
	if len(s.Models) == 0 && p.Model != "" {
		s.Models, s.Unnamed = []string{p.Model}, true
	}
	if len(s.Models) == 0 && s.URL != "" {
		n.Errorf("`model: NAME`, or a list that is tried in order", "which model is to answer?")
	}
	s.Named = s.Models
	s.Wire = service.APIs[p.API]
	if a := n.Get("api"); a != nil {
		names := service.APINames()
		s.Wire = service.APIs[max(slices.Index(names, a.OneOf(names...)), 0)]
	}
	if e := n.Get("embedding_model"); e != nil {
		if text, ok := r.constantText(e); ok && text != "" {
			s.Embeds = text
		}
	}
	if a := n.Get("answers"); a != nil {
		s.Answers = chain.Answers(max(slices.Index(chain.AnswersNames, a.OneOf(chain.AnswersNames...)), 0))
	}
	if e := n.Get("reasoning_effort"); e != nil {
		if text, ok := r.constantText(e); ok && text != "" {
			if err := extra.CheckEffort(text); err != nil {
				e.Errorf("low, medium or high", "%v", err)
			}
			s.Effort = text
		}
	}
	s.Extra = r.chains.Extra(n.Get("extra"))
	r.modelAuth(s, n.Get("auth"))
}

// modelAuth reads the key of a service of models.
func (r serviceReader) modelAuth(s *chain.Service, n *doc.Node) {
	s.User = r.agentID()
	n.Fields("bearer", "basic", "header")
	if way := n.Only("bearer", "basic", "header"); way.Key != nil && way.Key.Text() != "bearer" {
		s.Bearer = ""
		r.chains.Key(s, way.Key.Text(), way.Value, outside)
	}
	if b := n.Get("bearer"); b != nil {
		s.Bearer = expr.SecretName(b)
	}
}

// provider returns the provider that a service names; an empty name is a generic one.
func (r serviceReader) provider(n *doc.Node) (p service.Provider) {
	at := n.Get("provider")
	if at == nil {
		return p
	}
	name, ok := r.constantText(at)
	if !ok || name == "" {
		return p
	}
	var names []string
	for _, p := range service.Providers {
		if p.Name == name {
			return p
		}
		names = append(names, p.Name)
	}
	hint := strings.Join(names, ", ") + "; or `url`"
	at.Guess(suggest.NewGuess(name, names, hint).And(hint)).Errorf("there is no provider %s", name)
	return p
}

func listOf(n *doc.Node) []*doc.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind() == doc.List:
		return n.List()
	}
	return []*doc.Node{n}
}
