package main

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// completionCmd prints a completion script.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"Shell: Shell: bash, zsh, fish or powershell."`
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
	for _, one := range t.complete(ctx, words) {
		fmt.Fprintf(t.out, "%s\t%s\n", one.value, one.about)
	}
	return nil
}

// candidate is a completion of a word.
type candidate struct{ value, about string }

// typing is the state of a command line before its last word.
type typing struct {
	node *kong.Node
	args int        // positional arguments before the last word
	flag *kong.Flag // the flag whose value the last word is, or nil
	data string     // the folder given with --data
}

// complete returns the completions of the last word.
func (t *terminal) complete(ctx context.Context, words []string) (found []candidate) {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "=" }) // bash passes it as a word
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	at := follow(words[:len(words)-1])
	if at.data != "" {
		t.data = at.data
	}
	name, value, joined := strings.Cut(last, "=")
	switch {
	case at.flag != nil:
		found = t.values(ctx, at.flag)
	case joined && strings.HasPrefix(name, "--"):
		last = value
		if f := flagOf(at.node, name); f != nil {
			found = t.values(ctx, f)
		}
		for i := range found {
			found[i].value = name + "=" + found[i].value
		}
		last = name + "=" + value
	case strings.HasPrefix(last, "-"):
		for n := at.node; n != nil; n = n.Parent {
			for _, f := range n.Flags {
				if !f.Hidden {
					found = append(found, candidate{"--" + f.Name, f.Help})
				}
			}
		}
	case len(at.node.Children) > 0:
		for _, child := range at.node.Children {
			if !child.Hidden {
				found = append(found, candidate{child.Name, child.Help})
			}
		}
	default:
		found = t.arguments(ctx, at)
	}
	found = slices.DeleteFunc(found, func(c candidate) bool { return !strings.HasPrefix(c.value, last) })
	for i := range found {
		found[i].about, _, _ = strings.Cut(found[i].about, "\n")
	}
	return found
}

// follow reads the words before the last one.
func follow(words []string) typing {
	at := typing{node: model().Node}
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case strings.HasPrefix(word, "-"):
			name, value, joined := strings.Cut(word, "=")
			f := flagOf(at.node, name)
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
			if !mayStandAlone(f) || isValue(f, words[i+1]) {
				i++
			}
		default:
			child := childOf(at.node, word)
			switch {
			case child == nil && len(at.node.Children) > 0: // no command
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

// flagOf returns a flag of a command by its name or letter, or nil.
func flagOf(node *kong.Node, word string) *kong.Flag {
	for n := node; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

// mayStandAlone reports whether a flag may be given without a value.
func mayStandAlone(f *kong.Flag) bool {
	switch f.Target.Interface().(type) {
	case onOff, earlier:
		return true
	}
	return false
}

// isValue reports whether the word after such a flag is its value.
func isValue(f *kong.Flag, word string) bool {
	if _, ok := reflect.TypeAssert[onOff](f.Target); ok {
		return isSwitch(word)
	}
	return isRun(word) || word == "latest" || word == string(theNewest)
}

// values returns the possible values of a flag; none if unknown or unlimited.
func (t *terminal) values(ctx context.Context, f *kong.Flag) (found []candidate) {
	switch f.Target.Interface().(type) {
	case onOff:
		return []candidate{{"on", ""}, {"off", ""}}
	case earlier:
		return append([]candidate{{string(theNewest), "the newest run"}}, t.runs(ctx)...)
	}
	switch f.Name {
	case "governor":
		for _, g := range engine.Governors {
			found = append(found, candidate{g.Name, ""})
		}
	case "breaker":
		for _, way := range engine.Breakers {
			found = append(found, candidate{way, ""})
		}
	case "state":
		for _, o := range endings {
			found = append(found, candidate{o.String(), ""})
		}
	case "replay":
		return t.runs(ctx)
	case "set":
		// parameters belong to a scenario, which is not read here
	default:
		for value := range strings.SplitSeq(f.Enum, ",") {
			if value != "" {
				found = append(found, candidate{value, ""})
			}
		}
	}
	return found
}

// arguments returns the possible values of a positional argument.
func (t *terminal) arguments(ctx context.Context, at typing) (found []candidate) {
	if len(at.node.Positional) == 0 {
		return nil
	}
	arg := at.node.Positional[min(at.args, len(at.node.Positional)-1)]
	switch arg.Name {
	case "run":
		return t.runs(ctx)
	case "file":
		for _, name := range authoring.BuiltIn() {
			found = append(found, candidate{name, "built in"})
		}
	case "topic":
		for _, p := range assets.Pages() {
			found = append(found, candidate{p.Topic, p.Title})
		}
	case "schema":
		for _, s := range schemas() {
			found = append(found, candidate{s.Name, ""})
		}
	case "setting":
		for _, s := range config.Settings {
			found = append(found, candidate{s.Name + "=", s.Help})
		}
	case "name=value":
		for _, name := range engine.LiveSettings() {
			found = append(found, candidate{name + "=", ""})
		}
	case "shell":
		for value := range strings.SplitSeq(arg.Enum, ",") {
			found = append(found, candidate{value, ""})
		}
	}
	return found
}

// runs returns the runs in the store, newest first; none if the store cannot be read.
func (t *terminal) runs(ctx context.Context) (found []candidate) {
	if !sqlite.Exists(t.data) {
		return nil
	}
	store, err := sqlite.Open(t.data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil
	}
	defer func() { _ = store.Close() }() // nothing was written
	all, err := store.Runs(ctx)
	if err != nil {
		return nil
	}
	for i := range all {
		r := &all[i]
		found = append(found, candidate{string(r.ID), r.Title + ", " + r.State()})
	}
	return found
}
