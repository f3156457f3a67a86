// Package contract checks answers against the responses that an OpenAPI document describes for an operation.
package contract

import (
	"errors"
	"fmt"
	"mime"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/openapi"
)

// Check checks the answers of one operation. It is safe for concurrent use.
type Check struct {
	operation string              // "GET /orders/{id}"
	responses map[string]response // by status: "200", "2XX" or "default"
	statuses  []string            // in the order of the document
}

// response is what a document says about one answer.
type response struct {
	types  []string // content types; empty if there is no body
	schema *openapi.Validator
}

// Of compiles the schemas of an operation's responses. Schemas that cannot be compiled are an error.
func Of(op *openapi.Operation) (*Check, error) {
	c := &Check{operation: op.Key(), responses: map[string]response{}}
	for _, r := range op.Responses {
		of := response{}
		for _, m := range r.Media {
			of.types = append(of.types, strings.ToLower(m.Type))
		}
		if m := openapi.JSON(r.Media); m != nil && m.Schema != nil {
			var err error
			if of.schema, err = m.Schema.Compile(openapi.OfResponse); err != nil {
				return nil, fmt.Errorf("the schema of the response %s of %s: %w", r.Status, op.Key(), err)
			}
		}
		c.responses[r.Status] = of
		c.statuses = append(c.statuses, r.Status)
	}
	return c, nil
}

// Answer returns how an answer differs from the document, or nil. The text repeats no values of the answer.
func (c *Check) Answer(status int, contentType string, body []byte) error {
	r, ok := c.response(status)
	switch {
	case !ok && len(c.statuses) == 0:
		return nil
	case !ok:
		return fmt.Errorf("the API description has no answer %d for %s, only %s", status, c.operation, strings.Join(c.statuses, ", "))
	case len(r.types) == 0 || status == 204 || status == 304:
		return nil
	case len(body) == 0 && r.schema != nil:
		return errors.New("the body is empty, expected JSON")
	case len(body) == 0:
		return nil
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = strings.TrimSpace(contentType)
	}
	if !accepts(r.types, kind) {
		return fmt.Errorf("got a body of type %s, expected %s", orNone(kind), strings.Join(r.types, " or "))
	}
	if r.schema == nil || !openapi.IsJSON(kind) {
		return nil
	}
	if err := r.schema.Check(body); err != nil {
		return fmt.Errorf("the body does not fit its schema: %w", err)
	}
	return nil
}

func orNone(kind string) string {
	const most = 60
	switch {
	case kind == "":
		return "unknown"
	case len(kind) > most:
		return strings.ToValidUTF8(kind[:most], "") + "…"
	}
	return kind
}

// response returns what the document says about a status.
func (c *Check) response(status int) (response, bool) {
	for _, key := range []string{strconv.Itoa(status), strconv.Itoa(status/100) + "XX", "default"} {
		if r, ok := c.responses[key]; ok {
			return r, true
		}
	}
	return response{}, false
}

// accepts reports whether a content type is one of those of a document. All types of JSON are alike: problem+json is a refinement.
func accepts(types []string, kind string) bool {
	kind = strings.ToLower(kind)
	for _, t := range types {
		t, _, _ = strings.Cut(t, ";")
		group, all := strings.CutSuffix(strings.TrimSpace(t), "*")
		if strings.TrimSpace(t) == kind || all && strings.HasPrefix(kind, strings.TrimSuffix(group, "*/")) || openapi.IsJSON(t) && openapi.IsJSON(kind) {
			return true
		}
	}
	return false
}
