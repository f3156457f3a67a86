package people

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/suggest"
)

// Drawn are the rows that were taken from a file.
type Drawn struct {
	Rows   []byte          // as CSV, with a header of the attributes
	Types  map[string]Kind // of the attributes
	Report Report          // without what only the caller knows: File, SHA256 and SizeBytes
}

// Take takes the rows of a plan from a file. It passes over the file up to four times and keeps nothing but the rows that
// are taken. Errors are *Mistake, joined, or the cause of ctx.
func Take(ctx context.Context, file File, p *Plan) (*Drawn, error) {
	t := &taking{ctx: ctx, plan: p, file: file, fields: newFields(file, p)}
	if err := t.prepare(); err != nil {
		return nil, err
	}
	t.report = Report{Sampled: p.Sample != nil, Marginals: []Marginal{}}
	if s := p.Sample; s != nil {
		t.report.Seed, t.report.Weight = s.Seed, s.Weight
	}
	if err := t.rake(); err != nil {
		return nil, err
	}
	rows, err := t.choose()
	if err != nil {
		return nil, err
	}
	return t.write(rows)
}

// taking is the work of Take.
type taking struct {
	ctx  context.Context
	plan *Plan
	file File
	*fields

	needed  []*field // to choose rows; those of the condition come first
	columns []int    // of needed
	weight  int      // the index in needed; -1 if rows have no weight
	targets []*categories
	table   *table
	fit     *fit
	report  Report
	ids     map[string]int64 // rows by id, of those that are taken
}

// prepare resolves names and finds kinds.
func (t *taking) prepare() error {
	p := t.plan
	t.weight = -1
	if p.Where != nil {
		for _, name := range p.Where.Names {
			t.need(name, "where")
		}
	}
	if s := p.Sample; s != nil {
		if s.Weight != "" {
			t.weight = t.need(s.Weight, "sample", "weight")
		}
		for _, target := range s.Targets {
			at := t.need(target.Attribute, "sample", "targets", target.Attribute)
			c, err := newCategories(target, at)
			if err != nil {
				t.mistakes = append(t.mistakes, err)
			}
			t.targets = append(t.targets, c)
		}
	}
	if len(t.attributes) == 0 && len(t.mistakes) == 0 {
		t.mistakes = append(t.mistakes, wrongf("choose some: `columns: [age, region]`", "no columns are chosen"))
	}
	if len(t.mistakes) > 0 {
		return errors.Join(t.mistakes...)
	}
	return t.findKinds()
}

// need adds a field to those that rows are chosen by, and returns its index.
func (t *taking) need(name string, key ...string) int {
	f := t.field(name, key...)
	if f == nil {
		return -1
	}
	t.needed, t.columns = append(t.needed, f), append(t.columns, f.column)
	return len(t.needed) - 1
}

// findKinds finds the kinds of the fields that the plan has no type for. A recoded one is text.
func (t *taking) findKinds() error {
	var open []*field
	var columns []int
	for _, f := range slices.Concat(t.attributes, t.needed) {
		switch {
		case f.said || slices.Contains(open, f):
		case f.values != nil || f.name == "id":
			f.kind = String
		default:
			open, columns = append(open, f), append(columns, f.column)
		}
	}
	if len(open) == 0 {
		return nil
	}
	kinds, err := t.file.Kinds(t.ctx, columns)
	if err != nil {
		return err
	}
	for i, f := range open {
		f.kind = kinds[i]
	}
	return nil
}

// eachEligible calls visit for each row that can be taken, with its weight and the codes of its categories, both before
// raking. The codes are only valid during the call. more ends it.
func (t *taking) eachEligible(visit func(row int64, weight float64, codes []uint16) (more bool, err error)) error {
	cells, codes := make([]Cell, len(t.needed)), make([]uint16, len(t.targets))
	t.report.Rows, t.report.Eligible, t.report.ZeroWeight = 0, 0, 0
	for _, c := range t.targets {
		c.unknown = nil
	}
	err := t.file.Scan(t.ctx, t.columns, nil, func(row int64, raw []Cell) (err error) {
		t.report.Rows++
		weight, ok := 0.0, false
		if weight, ok, err = t.weigh(row, raw, cells); err != nil || !ok {
			return err
		}
		known := true
		for i, c := range t.targets {
			code, found := c.code(cells[c.at])
			codes[i], known = code, known && found
			if found && c.shares[code] == 0 {
				weight = 0
			}
		}
		switch {
		case !known:
			return nil
		case weight == 0:
			t.report.ZeroWeight++
			return nil
		}
		t.report.Eligible++
		more, err := visit(row, weight, codes)
		if err == nil && !more {
			err = errEnough
		}
		return err
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return err
}

var errEnough = errors.New("enough rows")

// weigh converts the cells of a row and returns its weight; ok is false if the condition leaves it out.
func (t *taking) weigh(row int64, raw, cells []Cell) (weight float64, ok bool, err error) {
	for i, f := range t.needed {
		if i == t.weight {
			continue // it is checked as it stands in the file
		}
		if cells[i], err = f.cell(raw[i], row); err != nil {
			return 0, false, err
		}
	}
	if w := t.plan.Where; w != nil {
		if ok, err := w.Holds(row, cells[:len(w.Names)]); err != nil || !ok {
			if err != nil {
				err = wrongf("", "row %d: %v", row+1, err).at("where")
			}
			return 0, false, err
		}
	}
	if t.weight < 0 {
		return 1, true, nil
	}
	weight, isNumber := raw[t.weight].Number()
	problem := ""
	switch {
	case !raw[t.weight].Present:
		problem = "has no weight"
	case !isNumber || math.IsNaN(weight) || math.IsInf(weight, 0):
		problem = "has the weight " + quoted(raw[t.weight].String()) + ", not a number"
	case weight < 0:
		problem = "has the negative weight " + raw[t.weight].String()
	default:
		return weight, true, nil
	}
	return 0, false, wrongf("correct the file, or leave out the row with `where`", "row %d %s", row+1, problem).at("sample", "weight")
}

// choose returns the rows to take, in the order of the agents.
func (t *taking) choose() (rows []int64, err error) {
	s, count := t.plan.Sample, t.plan.Count
	if count == 0 {
		return nil, nil
	}
	r := &reservoir{most: count}
	err = t.eachEligible(func(row int64, weight float64, codes []uint16) (bool, error) {
		if s == nil {
			if rows = append(rows, row); len(rows) > MaxRows {
				return false, wrongf("take fewer with `count`, or draw some with `sample`", "more than %d rows", MaxRows)
			}
			return len(rows) != count, nil
		}
		if t.fit != nil {
			weight *= t.fit.factor(codes)
		}
		if weight > 0 {
			r.offer(keyed{row, rowKey(s.Seed, row, weight)})
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if s != nil {
		rows = r.drawn()
	}
	t.report.Taken = len(rows)
	return rows, t.enough(len(rows))
}

// enough reports a count that the file does not reach.
func (t *taking) enough(taken int) error {
	if t.plan.Count == 0 || taken > 0 && (t.plan.Count < 0 || taken == t.plan.Count) {
		return nil
	}
	m := wrongf("", "%s, and %s can be taken", counted(t.plan.Count, "agent"), counted(taken, "row"))
	if t.plan.Count < 0 {
		m = wrongf("", "no row can be taken")
	}
	m.Hint = fmt.Sprintf("the file has %s", counted(t.report.Rows, "row"))
	if t.plan.Where != nil {
		m.Hint += "; `where` leaves some out"
	}
	if t.report.ZeroWeight > 0 {
		m.Hint += fmt.Sprintf("; %s cannot be drawn because a weight or a target is 0", counted(t.report.ZeroWeight, "row"))
	}
	return m.at("count")
}

// write reads the attributes of the rows, and writes them as CSV in their order.
func (t *taking) write(rows []int64) (*Drawn, error) {
	places := make([]int, len(rows)) // in the order of the file
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return int(rows[a] - rows[b]) })
	only := make([]int64, len(rows))
	for i, p := range places {
		only[i] = rows[p]
	}
	columns := make([]int, len(t.attributes), len(t.attributes)+len(t.targets))
	d := &Drawn{Types: map[string]Kind{}, Report: t.report}
	for i, a := range t.attributes {
		columns[i] = a.column
		if a.name != "id" {
			d.Types[a.name] = a.kind
		}
	}
	for _, c := range t.targets {
		columns = append(columns, t.columns[c.at])
	}
	lines, size, next := make([][]byte, len(rows)), 0, 0
	err := t.file.Scan(t.ctx, columns, only, func(row int64, raw []Cell) error {
		line, err := t.line(row, raw)
		if size += len(line); err == nil && size > maxBytes {
			err = wrongf("choose fewer columns with `columns`, or fewer rows", "the rows that are taken have more than %d MB", maxBytes>>20)
		}
		lines[places[next]] = line
		next++
		return err
	})
	if err == nil && next < len(rows) {
		err = wrongf("start again", "the file has changed while it was read")
	}
	if err != nil {
		return nil, err
	}
	d.Report.Marginals = t.marginals(len(rows))
	header := make([]string, len(t.attributes))
	for i, a := range t.attributes {
		header[i] = a.name
	}
	d.Rows = slices.Concat(append([][]byte{appendLine(nil, header)}, lines...)...)
	return d, nil
}

// line returns a row as CSV, and counts its categories.
func (t *taking) line(row int64, raw []Cell) ([]byte, error) {
	record := make([]string, len(t.attributes))
	for i, a := range t.attributes {
		c, err := a.cell(raw[i], row)
		if err != nil {
			return nil, err
		}
		record[i] = c.String()
		if a.name == "id" {
			if err := t.identify(record[i], row); err != nil {
				return nil, err
			}
		}
	}
	for i, target := range t.targets {
		c, err := t.needed[target.at].cell(raw[len(t.attributes)+i], row)
		if err != nil {
			return nil, err
		}
		code, _ := target.code(c) // it was known when the row was chosen
		target.drawn[code]++
	}
	return appendLine(nil, record), nil
}

// identify checks the id of a row that is taken.
func (t *taking) identify(id string, row int64) error {
	if id == "" {
		return wrongf("choose another column for id, or none", "row %d has no id", row+1).at("columns", "id")
	}
	if first, twice := t.ids[id]; twice {
		return wrongf("ids are unique: choose another column for id, or none", "the rows %d and %d have the id %s", first+1, row+1, quoted(id)).at("columns", "id")
	}
	if t.ids == nil {
		t.ids = map[string]int64{}
	}
	t.ids[id] = row
	return nil
}

// appendLine appends a line of CSV. A single empty cell is quoted, because readers skip blank lines.
func appendLine(b []byte, record []string) []byte {
	for i, cell := range record {
		if i > 0 {
			b = append(b, ',')
		}
		if strings.ContainsAny(cell, "\",\r\n") || strings.HasPrefix(cell, " ") || len(record) == 1 && cell == "" {
			b = append(b, '"')
			b = append(b, strings.ReplaceAll(cell, `"`, `""`)...)
			b = append(b, '"')
		} else {
			b = append(b, cell...)
		}
	}
	return append(b, '\n')
}

// newCategories returns the categories of a target with their shares.
func newCategories(target Target, at int) (*categories, error) {
	c := &categories{at: at, name: target.Attribute, index: map[string]uint16{}}
	sum := 0.0
	key := []string{"sample", "targets", target.Attribute}
	for i, s := range target.Shares {
		if math.IsNaN(s.Part) || math.IsInf(s.Part, 0) || s.Part < 0 {
			return c, wrongf("a share from 0, such as 20% or 1200", "%s cannot be %s", s.Category, strconv.FormatFloat(s.Part, 'g', -1, 64)).at(append(key, s.Category)...)
		}
		c.index[s.Category], c.names = uint16(i), append(c.names, s.Category)
		sum += s.Part
	}
	if sum == 0 || math.IsInf(sum, 0) || len(target.Shares) > maxCategories {
		return c, &Mistake{Key: key, Problem: fmt.Sprintf("the shares of %s have the sum %g", target.Attribute, sum), Guess: suggest.Guess{Hint: fmt.Sprintf("up to %d shares, such as {female: 51%%, male: 49%%}", maxCategories)}}
	}
	for _, s := range target.Shares {
		c.shares = append(c.shares, s.Part/sum)
	}
	c.drawn = make([]int, len(c.shares))
	return c, nil
}
