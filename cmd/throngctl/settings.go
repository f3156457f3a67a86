package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
)

// settingsCmd shows the current settings, or saves some.
type settingsCmd struct {
	File   string   `placeholder:"FILE" help:"Show the settings for this scenario."`
	Change []string `arg:"" optional:"" name:"setting" help:"name=value saves a setting, name= removes it."`
	jsonFlag
	flags.Settings
	flags.Adaptive
	flags.Fixed
	databaseFlag
}

// Run is called by kong.
func (c *settingsCmd) Run(t *terminal) error {
	if err := c.save(t); err != nil {
		return err
	}
	all, err := c.inForce(t)
	if err != nil {
		return err
	}
	if t.json {
		return t.print(all)
	}
	w := show.NewTable(t.out)
	fmt.Fprintln(w, "SETTING\tVALUE\tFROM\tMEANING")
	for _, s := range all.Settings {
		show.Row(w, "%s\t%s\t%s\t%s\n", s.Name, s.Value, s.From, s.Meaning)
	}
	if all.CA != "" {
		fmt.Fprintf(t.err, "Imported CA: %s\n", all.CA)
	}
	show.Row(w, "data\t%s\t\tdata folder\n", all.Data)
	return w.Flush()
}

// save stores the given settings.
func (c *settingsCmd) save(t *terminal) error {
	if len(c.Change) == 0 {
		return nil
	}
	changes := map[string]string{}
	for _, change := range c.Change {
		name, value, ok := strings.Cut(change, "=")
		if !ok {
			return &engine.FieldError{Field: change, Problem: "expected name=value", Hint: "for example max-concurrent=50"}
		}
		changes[name] = value
	}
	return config.Save(t.data, changes)
}

// inForce returns the settings that a run would have, with these flags and this scenario.
func (c *settingsCmd) inForce(t *terminal) (all answer.Settings, err error) {
	from := config.Sources{Data: t.data, Flags: c.Into(flags.Given(c.Settings.Plugins, c.Fixed.Plugins)), Debug: t.debug}
	maps.Copy(from.Flags, c.flags())
	if c.File != "" {
		s, err := authoring.Load(c.File, nil)
		if err != nil {
			return all, err
		}
		from.File = s.Settings()
	}
	origins, err := from.InForce()
	if err != nil {
		return all, err
	}
	for i := range config.Settings {
		s := &config.Settings[i]
		o := origins[s.Name]
		all.Settings = append(all.Settings, answer.Setting{Name: s.Name, Value: o.Value, From: o.Source(), Meaning: s.Help, Env: s.Env, Not: s.EnvNot})
	}
	if ca, err := config.SavedCA(t.data); err != nil {
		fmt.Fprintf(t.err, "Imported CA: %v\n", err)
	} else if ca != nil {
		all.CA = ca.String()
	}
	all.Data = filepath.Clean(t.data)
	return all, nil
}
