package flags

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Describe returns the help of a flag or an argument with its default and its environment variable.
func Describe(v *kong.Value) string {
	var notes []string
	if v.Default != "" && !v.IsBool() && !strings.Contains(v.Help, "default:") {
		notes = append(notes, "default: "+v.Default)
	}
	for _, name := range v.Tag.Envs {
		notes = append(notes, "env: "+name)
	}
	if len(notes) == 0 {
		return v.Help
	}
	text := strings.TrimSuffix(v.Help, ".")
	if before, ok := strings.CutSuffix(text, ")"); ok { // the help already ends with notes
		return before + "; " + strings.Join(notes, "; ") + ")."
	}
	return text + " (" + strings.Join(notes, "; ") + ")."
}

// Child returns the command of that name below a node, or nil.
func Child(node *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return node.Children[i]
}

// Flag returns a flag of a command by its name or letter, or nil.
func Flag(node *kong.Node, word string) *kong.Flag {
	for n := node; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

// OptionalValue reports whether a flag may be given without a value.
func OptionalValue(f *kong.Flag) bool {
	switch f.Target.Interface().(type) {
	case Switch, Earlier:
		return true
	}
	return false
}

// IsValue reports whether the word after such a flag is its value.
func IsValue(f *kong.Flag, word string) bool {
	if _, ok := reflect.TypeAssert[Switch](f.Target); ok {
		return IsSwitch(word)
	}
	return IsRun(word) || word == "latest" || word == string(Newest)
}

// Commands returns the names of all commands, and of the commands in them: "queue" and "queue cancel".
func Commands(app *kong.Application) (all []string) {
	for _, n := range app.Children {
		all = append(all, n.Name)
		for _, of := range n.Children {
			all = append(all, n.Name+" "+of.Name)
		}
	}
	return all
}
