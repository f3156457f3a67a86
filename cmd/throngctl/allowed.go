package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/visible"
)

// allowedCmd lists the addresses that scenario files may call.
type allowedCmd struct {
	File   string `arg:"" optional:"" help:"Scenario file (default: all files)."`
	Forget bool   `help:"Revoke the permissions of the file."`
	jsonFlag
}

// Run is called by kong.
func (c *allowedCmd) Run(t *terminal) error {
	table := app.Consents(t.data)
	var all []consent.Granted
	for _, g := range table.All() {
		if c.File == "" || g.File == c.File || g.File == absolute(c.File) || g.File == engine.BuiltIn+authoring.FileName(c.File) {
			all = append(all, g)
		}
	}
	if c.Forget {
		return c.forget(t, table, all)
	}
	if t.json {
		list := []answer.Allowed{}
		for _, g := range all {
			list = append(list, answer.Allowed{File: g.File, Addresses: g.Grants})
		}
		return t.print(list)
	}
	if len(all) == 0 {
		fmt.Fprintln(t.out, "No addresses are allowed by hand. A file that Throng wrote may call this machine, with its secrets, until the file is edited.")
		return nil
	}
	w := show.NewTable(t.out)
	for _, g := range all {
		fmt.Fprintln(w, visible.Line(g.File))
		for _, to := range g.Grants {
			fmt.Fprintf(w, "  %s\t%s\t%s\n", visible.Line(to.Address), to.At.Local().Format("2006-01-02 15:04"), visible.Line(strings.Join(to.Secrets, ", ")))
		}
	}
	return w.Flush()
}

func (c *allowedCmd) forget(t *terminal, table *consent.Table, all []consent.Granted) error {
	if c.File == "" {
		return &engine.FieldError{Field: "forget", Problem: "no file given", Hint: "for example: throngctl allowed shop.yaml --forget"}
	}
	if len(all) == 0 && !t.json {
		fmt.Fprintf(t.out, "%s has no permissions.\n", visible.Line(c.File))
	}
	list := []answer.Allowed{}
	for _, g := range all {
		if err := table.Forget(g.File); err != nil {
			return err
		}
		if !t.json {
			fmt.Fprintf(t.out, "%s may call nothing outside Throng until it is allowed again.\n", visible.Line(g.File))
		}
		list = append(list, answer.Allowed{File: g.File, Addresses: []consent.Grant{}})
	}
	if t.json {
		return t.print(list)
	}
	return nil
}

// absolute returns the absolute path of a file, the key of its permissions.
func absolute(file string) string {
	if path, err := filepath.Abs(file); err == nil {
		return path
	}
	return file
}
