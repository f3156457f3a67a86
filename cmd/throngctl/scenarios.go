package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/suggest"
)

// scenariosCmd lists, shows and copies the built-in scenarios.
type scenariosCmd struct {
	Name string `arg:"" optional:"" name:"file" help:"Built-in scenario to show (default: list all)."`
	Copy string `placeholder:"DIR" help:"Copy its files to this folder; existing files are kept."`
	jsonFlag
}

// Run is called by kong.
func (c *scenariosCmd) Run(t *terminal) error {
	if c.Name == "" {
		if c.Copy != "" {
			return &engine.FieldError{Field: "--copy", Problem: "no scenario given", Hint: "for example: throngctl scenarios shopping --copy DIR"}
		}
		return c.list(t)
	}
	if !slices.Contains(authoring.BuiltIn(), c.Name) {
		return &engine.FieldError{Field: "file", Problem: "no built-in scenario " + c.Name, Hint: strings.TrimSpace(suggest.Hint(c.Name, authoring.BuiltIn()) + " choose " + strings.Join(authoring.BuiltIn(), ", "))}
	}
	one, err := scenarioOf(c.Name)
	if err != nil {
		return err
	}
	if c.Copy != "" {
		return c.copy(t, one)
	}
	if t.json {
		return t.print([]answer.BuiltIn{one.Texts()})
	}
	for i, name := range slices.Sorted(maps.Keys(one.Files)) {
		if i > 0 {
			fmt.Fprintln(t.out)
		}
		if text := one.Files[name]; utf8.ValidString(text) {
			fmt.Fprintf(t.out, "# %s\n%s", name, text)
		} else {
			fmt.Fprintf(t.out, "# %s (%s, not a text; --copy copies it)\n", name, engine.FormatBytes(int64(len(text))))
		}
	}
	return nil
}

func scenarioOf(name string) (answer.BuiltIn, error) {
	s, err := authoring.Load(engine.BuiltIn+authoring.FileName(name), nil)
	if err != nil {
		return answer.BuiltIn{}, err
	}
	one := answer.BuiltIn{Name: name, Title: s.Title, About: s.About, Files: map[string]string{}}
	for file, text := range s.Source.Files {
		if !strings.HasPrefix(file, engine.OwnFiles) {
			one.Files[file] = string(text)
		}
	}
	return one, nil
}

func (c *scenariosCmd) list(t *terminal) error {
	all := []answer.BuiltIn{}
	for _, name := range authoring.BuiltIn() {
		one, err := scenarioOf(name)
		if err != nil {
			return err
		}
		one.Files = nil
		all = append(all, one)
	}
	if t.json {
		return t.print(all)
	}
	w := show.NewTable(t.out)
	for _, one := range all {
		show.Row(w, "%s\t%s\t%s\n", one.Name, one.Title, one.About)
	}
	return w.Flush()
}

// copy writes the files of a scenario to a folder. If one exists, it writes none.
func (c *scenariosCmd) copy(t *terminal, one answer.BuiltIn) error {
	names := slices.Sorted(maps.Keys(one.Files))
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(c.Copy, name)); err == nil {
			return &engine.FieldError{Field: "--copy", Problem: filepath.Join(c.Copy, name) + " already exists", Hint: "nothing was written; choose another folder"}
		}
	}
	for _, name := range names {
		path := filepath.Join(c.Copy, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(one.Files[name]), 0o644); err != nil {
			return err
		}
	}
	if t.json {
		return t.print([]answer.BuiltIn{one.Texts()})
	}
	own := filepath.Join(c.Copy, authoring.FileName(one.Name))
	_, err := fmt.Fprintf(t.out, "Copied %s. Next: throngctl validate %s\n", strings.Join(names, ", "), own)
	return err
}
