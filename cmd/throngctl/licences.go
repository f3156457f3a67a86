package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/throng-sim/throng/assets"
)

// licencesCmd shows under what terms the program and all that it is made of are used.
type licencesCmd struct {
	Name string `arg:"" optional:"" help:"Show the whole text of those whose name has this in it; all is all of them."`
}

// Run is called by kong.
func (c *licencesCmd) Run(t *terminal) error {
	all, err := assets.Licences()
	if err != nil {
		return err
	}
	if c.Name == "" {
		w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
		for _, l := range all {
			fmt.Fprintf(w, "%s\t%s\t%s\n", l.Module, l.Version, l.Kind)
		}
		return w.Flush()
	}
	found := false
	for _, l := range all {
		if c.Name != "all" && !strings.Contains(strings.ToLower(l.Module), strings.ToLower(c.Name)) {
			continue
		}
		found = true
		fmt.Fprintln(t.out, l)
	}
	if !found {
		return fmt.Errorf("nothing that is called %s is linked; throngctl licences lists what is", c.Name)
	}
	return nil
}
