package validation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/suggest"
)

// Against is real data with the measures to compare.
type Against struct {
	File     string
	Digest   string // SHA-256 of the file, hex
	Measures []Measure

	real []Values // of the measures
}

// Read reads validate_against: a file and its measures, by column. open returns the file's content. Mistakes go to the report, and the
// result is then nil.
func Read(n *doc.Node, open func(path string) ([]byte, error), known *Known, report *doc.Report) *Against {
	n.Fields("file", "measures")
	n.Require("file", "measures")
	a := &Against{File: n.Get("file").Text()}
	if a.File == "" {
		return nil
	}
	r := reading{a, report, known}
	text, s := r.open(n.Get("file"), open)
	m := n.Get("measures")
	if m.Kind() == doc.Map && len(m.Entries()) == 0 {
		m.Errorf("such as {spend: events.purchase.total.sum}", "nothing is compared")
	}
	for _, e := range m.Entries() {
		r.measure(e, s)
	}
	if s == nil {
		return nil
	}
	if r.close(s, text) == nil || !r.enough(s) {
		return nil
	}
	return a
}

// enough reports columns with too few values for a comparison, which no run can change.
func (r reading) enough(s *sheet) bool {
	for i := range r.real {
		if n := r.real[i].Len(); n < Fewest {
			s.errorf(1, 1, fmt.Sprintf("a comparison needs at least %d; compare another column", Fewest), "column %s has %s",
				r.Measures[i].Column, engine.Counted(int64(n), "value", "values"))
		}
	}
	return r.report.Err() == nil
}

// reading reads the real data.
type reading struct {
	*Against
	report *doc.Report
	known  *Known
}

// open opens the file; the sheet is nil after a mistake.
func (r reading) open(n *doc.Node, open func(path string) ([]byte, error)) ([]byte, *sheet) {
	if path.Ext(r.File) != ".csv" {
		n.Errorf("a .csv file with a header", "real data cannot be read from %s", r.File)
		return nil, nil
	}
	text, err := open(r.File)
	if err != nil {
		n.Errorf("a path relative to this file", "the real data cannot be read: %v", err)
		return nil, nil
	}
	return text, openSheet(r.File, text, r.report)
}

// measure reads an entry: a column with a figure, or with a map. The sheet is nil if the file cannot be read.
func (r reading) measure(e doc.Entry, s *sheet) {
	m := Measure{Column: e.Key.Text(), Per: PerAgent}
	at := e.Value
	if at.Kind() == doc.Map {
		at.Fields("of", "kind", "per")
		at.Require("of")
		if k := at.Get("kind"); k != nil {
			m.Kind = Kind(k.OneOf(string(Number), string(Category)))
		}
		if p := at.Get("per"); p != nil {
			m.Per = Unit(p.OneOf(string(PerAgent), string(PerSession)))
		}
		at = at.Get("of")
	}
	m.Figure = at.Text()
	if m.Figure == "" {
		return
	}
	if s != nil && !slices.Contains(s.head, m.Column) {
		e.Key.Guess(suggest.NewGuess(m.Column, s.head, "columns: "+listed(s.head))).Errorf("%s has no column %s", r.File, m.Column)
		return
	}
	if wrong := r.add(&m); wrong != nil {
		at.Guess(wrong.guess).Errorf("%s", wrong.problem)
	}
}

// add adds a measure.
func (r reading) add(m *Measure) (wrong *mistake) {
	if m.figure, wrong = r.known.readFigure(m.Figure); wrong != nil {
		return wrong
	}
	if m.Per == PerSession && !m.figure.perSession() {
		return &mistake{m.Figure + " belongs to an agent, not to a session", suggest.Guess{Hint: "remove `per: session`"}}
	}
	r.Measures = append(r.Measures, *m)
	return nil
}

// close reads the columns.
func (r reading) close(s *sheet, text []byte) *Against {
	if r.report.Err() != nil {
		return nil
	}
	sum := sha256.Sum256(text)
	r.Digest = hex.EncodeToString(sum[:])
	if r.real = s.read(r.Measures); r.real == nil {
		return nil
	}
	return r.Against
}

// Load reads real data for measures that are not in a file of a scenario, such as those of a command line: COLUMN=FIGURE. Without pairs,
// it takes the columns whose name is a figure. A mistake about a pair is a *engine.FieldError; mistakes in the data go to the report, and
// the result is then nil.
func Load(name string, text []byte, pairs []string, known *Known, report *doc.Report) (*Against, error) {
	r := reading{&Against{File: name}, report, known}
	s := openSheet(name, text, report)
	if s == nil {
		return nil, nil //nolint:nilnil // the report says why
	}
	for _, pair := range pairs {
		column, figure, ok := strings.Cut(pair, "=")
		m := Measure{Column: strings.TrimSpace(column), Figure: strings.TrimSpace(figure), Per: PerAgent}
		if !ok {
			return nil, refused(pair+" is not COLUMN=FIGURE", suggest.Guess{Hint: "such as spend=events.purchase.total.sum"})
		}
		if !slices.Contains(s.head, m.Column) {
			return nil, refused(fmt.Sprintf("%s has no column %s", name, m.Column), suggest.NewGuess(m.Column, s.head, "columns: "+listed(s.head)))
		}
		if wrong := r.add(&m); wrong != nil {
			return nil, refused(wrong.problem, wrong.guess)
		}
	}
	for _, column := range s.head {
		if len(pairs) == 0 {
			_ = r.add(&Measure{Column: column, Figure: column, Per: PerAgent}) // the other columns have names of their own
		}
	}
	if len(r.Measures) == 0 {
		return nil, refused(fmt.Sprintf("no column of %s has the name of a figure", name),
			suggest.Guess{Hint: "pair columns with figures: COLUMN=FIGURE, in a terminal with --measure; figures: " + listed(known.names())})
	}
	return r.close(s, text), nil
}

// Instead returns the measures with the data of another file. A missing column is a *engine.FieldError; mistakes in the data go to the
// report, and the result is then nil.
func (a *Against) Instead(name string, text []byte, report *doc.Report) (*Against, error) {
	r := reading{&Against{File: name, Measures: slices.Clone(a.Measures)}, report, nil}
	s := openSheet(name, text, report)
	if s == nil {
		return nil, nil //nolint:nilnil // the report says why
	}
	for i := range r.Measures {
		if column := r.Measures[i].Column; !slices.Contains(s.head, column) {
			return nil, refused(fmt.Sprintf("%s has no column %s", name, column), suggest.NewGuess(column, s.head, "columns: "+listed(s.head)))
		}
	}
	return r.close(s, text), nil
}

// Pairs lists the measures as COLUMN=FIGURE.
func (a *Against) Pairs() (all []string) {
	for i := range a.Measures {
		all = append(all, a.Measures[i].Column+"="+a.Measures[i].Figure)
	}
	return all
}

// Same reports whether both compare the same data in the same way. nil stands for no data.
func (a *Against) Same(b *Against) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Digest == b.Digest && slices.EqualFunc(a.Measures, b.Measures, func(m, n Measure) bool {
		return m.Column == n.Column && m.Figure == n.Figure && m.Kind == n.Kind && m.Per == n.Per
	})
}

func refused(problem string, guess suggest.Guess) error {
	return &engine.FieldError{Field: "measure", Problem: problem, Hint: guess.Hint}
}
