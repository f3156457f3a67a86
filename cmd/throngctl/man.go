package main

import (
	"bufio"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
)

// manCmd prints the manual page.
type manCmd struct{}

// Run is called by kong.
func (c *manCmd) Run(t *terminal) error { return writeManual(t.out, model()) }

// manual writes a page in the language of man.
type manual struct{ w *bufio.Writer }

// writeManual writes the page about a command line.
func writeManual(w io.Writer, cli *kong.Application) error {
	m := manual{bufio.NewWriter(w)}
	m.macro("TH", "THRONGCTL", "1", built(), "Throng "+about.Number, "User Commands")
	m.macro("SH", "NAME")
	m.text(`throngctl \- runs crowds of simulated agents from a terminal`)
	m.macro("SH", "SYNOPSIS")
	m.text(`\fBthrongctl\fR \fICOMMAND\fR [\fIARGUMENT\fR ...] [\fIFLAG\fR ...]`)
	m.macro("SH", "DESCRIPTION")
	m.say("The engine of Throng without its window: it runs scenarios, steers the run in progress, and shows, exports, compares and audits what runs gave. On a fresh machine, try: throngctl run shopping")
	m.macro("SH", "FLAGS OF ALL COMMANDS")
	for _, f := range cli.Flags {
		m.flag(f)
	}
	m.commands(cli)
	m.shared(cli)
	m.rest()
	return m.w.Flush()
}

// built is the day of the source that the program was built from; "" is not known.
func built() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			day, _, _ := strings.Cut(s.Value, "T")
			return day
		}
	}
	return ""
}

// commands are all of them, below the titles of their groups.
func (m manual) commands(cli *kong.Application) {
	group := ""
	for _, n := range cli.Leaves(true) {
		top := n
		for top.Parent != nil && top.Parent.Parent != nil {
			top = top.Parent
		}
		if g := top.Group; g != nil && g.Title != group {
			group = g.Title
			m.macro("SH", strings.ToUpper(group))
		}
		m.command(n, top)
	}
}

func (m manual) command(n, top *kong.Node) {
	name := n.Name
	if n != top {
		name = top.Name + " " + n.Name
	}
	usage := []string{`\fB` + escape(name) + `\fR`}
	for _, p := range n.Positional {
		word := `\fI` + escape(p.Name) + `\fR`
		if !p.Required {
			word = "[" + word + "]"
		}
		usage = append(usage, word)
	}
	m.macro("SS", strings.Join(usage, " "))
	m.say(n.Help)
	for _, p := range n.Positional {
		m.item(`\fI`+escape(p.Name)+`\fR`, p.Help)
	}
	var groups []string
	for _, f := range n.Flags {
		switch {
		case f.Group == nil:
			m.flag(f)
		case !slices.Contains(groups, f.Group.Title):
			groups = append(groups, f.Group.Title)
		}
	}
	if len(groups) > 0 {
		m.macro("PP")
		m.say("And flags that several commands have, listed below: " + strings.Join(groups, ", ") + ".")
	}
}

// shared are the flags in groups, each once.
func (m manual) shared(cli *kong.Application) {
	m.macro("SH", "FLAGS OF SEVERAL COMMANDS")
	seen := map[string]bool{}
	var titles []string
	flags := map[string][]*kong.Flag{}
	for _, n := range cli.Leaves(true) {
		for _, f := range n.Flags {
			if f.Group == nil || seen[f.Name] {
				continue
			}
			seen[f.Name] = true
			if flags[f.Group.Title] == nil {
				titles = append(titles, f.Group.Title)
			}
			flags[f.Group.Title] = append(flags[f.Group.Title], f)
		}
	}
	for _, title := range titles {
		m.macro("SS", title)
		for _, f := range flags[title] {
			m.flag(f)
		}
	}
}

// rest is what the command line itself does not tell.
func (m manual) rest() {
	m.macro("SH", "EXIT STATUS")
	for _, code := range []struct {
		n     int
		means string
	}{
		{exitDone, "Done."},
		{exitFailed, "Failed, out of budget, missed a criterion, or found a difference."},
		{exitUsage, "Wrong use, a bad file, or something named that is not there."},
		{exitInterrupted, "Interrupted or stopped; throngctl resume goes on."},
	} {
		m.item(fmt.Sprintf(`\fB%d\fR`, code.n), code.means)
	}
	m.macro("SH", "ENVIRONMENT")
	m.say("A flag is stronger than a variable, that than what the scenario says, that than a saved setting. throngctl settings shows what is in force, and from where.")
	m.item(`\fB`+about.DataEnv+`\fR`, "Folder of the store, as --data.")
	for _, s := range config.RunSettings() {
		for _, name := range s.Env {
			m.item(`\fB`+escape(name)+`\fR`, "As --"+s.Name+".")
		}
		for _, name := range s.EnvNot {
			m.item(`\fB`+escape(name)+`\fR`, "The opposite of --"+s.Name+".")
		}
	}
	for _, s := range config.DatabaseSettings {
		m.item(`\fB`+escape(s.Env)+`\fR`, "As --"+s.Name+".")
	}
	m.item(`\fBNO_COLOR\fR`, "Where it is set, nothing is coloured.")
	m.say("Secrets that a scenario names are looked for in variables of their names, too.")
	m.macro("SH", "FILES")
	m.say("All is in one folder, which throngctl settings names last: ~/.local/share/throng on Linux, ~/Library/Application Support/Throng on a Mac.")
	for _, file := range []struct{ name, about string }{
		{"throng.db", "The store: journals, checkpoints, figures of all runs."},
		{"settings.json", "Saved settings, without secrets."},
		{"logs", "What happened, as lines of JSON."},
		{"crashes", "Texts of crashes."},
	} {
		m.item(`\fI`+escape(file.name)+`\fR`, file.about)
	}
	m.macro("SH", "SEE ALSO")
	m.say("throngctl guide prints the guide, page by page, and searches it.")
}

func (m manual) flag(f *kong.Flag) {
	if f.Hidden {
		return
	}
	name := `\fB\-\-` + escape(f.Name) + `\fR`
	if f.Negated || f.Tag.Negatable != "" {
		name += `, \fB\-\-no\-` + escape(f.Name) + `\fR`
	}
	if f.Short != 0 {
		name = `\fB\-` + string(f.Short) + `\fR, ` + name
	}
	if !f.IsBool() && f.PlaceHolder != "" {
		name += " " + `\fI` + escape(f.PlaceHolder) + `\fR`
	}
	m.item(name, f.Help)
}

// item is a paragraph with a title of its own.
func (m manual) item(title, text string) {
	m.macro("TP")
	m.text(title)
	m.say(text)
}

// macro writes a line that man obeys.
func (m manual) macro(name string, words ...string) {
	_, _ = m.w.WriteString("." + name) // Flush's error has it
	for _, w := range words {
		_, _ = m.w.WriteString(` "` + strings.ReplaceAll(w, `"`, `\(dq`) + `"`)
	}
	_ = m.w.WriteByte('\n')
}

// say writes a text as it is to be read.
func (m manual) say(text string) { m.text(escape(text)) }

// text writes what is in the language of man already, in lines as it likes them.
func (m manual) text(text string) {
	const width = 78
	line := ""
	end := func() {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") { // which would be obeyed
			line = `\&` + line
		}
		_, _ = m.w.WriteString(line + "\n")
		line = ""
	}
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			end()
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	end()
}

var inManual = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "→", `\(->`, "…", "...", "–", `\(en`, "×", `\(mu`)

func escape(text string) string { return inManual.Replace(text) }
