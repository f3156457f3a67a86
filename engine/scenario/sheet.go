package scenario

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/suggest"
)

// maxTold is how many errors of a population file are listed; the others are only counted.
const maxTold = 20

// byteOrderMark may stand at the beginning of a text.
const byteOrderMark = "\ufeff"

// isSheet reports whether a file's name is that of a population file.
func isSheet(name string) bool { return path.Ext(name) == ".csv" || path.Ext(name) == ".jsonl" }

// sheet is a population file while it is read. Its lines count from 1, its columns in bytes from 1.
type sheet struct {
	name   string
	text   []byte // without a byte order mark
	report *doc.Report
	ids    *idList
	plain  bool // its rows are not agents: their names may repeat and are not checked

	mistakes          int
	restLine, restCol int // the first mistake that is not told
}

func newSheet(name string, text []byte, report *doc.Report) *sheet {
	return &sheet{name: name, text: bytes.TrimPrefix(text, []byte(byteOrderMark)), report: report, ids: newIDList()}
}

// read returns the agents of the file; what is wrong with it goes to the report. The names of their attributes are
// known in spite of mistakes, nil where they are not. types are the kinds of columns that the scenario says.
func (s *sheet) read(types map[string]people.Kind) *table {
	var t *table
	switch {
	case len(s.text) > maxSheet:
		s.errorf(1, 1, "", "%s, more than %d MB", engine.FormatBytes(int64(len(s.text))), maxSheet>>20)
	case !s.isUTF8():
	case path.Ext(s.name) == ".csv":
		t = readCSV(s, types)
	default:
		t = readLines(s)
	}
	s.close()
	return t
}

// isUTF8 reports the first byte that is not UTF-8.
func (s *sheet) isUTF8() bool {
	if utf8.Valid(s.text) {
		return true
	}
	line, start := 1, 0
	for at := 0; at < len(s.text); {
		r, size := utf8.DecodeRune(s.text[at:])
		if r == utf8.RuneError && size == 1 {
			s.errorf(line, at-start+1, "save it as UTF-8", "the byte 0x%02x is not UTF-8 text", s.text[at])
			return false
		}
		if at += size; r == '\n' {
			line, start = line+1, at
		}
	}
	return false
}

// errorf reports a mistake.
func (s *sheet) errorf(line, col int, hint, format string, args ...any) {
	switch s.mistakes++; {
	case s.mistakes <= maxTold:
		s.report.Add(doc.Problem{File: s.name, Line: line, Col: s.characters(line, col), Problem: fmt.Sprintf(format, args...), Guess: suggest.Guess{Hint: hint}})
	case s.mistakes == maxTold+1:
		s.restLine, s.restCol = line, s.characters(line, col)
	}
}

// close says how many mistakes were not told.
func (s *sheet) close() {
	// Only with mistakes is a second copy of the text worth it, and not of one that is mostly line breaks.
	if s.mistakes > 0 && bytes.Count(s.text, []byte("\n")) <= maxAgents {
		s.report.AddSource(s.name, s.text)
	}
	if n := s.mistakes - maxTold; n > 0 {
		s.report.Add(doc.Problem{File: s.name, Line: s.restLine, Col: s.restCol, Problem: fmt.Sprintf("and %d more", n)})
	}
}

// characters turns a column in bytes into one in characters.
func (s *sheet) characters(line, col int) int {
	rest := s.text
	for range line - 1 {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	return utf8.RuneCount(rest[:min(max(col-1, 0), len(rest))]) + 1
}

// checkName reports a name that an attribute of a file cannot have.
func (s *sheet) checkName(line, col int, name string) {
	switch {
	case !s.plain && slices.Contains(ownNames, name):
		s.errorf(line, col, "choose another name", "%s is what every agent has already", name)
	case strings.ContainsAny(name, ";\t") && path.Ext(s.name) == ".csv":
		s.errorf(line, col, "separate the columns by commas", "%q cannot be the name of an attribute", name)
	case !expr.IsName(name):
		s.errorf(line, col, expr.NameHint, "%q cannot be the name of an attribute", name)
	}
}

// addID records what the agent of the next row is called. where is the place of the row.
func (s *sheet) addID(id string, line, col int) {
	if id == "" && !s.plain {
		s.errorf(line, col, "every row has one, or none has", "the row has no id")
	} else if len(id) > maxID {
		s.errorf(line, col, "a name", "an id of %d bytes, more than %d", len(id), maxID)
	}
	if first := s.ids.add(id, line); first > 0 && id != "" && !s.plain {
		s.errorf(line, col, "ids are unique", "%s is called so on line %d already", quoted(id), first)
	}
}

// quoted shows a value of a file in a message, cut where it is long.
func quoted(text string) string {
	const most = 60
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
