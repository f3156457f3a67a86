package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/manual"
	"github.com/throng-sim/throng/engine/suggest"
)

// firstSteps are the commands that a new user needs, in order.
var firstSteps = []manual.Item{
	{Title: "throngctl run shopping", Text: "Run a built-in scenario against the mock shop; needs no keys."},
	{Title: "throngctl status --follow", Text: "Watch the run from another terminal."},
	{Title: "throngctl resume", Text: "Resume the newest run, for example after Ctrl+C."},
	{Title: "throngctl report", Text: "Write an HTML report of the newest run."},
	{Title: "throngctl scenarios shopping --copy my", Text: "Copy a scenario, as the start of your own."},
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
		fmt.Fprintf(w, "  %s\t%s\n", s.Title, s.Text)
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
		fmt.Fprintf(w, "  %s\t%s\n", name, flags.Describe(f.Value))
	}
	fmt.Fprint(w, "\nRun 'throngctl COMMAND --help' for the flags of a command, and 'throngctl guide' for the guide.\n")
	return w.Flush()
}

// named returns the program and the command that a command line names.
func named(args []string) string {
	name := "throngctl"
	for n := node(args); n.Parent != nil; n = n.Parent {
		name = strings.Replace(name, "throngctl", "throngctl "+n.Name, 1)
	}
	return name
}

// node returns the command that a command line names; that of the program if there is none.
func node(args []string) *kong.Node {
	n := model().Node
	for _, arg := range args {
		child := flags.Child(n, arg)
		if child == nil {
			break
		}
		n = child
	}
	return n
}

// unknownCommand returns an error if the first word of a command line is neither a flag nor a command.
func unknownCommand(args []string) error {
	if strings.HasPrefix(args[0], "-") || flags.Child(model().Node, args[0]) != nil {
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

// exits are the meanings of the exit codes.
var exits = []manual.Item{
	{Title: strconv.Itoa(exitDone), Text: "Done."},
	{Title: strconv.Itoa(exitFailed), Text: "The run failed, exceeded its budget or missed a criterion; or a difference was found."},
	{Title: strconv.Itoa(exitUsage), Text: "Wrong usage, an invalid file, or an unknown name."},
	{Title: strconv.Itoa(exitInterrupted), Text: "Interrupted or stopped; throngctl resume continues."},
}
