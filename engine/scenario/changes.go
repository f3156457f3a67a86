package scenario

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

// Change is a place at which a scenario means something else than it did.
type Change struct {
	File string
	Line int    // as the file is now; 0 where it is not known, or not there any more
	What string // such as "chain shop, step browse, timeout"
}

func (c Change) String() string {
	if c.Line == 0 {
		return c.File + ": " + c.What
	}
	return fmt.Sprintf("%s:%d: %s", c.File, c.Line, c.What)
}

// Changes reports where the scenario's files differ in meaning from those stored with a run. Changes that do not
// affect a resumed run are ignored: comments and layout, titles and other texts for display, success criteria, the
// number of cycles, request rates, and defaults of parameters that the run sets.
func Changes(was, now engine.Source) (all []Change) {
	names := maps.Clone(was.Files)
	maps.Copy(names, now.Files)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, had := was.Files[name]
		after, has := now.Files[name]
		switch {
		case strings.HasPrefix(name, engine.OwnFiles) || name == PersonasName && !has || string(before) == string(after) && had == has:
		case name == now.Name:
			all = append(all, changesOf(&was, name, before, after)...)
		case !has:
			all = append(all, Change{name, 0, "is not used any more"})
		case !had:
			all = append(all, Change{name, 0, "is new"})
		case path.Ext(name) == ".star" && script.Same(string(before), string(after)):
		default:
			all = append(all, Change{name, differsAt(string(before), string(after)), "changed"})
		}
	}
	return all
}

// differsAt is the line at which a text begins to differ.
func differsAt(was, now string) int {
	before, after := strings.Split(was, "\n"), strings.Split(now, "\n")
	for i := range after {
		if i >= len(before) || before[i] != after[i] {
			return i + 1
		}
	}
	return len(after)
}

// changesOf are those of the scenario's own file.
func changesOf(kept *engine.Source, name string, before, after []byte) (all []Change) {
	was, now := doc.Parse(name, before, &doc.Report{}), doc.Parse(name, after, &doc.Report{})
	for _, d := range doc.Differ(was, now, immaterial) {
		all = append(all, Change{name, d.Line, strings.Join(d.Path, ", ")})
	}
	all = append(all, defaultsChanged(kept, was.Get("parameters"), now.Get("parameters"))...)
	if f := now.Get("functions"); !script.Same(was.Get("functions").Text(), f.Text()) {
		line, _ := f.Position()
		all = append(all, Change{name, line, "functions"})
	}
	slices.SortStableFunc(all, func(a, b Change) int { return a.Line - b.Line })
	return all
}

// immaterial reports whether a change does not affect a resumed run, or is compared elsewhere in more detail.
func immaterial(at []string) bool {
	switch at[0] {
	case "title", "about", "success", "validate_against", "parameters", "functions":
		return true
	case "clock":
		return len(at) == 2 && at[1] == "cycles"
	case "services":
		return len(at) == 4 && at[2] == "limits" && at[3] != "timeout"
	}
	return false
}

// defaultsChanged finds parameters that came, went or have another default which the run went by.
func defaultsChanged(kept *engine.Source, was, now *doc.Node) (all []Change) {
	for _, e := range was.Entries() {
		if now.Get(e.Key.Text()) == nil {
			all = append(all, Change{kept.Name, 0, "parameter " + e.Key.Text() + " is not there any more"})
		}
	}
	for _, e := range now.Entries() {
		name := e.Key.Text()
		line, _ := e.Value.Position()
		before := was.Get(name)
		if before == nil {
			all = append(all, Change{kept.Name, line, "parameter " + name + " is new"})
			continue
		}
		text, err := value.AppendJSON(nil, scalar(usual(before)))
		given := err == nil && string(text) != kept.Parameters[name]
		if !given && len(doc.Differ(usual(before), usual(e.Value), func([]string) bool { return false })) > 0 {
			all = append(all, Change{kept.Name, line, "default of parameter " + name})
		}
	}
	return all
}

// usual is the default of a parameter, which may have a short form.
func usual(n *doc.Node) *doc.Node {
	if n.Kind() == doc.Map {
		return n.Get("default")
	}
	return n
}
