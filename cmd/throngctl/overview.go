package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/engine/suggest"
)

// firstSteps are the commands a newcomer needs, in order.
var firstSteps = []struct{ command, about string }{
	{"throngctl run shopping", "Run a built-in scenario against the mock shop; needs no keys."},
	{"throngctl status --follow", "Watch the run from another terminal."},
	{"throngctl resume", "Resume the newest run, for example after Ctrl+C."},
	{"throngctl report", "Write an HTML report of the newest run."},
	{"throngctl scenarios shopping --copy my", "Copy a scenario, to change it into your own."},
}

// helpCmd prints the overview, or the help of a command.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to show the help of (default: the overview)."`
}

// Run is called by kong.
func (c *helpCmd) Run(t *terminal) error {
	if code := t.execute(append(c.Command, "--help")); code != exitDone {
		return exitError(code)
	}
	return nil
}

// versionCmd prints what --version prints.
type versionCmd struct{}

// Run is called by kong.
func (c *versionCmd) Run(t *terminal) error {
	_, err := fmt.Fprintln(t.out, version())
	return err
}

// help prints the overview, or the help of the command that was named.
func help(options kong.HelpOptions, ctx *kong.Context) error {
	if ctx.Selected() == nil {
		return overview(ctx.Stdout, ctx.Model)
	}
	return kong.DefaultHelpPrinter(options, ctx)
}

// overview prints the first steps, all commands by group, and the common flags.
func overview(out io.Writer, cli *kong.Application) error {
	w := tabwriter.NewWriter(out, 0, 4, 3, ' ', 0)
	fmt.Fprint(w, "Run crowds of simulated agents against real services.\n\nUsage: throngctl COMMAND [ARGUMENTS] [FLAGS]\n\nFirst steps:\n")
	for _, s := range firstSteps {
		fmt.Fprintf(w, "  %s\t%s\n", s.command, s.about)
	}
	group := ""
	for _, n := range cli.Children {
		if n.Hidden {
			continue
		}
		if g := n.Group; g != nil && g.Title != group {
			group = g.Title
			fmt.Fprintf(w, "\n%s:\n", group)
		}
		fmt.Fprintf(w, "  %s\t%s\n", n.Name, n.Help)
	}
	fmt.Fprint(w, "\nFlags of every command:\n")
	for _, f := range cli.Flags {
		name := "--" + f.Name
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		if !f.IsBool() && f.PlaceHolder != "" {
			name += " " + f.PlaceHolder
		}
		fmt.Fprintf(w, "  %s\t%s\n", name, described(f.Value))
	}
	fmt.Fprint(w, "\nRun 'throngctl COMMAND --help' for the flags of a command, and 'throngctl guide' for the guide.\n")
	return w.Flush()
}

// described returns the help of a flag or an argument with its default and its environment variable.
func described(v *kong.Value) string {
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
	if before, ok := strings.CutSuffix(text, ")"); ok { // it has notes of its own
		return before + "; " + strings.Join(notes, "; ") + ")."
	}
	return text + " (" + strings.Join(notes, "; ") + ")."
}

// named returns the program and the command that a command line names.
func named(args []string) string {
	name := "throngctl"
	node := model().Node
	for _, arg := range args {
		child := childOf(node, arg)
		if child == nil {
			break
		}
		name, node = name+" "+arg, child
	}
	return name
}

// childOf returns the command of that name below a node, or nil.
func childOf(node *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return node.Children[i]
}

// unknownCommand returns an error if the first word of a command line is neither a flag nor a command.
func unknownCommand(args []string) error {
	if strings.HasPrefix(args[0], "-") || childOf(model().Node, args[0]) != nil {
		return nil
	}
	var names []string
	for _, n := range model().Children {
		if !n.Hidden {
			names = append(names, n.Name)
		}
	}
	if hint := suggest.Hint(args[0], names); hint != "" {
		return fmt.Errorf("unknown command %q; %s", args[0], hint)
	}
	return fmt.Errorf("unknown command %q", args[0])
}
