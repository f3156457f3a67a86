package main

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/completion"
	"github.com/throng-sim/throng/cmd/throngctl/internal/manual"
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
	case answer.SchemaFile(c.Topic) != "":
		text, err := fs.ReadFile(assets.Scenarios(), answer.SchemaFile(c.Topic))
		if err != nil {
			return fmt.Errorf("read the schema: %w", err)
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

// completionCmd prints a completion script.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"Shell: bash, zsh, fish or powershell."`
}

// The scripts call throngctl __complete. If it returns nothing, the shell completes file names.
var (
	//go:embed completion/bash.sh
	forBash string
	//go:embed completion/zsh.sh
	forZsh string
	//go:embed completion/fish.fish
	forFish string
	//go:embed completion/powershell.ps1
	forPowerShell string
)

// Run is called by kong.
func (c *completionCmd) Run(t *terminal) error {
	_, err := fmt.Fprint(t.out, map[string]string{"bash": forBash, "zsh": forZsh, "fish": forFish, "powershell": forPowerShell}[c.Shell])
	return err
}

// completeCmd prints the completions of the last word: one a line, followed by a tab and its meaning.
type completeCmd struct {
	Last  *string  `help:"The last word, for shells that cannot pass an empty argument; it is not among the words then."`
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run is called by kong.
func (c *completeCmd) Run(ctx context.Context, t *terminal) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if c.Last != nil {
		words = append(words, *c.Last)
	}
	for _, one := range (completion.Completer{Root: model().Node, Data: t.data}).Complete(ctx, words) {
		fmt.Fprintf(t.out, "%s\t%s\n", one.Value, one.About)
	}
	return nil
}

// manCmd prints the manual page.
type manCmd struct{}

// Run is called by kong.
func (c *manCmd) Run(t *terminal) error {
	return manual.Write(t.out, model(), manual.Content{Steps: firstSteps, Exits: exits})
}

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
