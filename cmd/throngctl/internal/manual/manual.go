// Package manual writes the manual page of throngctl in the man macro language.
package manual

import (
	"bufio"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
)

// page writes a page in the man macro language.
type page struct{ w *bufio.Writer }

// Item is a paragraph with a title.
type Item struct{ Title, Text string }

// Content is the part of the page that does not follow from the flags.
type Content struct {
	Steps []Item // first steps: a command line and what it does
	Exits []Item // exit codes and their meanings
}

// Write writes the manual page of a command line.
func Write(w io.Writer, cli *kong.Application, c Content) error {
	m := page{bufio.NewWriter(w)}
	m.macro("TH", "THRONGCTL", "1", built(), "Throng "+about.Number, "User Commands")
	m.macro("SH", "NAME")
	m.text(`throngctl \- run crowds of simulated agents from a terminal`)
	m.macro("SH", "SYNOPSIS")
	m.text(`\fBthrongctl\fR \fICOMMAND\fR [\fIARGUMENT\fR ...] [\fIFLAG\fR ...]`)
	m.macro("SH", "DESCRIPTION")
	m.say("Runs scenarios, steers the run in progress, and shows, exports, compares and audits results, with the same engine as the window of Throng. Without arguments it prints an overview. First steps:")
	for _, s := range c.Steps {
		m.item(`\fB`+Escape(s.Title)+`\fR`, s.Text)
	}
	m.macro("SH", "FLAGS OF ALL COMMANDS")
	for _, f := range cli.Flags {
		m.flag(f)
	}
	m.commands(cli)
	m.shared(cli)
	m.rest(c.Exits)
	return m.w.Flush()
}

// built returns the date of the commit the program was built from, or "" if unknown.
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

// commands writes all commands under the titles of their groups.
func (m page) commands(cli *kong.Application) {
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

func (m page) command(n, top *kong.Node) {
	name := n.Name
	if n != top {
		name = top.Name + " " + n.Name
	}
	usage := []string{`\fB` + Escape(name) + `\fR`}
	for _, p := range n.Positional {
		word := `\fI` + Escape(p.Name) + `\fR`
		if !p.Required {
			word = "[" + word + "]"
		}
		usage = append(usage, word)
	}
	m.macro("SS", strings.Join(usage, " "))
	m.say(n.Help)
	for _, p := range n.Positional {
		m.item(`\fI`+Escape(p.Name)+`\fR`, p.Help)
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
		m.say("Also takes the flags of these groups, listed below: " + strings.Join(groups, ", ") + ".")
	}
}

// shared writes each flag that belongs to a group once.
func (m page) shared(cli *kong.Application) {
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

// rest writes exit codes, variables and files.
func (m page) rest(exits []Item) {
	m.macro("SH", "EXIT STATUS")
	for _, exit := range exits {
		m.item(`\fB`+exit.Title+`\fR`, exit.Text)
	}
	m.macro("SH", "ENVIRONMENT")
	m.say("Flags win over variables, variables over the scenario, the scenario over saved settings. throngctl settings shows each value and where it comes from.")
	m.item(`\fB`+about.DataEnv+`\fR`, "Data folder, as --data.")
	for _, s := range config.Settings {
		if len(s.Env) > 0 {
			m.item(`\fB`+Escape(s.Env[0])+`\fR`, "As --"+s.Name+".")
		}
	}
	m.item(`\fBNO_COLOR\fR`, "If set, output has no colors.")
	m.say("Secrets that a scenario names are also read from variables of the same names.")
	m.macro("SS", "Variables of earlier Python runners")
	for _, s := range config.Settings {
		for _, name := range s.Env[min(1, len(s.Env)):] {
			m.item(`\fB`+Escape(name)+`\fR`, "As "+s.Env[0]+", which wins.")
		}
		for _, name := range s.EnvNot {
			m.item(`\fB`+Escape(name)+`\fR`, "The opposite of "+s.Env[0]+", which wins.")
		}
	}
	m.item(`\fB`+config.OfferEnv+`\fR`, "Offered once, never used: set "+config.DatabaseEnv+".")
	m.macro("SH", "FILES")
	m.say("Everything is in the data folder: ~/.local/share/throng on Linux, ~/Library/Application Support/Throng on macOS, or as --data says.")
	for _, file := range []struct{ name, about string }{
		{"throng.db", "The store: journals, checkpoints and metrics of all runs."},
		{"settings.json", "Saved settings, without secrets."},
		{"logs", "Logs, as JSON lines."},
		{"crashes", "Crash reports."},
	} {
		m.item(`\fI`+Escape(file.name)+`\fR`, file.about)
	}
	m.macro("SH", "SEE ALSO")
	m.say("throngctl guide prints and searches the guide.")
}

func (m page) flag(f *kong.Flag) {
	if f.Hidden {
		return
	}
	name := `\fB\-\-` + Escape(f.Name) + `\fR`
	if f.Negated || f.Tag.Negatable != "" {
		name += `, \fB\-\-no\-` + Escape(f.Name) + `\fR`
	}
	if f.Short != 0 {
		name = `\fB\-` + string(f.Short) + `\fR, ` + name
	}
	if !f.IsBool() && f.PlaceHolder != "" {
		name += " " + `\fI` + Escape(f.PlaceHolder) + `\fR`
	}
	m.item(name, flags.Describe(f.Value))
}

// item writes a paragraph with a title.
func (m page) item(title, text string) {
	m.macro("TP")
	m.text(title)
	m.say(text)
}

// macro writes a line with a macro.
func (m page) macro(name string, words ...string) {
	_, _ = m.w.WriteString("." + name) // Flush returns the error
	for _, w := range words {
		_, _ = m.w.WriteString(` "` + strings.ReplaceAll(w, `"`, `\(dq`) + `"`)
	}
	_ = m.w.WriteByte('\n')
}

// say writes plain text.
func (m page) say(text string) { m.text(Escape(text)) }

// text writes text that may contain escapes, wrapped into lines.
func (m page) text(text string) {
	const width = 78
	line := ""
	end := func() {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") { // escape it: such a line is a macro
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

// Escape escapes plain text for the man macro language.
func Escape(text string) string { return inManual.Replace(text) }
