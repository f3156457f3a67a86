package main

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
)

// schemaCmd prints JSON Schemas.
type schemaCmd struct {
	Topic string `arg:"" optional:"" name:"schema" help:"Name of the schema; without it, the one of scenario files."`
	List  bool   `help:"List all schemas."`
	jsonFlag
}

// Run is called by kong.
func (c *schemaCmd) Run(t *terminal) error {
	all := answer.Schemas()
	switch {
	case c.List && t.json:
		return t.print(all)
	case c.List:
		w := show.NewTable(t.out)
		for _, s := range all {
			show.Row(w, "%s\t%s\n", s.Name, s.ID)
		}
		return w.Flush()
	case c.Topic == "" || c.Topic == answer.ScenarioSchema:
		text, err := fs.ReadFile(assets.Scenarios(), "schema.json")
		if err != nil {
			return fmt.Errorf("read the schema of scenarios: %w", err)
		}
		fmt.Fprint(t.out, string(text))
		return nil
	}
	s, ok := answer.NewSchema(c.Topic)
	if !ok {
		var names []string
		for _, s := range all {
			names = append(names, s.Name)
		}
		return &engine.FieldError{Field: "schema", Problem: fmt.Sprintf("no such schema: %s", c.Topic), Hint: "choose one of " + strings.Join(names, ", ")}
	}
	return t.print(s)
}
