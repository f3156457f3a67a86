// Package show prints what throngctl shows a person: tables, progress, and summaries.
package show

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/visible"
)

// NewTable returns a writer that aligns cells separated by tabs. Flush writes them to out.
func NewTable(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 2, 4, 2, ' ', 0) }

// Row writes a row of a table whose cells are parted by tabs: texts of others keep to their cell.
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

func Time(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

func Done(done, total int64) string {
	if total == 0 {
		return engine.FormatCount(done)
	}
	return fmt.Sprintf("%s (%.1f%%)", engine.FormatCount(done), 100*float64(done)/float64(total))
}

func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Raw returns the writer behind the escaping one, for terminal control and for binary output.
func Raw(w io.Writer) io.Writer {
	if safe, ok := w.(*visible.Writer); ok {
		return safe.Unwrap()
	}
	return w
}

func Counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return engine.FormatCount(int64(n)) + " " + what
}

func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

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

// Note is what a list shows of a note.
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
