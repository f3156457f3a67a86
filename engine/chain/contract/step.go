package contract

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/openapi"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/suggest"
)

// Service is what a check needs to know of the service of a step.
type Service struct {
	Name string
	URL  string
	API  *openapi.Document // nil if the file names none
}

// Read reads `check` of a step that sends endpoint, such as "GET /baskets/{}"; "" if its path is not known. It returns nil for no check,
// or after a mistake.
func Read(n *doc.Node, s Service, endpoint string) *Check {
	if n.OneOf("schema") != "schema" || s.Name == "" || endpoint == "" {
		return nil
	}
	if s.API == nil {
		n.Errorf("add `openapi: FILE` to the service", "the service %s has no OpenAPI document to check answers against", s.Name)
		return nil
	}
	op, guess, problem := find(s, endpoint)
	if op == nil {
		n.Guess(guess).Errorf("%s", problem)
		return nil
	}
	c, err := Of(op)
	if err != nil {
		n.Errorf("correct the document, or remove `check`", "%v", err)
	}
	return c
}

// find finds the operation of an endpoint, whose path counts from the address of the service.
func find(s Service, endpoint string) (*openapi.Operation, suggest.Guess, string) {
	method, path, _ := strings.Cut(endpoint, " ")
	m, allowed := s.API.Find(method, path)
	if m == nil {
		if u, err := url.Parse(s.URL); err == nil && strings.Trim(u.Path, "/") != "" {
			m, _ = s.API.Find(method, strings.TrimSuffix(u.Path, "/")+path)
		}
	}
	switch {
	case m != nil:
		return m.Operation, suggest.Guess{}, ""
	case len(allowed) > 0:
		return nil, suggest.Guess{Hint: "it has " + strings.Join(allowed, ", ")}, fmt.Sprintf("the OpenAPI document of %s has no %s of %s", s.Name, method, path)
	}
	var known []string
	for _, op := range s.API.Operations {
		if op.Method == method {
			known = append(known, op.Path)
		}
	}
	return nil, suggest.NewGuess(path, known, "`throngctl import` lists its operations"), fmt.Sprintf("the OpenAPI document of %s has no %s %s", s.Name, method, path)
}

// Fulfilled returns a failure of class contract if an answer differs from the document. A nil check accepts everything. The journal has
// the same answer, so a replay ends the same.
func (c *Check) Fulfilled(a *service.Answer, private bool) error {
	if c == nil || a == nil {
		return nil
	}
	err := c.Answer(a.Status, a.Header.Get("Content-Type"), a.Body)
	switch {
	case err == nil:
		return nil
	case private:
		return engine.Fail(engine.Contract, "the answer, which is private, does not fit the OpenAPI document")
	}
	return &engine.StepError{Class: engine.Contract, Err: err}
}
