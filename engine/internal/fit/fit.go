// Package fit validates JSON documents against self-contained JSON Schemas.
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

// nowhere is a loader that loads nothing.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) { return nil, fmt.Errorf("%s is not in the schema", url) }

// Compile compiles a schema.
func Compile(raw json.RawMessage) (*Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(nowhere{})
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	const name = "https://schema.invalid/answer" // not a file of this machine, and never requested
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, inWords(err)
	}
	return &Schema{compiled}, nil
}

// Check returns an error that describes what is wrong with a document, in one or two sentences; nil if it is valid.
func (s *Schema) Check(document []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return fmt.Errorf("it is not a JSON document: %w", err)
	}
	return inWords(s.compiled.Validate(value))
}

// inWords describes what is wrong with a document, which may be a schema.
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
	mostLeaves = 5   // errors reported for a document
	mostText   = 300 // bytes of an error: a document may have long names
)

var english = message.NewPrinter(language.English)

// leaves lists the errors with their places.
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
	if len(problem) > mostText {
		problem = strings.ToValidUTF8(problem[:mostText], "") + "…"
	}
	return append(all, problem)
}
