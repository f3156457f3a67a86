package people

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// maxCategories is the number of categories of a target.
	maxCategories = 10_000
	// maxCombinations is the number of combinations of categories that a file may have.
	maxCombinations = 1 << 20
	// maxUnknown is the number of categories without a target that a mistake lists.
	maxUnknown = 10
)

// categories are the values that an attribute with a target may have.
type categories struct {
	name    string
	at      int // its index among the needed fields
	names   []string
	index   map[string]uint16
	shares  []float64        // of the target; their sum is 1
	file    []float64        // of the weights in the file; their sum is 1
	unknown map[string]int64 // rows by category without a target
	drawn   []int            // rows that were taken
}

// code returns the index of a cell's category, and notes one without a target.
func (c *categories) code(cell Cell) (code uint16, ok bool) {
	if cell.Kind == String { // without copying
		code, ok = c.index[cell.Text]
	} else {
		code, ok = c.index[cell.String()]
	}
	if ok {
		return code, true
	}
	if c.unknown == nil {
		c.unknown = map[string]int64{}
	}
	if name := cell.String(); len(c.unknown) < maxCategories || c.unknown[name] > 0 {
		c.unknown[strings.Clone(name)]++
	}
	return 0, false
}

// missing describes the rows whose category has no target.
func (c *categories) missing() error {
	if len(c.unknown) == 0 {
		return nil
	}
	all := make([]string, 0, len(c.unknown))
	for name := range c.unknown {
		all = append(all, name)
	}
	slices.SortFunc(all, func(a, b string) int {
		if d := c.unknown[b] - c.unknown[a]; d != 0 {
			return int(d)
		}
		return strings.Compare(a, b)
	})
	var told []string
	for i, name := range all {
		if i == maxUnknown {
			told = append(told, fmt.Sprintf("%d more", len(all)-i))
			break
		}
		what := quoted(name)
		if name == "" {
			what = "no value"
		}
		told = append(told, fmt.Sprintf("%s (%s)", what, counted(c.unknown[name], "row")))
	}
	return wrongf("add a share, recode with `values`, or leave the rows out with `where`; a share of 0 leaves a category out",
		"the file has values of %s without a target: %s", c.name, strings.Join(told, ", ")).at("sample", "targets", c.name)
}

// table sums the weights of a file by combinations of categories.
type table struct {
	cells []cellOf
	index map[string]int // by codes
	sum   float64
	key   []byte
}

// add adds the weight of a row.
func (t *table) add(weight float64, codes []uint16) error {
	t.key = t.key[:0]
	for _, c := range codes {
		t.key = append(t.key, byte(c), byte(c>>8))
	}
	i, known := t.index[string(t.key)]
	if !known {
		if len(t.cells) == maxCombinations {
			return wrongf("merge categories with `values`, or leave out a target", "the file has more than %d combinations of categories", maxCombinations).at("sample", "targets")
		}
		i = len(t.cells)
		t.index[string(t.key)] = i
		t.cells = append(t.cells, cellOf{codes: slices.Clone(codes)})
	}
	t.cells[i].weight += weight
	t.sum += weight
	return nil
}

// rake passes over the file and fits its weights to the targets.
func (t *taking) rake() error {
	s := t.plan.Sample
	if s == nil || len(s.Targets) == 0 {
		return nil
	}
	t.table = &table{index: map[string]int{}}
	if err := t.eachEligible(func(_ int64, weight float64, codes []uint16) (bool, error) {
		return true, t.table.add(weight, codes)
	}); err != nil {
		return err
	}
	var mistakes []error
	for _, c := range t.targets {
		mistakes = append(mistakes, c.missing())
	}
	if err := errors.Join(mistakes...); err != nil {
		return err
	}
	if t.report.Eligible == 0 {
		return t.enough(0)
	}
	targets := make([][]float64, len(t.targets))
	for i := range t.table.cells {
		t.table.cells[i].weight /= t.table.sum
	}
	for i, c := range t.targets {
		targets[i], c.file = c.shares, make([]float64, len(c.shares))
		for _, cell := range t.table.cells {
			c.file[cell.codes[i]] += cell.weight
		}
		for code, share := range c.shares {
			if share > 0 && c.file[code] == 0 {
				mistakes = append(mistakes, wrongf("remove it, set it to 0, or check `where` and `values`", "no row that can be drawn has the %s %s",
					c.name, quoted(c.names[code])).at("sample", "targets", c.name, c.names[code]))
			}
		}
	}
	if err := errors.Join(mistakes...); err != nil {
		return err
	}
	f := rake(t.table.cells, targets, orDefault(s.Tolerance, DefaultTolerance), orDefault(s.Rounds, DefaultRounds))
	if !(f.gap <= orDefault(s.Tolerance, DefaultTolerance)) {
		return f.unmet(s)
	}
	t.fit, t.report.Raking = &f, &Raking{Rounds: f.rounds, Gap: f.gap}
	t.report.Raking.Lowest, t.report.Raking.Most = f.spread(t.table.cells)
	return nil
}

func orDefault[N int | float64](n, otherwise N) N {
	if n == 0 {
		return otherwise
	}
	return n
}

// marginals compares the drawn shares with the targets.
func (t *taking) marginals(drawn int) []Marginal {
	all := []Marginal{}
	for _, c := range t.targets {
		m := Marginal{Attribute: c.name}
		for i, name := range c.names {
			one := Category{Name: name, File: c.file[i], Target: c.shares[i], Count: c.drawn[i], Margin: margin(c.shares[i], drawn)}
			if drawn > 0 {
				one.Drawn = float64(one.Count) / float64(drawn)
			}
			m.Categories = append(m.Categories, one)
		}
		all = append(all, m)
	}
	return all
}
