package main

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
)

// licensesCmd prints the licenses of the program and its dependencies.
type licensesCmd struct {
	Name string `arg:"" optional:"" help:"Print the full texts of components whose names contain this; \"all\" prints every text."`
	jsonFlag
}

// Run is called by kong.
func (c *licensesCmd) Run(t *terminal) error {
	all, err := assets.Licenses()
	if err != nil {
		return err
	}
	found := []answer.License{}
	for _, l := range all {
		switch {
		case c.Name == "":
			found = append(found, answer.License{Module: l.Module, Version: l.Version, License: l.Kind, Text: ""})
		case c.Name == "all", strings.Contains(strings.ToLower(l.Module), strings.ToLower(c.Name)):
			found = append(found, answer.License{Module: l.Module, Version: l.Version, License: l.Kind, Text: l.Text})
		}
	}
	if len(found) == 0 {
		return &engine.FieldError{Field: "name", Problem: fmt.Sprintf("no component is named %s", c.Name), Hint: "list them with: throngctl licenses"}
	}
	if t.json {
		return t.print(found)
	}
	if c.Name != "" {
		for _, l := range found {
			fmt.Fprintln(t.out, assets.License{Module: l.Module, Version: l.Version, Kind: l.License, Text: l.Text})
		}
		return nil
	}
	w := show.NewTable(t.out)
	for _, l := range found {
		show.Row(w, "%s\t%s\t%s\n", l.Module, l.Version, l.License)
	}
	return w.Flush()
}
