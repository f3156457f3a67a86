package validation

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/suggest"
)

// mostCategories is how many different texts a column may have to be compared.
const mostCategories = 50

// mostRows bounds the rows of a file.
const mostRows = 10_000_000

// Values are the values of a column, or the figures of a run. One of the lists is in use.
type Values struct {
	Numbers []float64
	Texts   []string
	Missing int // units without a value
	Odd     int // of them, those with a value of another kind
}

// Len returns the number of values.
func (v *Values) Len() int { return len(v.Numbers) + len(v.Texts) }

// sheet is a CSV file with real data.
type sheet struct {
	name   string
	text   []byte
	report *doc.Report
	head   []string
}

// openSheet reads the header of a file; nil if there is none.
func openSheet(name string, text []byte, report *doc.Report) *sheet {
	s := &sheet{name: name, text: bytes.TrimPrefix(text, []byte("\ufeff")), report: report}
	if !utf8.Valid(s.text) {
		s.errorf(1, 1, "save it as UTF-8", "the file is not UTF-8 text")
		return nil
	}
	head, err := csv.NewReader(bytes.NewReader(s.text)).Read()
	switch {
	case errors.Is(err, io.EOF):
		s.errorf(1, 1, "a header with the names of the columns, then a row for each person", "the file is empty")
		return nil
	case err != nil:
		s.malformed(err)
		return nil
	}
	for _, cell := range head {
		name := strings.TrimSpace(cell)
		if name != "" && slices.Contains(s.head, name) {
			s.errorf(1, 1, "names are unique", "there is another column %s", name)
			return nil
		}
		s.head = append(s.head, name)
	}
	return s
}

func (s *sheet) errorf(line, col int, hint, format string, args ...any) {
	s.report.AddSource(s.name, s.text) // it copies the text, which only a mistake is worth
	s.report.Add(doc.Problem{File: s.name, Line: line, Col: col, Problem: fmt.Sprintf(format, args...), Guess: suggest.Guess{Hint: hint}})
}

// malformed reports what the reader of CSV cannot read.
func (s *sheet) malformed(err error) {
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		s.errorf(at.StartLine, 1, "quote a cell that has a comma, a quote or a line break in it", "%v", at.Err)
		return
	}
	s.errorf(1, 1, "", "%v", err)
}

// column is a column while it is read.
type column struct {
	measure *Measure
	at      int // its place in the row
	cells   []string
	missing int
	wrong   bool
}

// read reads the columns of measures, and decides on their kinds. The result is nil after a mistake.
func (s *sheet) read(measures []Measure) []Values {
	columns := make([]column, len(measures))
	for i := range measures {
		columns[i] = column{measure: &measures[i], at: slices.Index(s.head, measures[i].Column)}
	}
	r := csv.NewReader(bytes.NewReader(s.text))
	r.ReuseRecord = true
	for row := 0; ; row++ {
		record, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			if row < 2 {
				s.errorf(1, 1, "a row for each person", "the file has a header and no rows")
				return nil
			}
			return s.finish(columns)
		case err != nil:
			s.malformed(err)
			return nil
		case row == 0:
			continue // the header
		case row > mostRows:
			s.errorf(1, 1, "draw a sample of it", "the file has more than %d rows", mostRows)
			return nil
		}
		for i := range columns {
			line, col := r.FieldPos(columns[i].at)
			s.cell(&columns[i], record[columns[i].at], line, col)
		}
	}
}

// cell adds a cell to its column.
func (s *sheet) cell(c *column, cell string, line, col int) {
	cell = strings.TrimSpace(cell)
	if missing(cell) {
		c.missing++
		return
	}
	if _, ok := number(cell); !ok && c.measure.Kind == Number && !c.wrong {
		c.wrong = true
		s.errorf(line, col, "a number such as 1234.5, or nothing; or declare `kind: category`", "%q in column %s is not a number", cell, c.measure.Column)
	}
	c.cells = append(c.cells, strings.Clone(cell)) // a row shares one text
}

// missing reports whether a cell stands for no value.
func missing(cell string) bool {
	switch strings.ToLower(cell) {
	case "", "na", "n/a", "nan", "null":
		return true
	}
	return false
}

// number reads a cell. A number with a leading zero is a text, such as a postal code.
func number(cell string) (float64, bool) {
	digits := strings.TrimLeft(cell, "+-")
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		return 0, false
	}
	v, err := strconv.ParseFloat(cell, 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// finish turns cells into values.
func (s *sheet) finish(columns []column) []Values {
	all := make([]Values, len(columns))
	for i := range columns {
		c := &columns[i]
		all[i].Missing = c.missing
		if c.measure.Kind == Auto {
			c.measure.Kind = Number
			if len(c.cells) == 0 || slices.ContainsFunc(c.cells, func(cell string) bool { _, ok := number(cell); return !ok }) {
				c.measure.Kind = Category
			}
		}
		if c.measure.Kind == Number {
			for _, cell := range c.cells {
				v, _ := number(cell)
				all[i].Numbers = append(all[i].Numbers, v)
			}
			continue
		}
		all[i].Texts = c.cells
		if n := distinct(c.cells); n > mostCategories {
			s.errorf(1, 1, "compare a column with numbers, or with few categories", "column %s has %d different texts, more than %d", c.measure.Column, n, mostCategories)
			return nil
		}
	}
	if s.report.Err() != nil {
		return nil
	}
	return all
}

func distinct(texts []string) int {
	found := map[string]bool{}
	for _, t := range texts {
		found[t] = true
	}
	return len(found)
}
