// Package fit checks JSON documents against JSON Schemas that are whole in themselves.
package fit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct{ compiled *jsonschema.Schema }

// nowhere loads nothing.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) { return nil, fmt.Errorf("%s is not in the schema", url) }

// Compile reads a schema.
func Compile(raw json.RawMessage) (*Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	const name = "https://schema.invalid/answer" // no file of this machine, and never asked for
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, inWords(err)
	}
	return &Schema{compiled}, nil
}

// Check says what is wrong with a document, in a sentence or two; nil if it fits.
func (s *Schema) Check(document []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return fmt.Errorf("it is no JSON document: %w", err)
	}
	return inWords(s.compiled.Validate(value))
}

// inWords says what is wrong with a document, which may be a schema.
func inWords(err error) error {
	if of, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		err = of.Err
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	return errors.New(strings.Join(leaves(invalid, nil), "; "))
}

const (
	mostLeaves = 5   // mistakes of a document that are told
	mostTold   = 300 // bytes of one: a document may have long names
)

var english = message.NewPrinter(language.English)

// leaves lists what is wrong where.
func leaves(e *jsonschema.ValidationError, all []string) []string {
	if len(all) >= mostLeaves {
		return all
	}
	for _, cause := range e.Causes {
		all = leaves(cause, all)
	}
	if len(e.Causes) > 0 {
		return all
	}
	problem := e.ErrorKind.LocalizedString(english)
	if at := strings.Join(e.InstanceLocation, "."); at != "" {
		problem = at + ": " + problem
	}
	if len(problem) > mostTold {
		problem = strings.ToValidUTF8(problem[:mostTold], "") + "…"
	}
	return append(all, problem)
}
