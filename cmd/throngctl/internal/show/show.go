// Package show prints text for people: tables, progress and summaries.
package show

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"golang.org/x/term"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/visible"
)

// NewTable returns a writer that aligns cells separated by tabs. Flush writes them to out.
func NewTable(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 2, 4, 2, ' ', 0) }

// Row writes a table row with cells separated by tabs. It escapes control characters in its arguments.
func Row(w io.Writer, format string, args ...any) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = visible.Line(arg)
		case error:
			args[i] = visible.Line(arg.Error())
		case fmt.Stringer:
			args[i] = visible.Line(arg.String())
		}
	}
	fmt.Fprintf(w, format, args...)
}

// Time formats a local date and time.
func Time(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Done formats a count and its share of a total, if there is one.
func Done(done, total int64) string {
	if total == 0 {
		return engine.FormatCount(done)
	}
	return fmt.Sprintf("%s (%.1f%%)", engine.FormatCount(done), 100*float64(done)/float64(total))
}

// Plural returns one if n is 1, and many otherwise.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Raw returns the writer inside an escaping writer, for terminal control and binary output.
func Raw(w io.Writer) io.Writer {
	if safe, ok := w.(*visible.Writer); ok {
		return safe.Unwrap()
	}
	return w
}

// IsTerminal returns the file descriptor of a file, and reports whether it is a terminal.
func IsTerminal(file any) (fd int, ok bool) {
	f, ok := file.(*os.File)
	if !ok {
		return 0, false
	}
	return int(f.Fd()), term.IsTerminal(int(f.Fd()))
}

// Counted formats a count with its noun.
func Counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return engine.FormatCount(int64(n)) + " " + what
}

// FirstLine returns the first line of a text.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// Numbers formats numbers, separated by spaces.
func Numbers(all []int) string {
	texts := make([]string, len(all))
	for i, n := range all {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, " ")
}

// Join joins the parts that are not empty.
func Join(between string, parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, between)
}

func seconds(s float64) string { return engine.FormatDuration(time.Duration(s * float64(time.Second))) }

// Note shortens a note to one line.
func Note(note string) string {
	const most = 60
	line, _, more := strings.Cut(strings.TrimSpace(note), "\n")
	runes := []rune(strings.TrimFunc(line, unicode.IsSpace))
	if len(runes) > most {
		runes, more = runes[:most], true
	}
	if more {
		runes = append(runes, '…')
	}
	return visible.Line(string(runes))
}
