// Package completion completes command lines of throngctl for shells.
package completion

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Completer completes command lines.
type Completer struct {
	Root *kong.Node // the program, with its commands and flags
	Data string     // the data folder, unless the command line names another
}

// Candidate is a completion of a word.
type Candidate struct{ Value, About string }

// typing is the state of a command line before its last word.
type typing struct {
	node *kong.Node
	args int        // positional arguments before the last word
	flag *kong.Flag // the flag whose value the last word is, or nil
	data string     // the folder given with --data
}

// Complete returns the completions of the last word.
func (c Completer) Complete(ctx context.Context, words []string) (found []Candidate) {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "=" }) // bash splits words at =
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	at := c.follow(words[:len(words)-1])
	if at.data != "" {
		c.Data = at.data
	}
	name, value, joined := strings.Cut(last, "=")
	switch {
	case at.flag != nil:
		found = c.values(ctx, at.flag)
	case joined && strings.HasPrefix(name, "--"):
		last = value
		if f := flags.Flag(at.node, name); f != nil {
			found = c.values(ctx, f)
		}
		for i := range found {
			found[i].Value = name + "=" + found[i].Value
		}
		last = name + "=" + value
	case strings.HasPrefix(last, "-"):
		for n := at.node; n != nil; n = n.Parent {
			for _, f := range n.Flags {
				if !f.Hidden {
					found = append(found, Candidate{"--" + f.Name, f.Help})
				}
			}
		}
	case len(at.node.Children) > 0:
		for _, child := range at.node.Children {
			if !child.Hidden {
				found = append(found, Candidate{child.Name, child.Help})
			}
		}
	default:
		found = c.arguments(ctx, at)
	}
	found = slices.DeleteFunc(found, func(one Candidate) bool { return !strings.HasPrefix(one.Value, last) })
	for i := range found {
		found[i].About, _, _ = strings.Cut(found[i].About, "\n")
	}
	return found
}

// follow parses the words before the last one.
func (c Completer) follow(words []string) typing {
	at := typing{node: c.Root}
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case strings.HasPrefix(word, "-"):
			name, value, joined := strings.Cut(word, "=")
			f := flags.Flag(at.node, name)
			if f == nil || f.IsBool() || joined {
				if f != nil && f.Name == "data" {
					at.data = value
				}
				continue
			}
			if i+1 == len(words) {
				at.flag = f
				continue
			}
			if f.Name == "data" {
				at.data = words[i+1]
			}
			if !flags.OptionalValue(f) || flags.IsValue(f, words[i+1]) {
				i++
			}
		default:
			child := flags.Child(at.node, word)
			switch {
			case child == nil && len(at.node.Children) > 0: // unknown command
				return typing{node: &kong.Node{}}
			case child == nil:
				at.args++
				continue
			}
			at.node = child
		}
	}
	return at
}

// values returns the possible values of a flag, or none if they are unknown or unlimited.
func (c Completer) values(ctx context.Context, f *kong.Flag) (found []Candidate) {
	switch f.Target.Interface().(type) {
	case flags.Switch:
		return []Candidate{{"on", ""}, {"off", ""}}
	case flags.Earlier:
		return append([]Candidate{{string(flags.Newest), "the newest run"}}, c.runs(ctx)...)
	}
	switch f.Name {
	case "governor":
		for _, g := range engine.Governors {
			found = append(found, Candidate{g.Name, ""})
		}
	case "breaker":
		for _, way := range engine.Breakers {
			found = append(found, Candidate{way, ""})
		}
	case "state":
		for _, o := range show.Endings {
			found = append(found, Candidate{o.String(), ""})
		}
	case "replay":
		return c.runs(ctx)
	case "set":
		// // the scenario, which defines parameters, is not read here
	default:
		for value := range strings.SplitSeq(f.Enum, ",") {
			if value != "" {
				found = append(found, Candidate{value, ""})
			}
		}
	}
	return found
}

// arguments returns the possible values of a positional argument.
func (c Completer) arguments(ctx context.Context, at typing) (found []Candidate) {
	if len(at.node.Positional) == 0 {
		return nil
	}
	arg := at.node.Positional[min(at.args, len(at.node.Positional)-1)]
	switch arg.Name {
	case "run":
		return c.runs(ctx)
	case "file":
		for _, name := range authoring.BuiltIn() {
			found = append(found, Candidate{name, "built in"})
		}
	case "topic":
		for _, p := range assets.Pages() {
			found = append(found, Candidate{p.Topic, p.Title})
		}
	case "schema":
		for _, s := range answer.Schemas() {
			found = append(found, Candidate{s.Name, ""})
		}
	case "setting":
		for _, s := range config.Settings {
			found = append(found, Candidate{s.Name + "=", s.Help})
		}
	case "name=value":
		for _, name := range engine.LiveSettings() {
			found = append(found, Candidate{name + "=", ""})
		}
	case "shell":
		for value := range strings.SplitSeq(arg.Enum, ",") {
			found = append(found, Candidate{value, ""})
		}
	}
	return found
}

// runs returns the IDs of the runs in the store, newest first, and the names that only one run has. It returns none if the store cannot be
// read.
func (c Completer) runs(ctx context.Context) (found []Candidate) {
	if !sqlite.Exists(c.Data) {
		return nil
	}
	store, err := sqlite.Open(c.Data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil
	}
	defer func() { _ = store.Close() }() // opened for reading
	all, err := store.Runs(ctx)
	if err != nil {
		return nil
	}
	often := map[string]int{}
	for i := range all {
		r := &all[i]
		found = append(found, Candidate{string(r.ID), r.DisplayName() + ", " + r.State()})
		often[strings.ToLower(r.DisplayName())]++
	}
	for i := range all {
		r := &all[i]
		if often[strings.ToLower(r.DisplayName())] == 1 {
			found = append(found, Candidate{r.DisplayName(), string(r.ID) + ", " + r.State()})
		}
	}
	return found
}
