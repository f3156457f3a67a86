package surrogate

import (
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/optimize"

	"github.com/throng-sim/throng/engine/experiment/statistics"
	"github.com/throng-sim/throng/engine/internal/draw"
)

// row is one example as the rule sees it.
type row struct {
	agent   int
	class   int
	columns []entry  // of a logistic rule
	cell    []string // of a table
}

// sheet is what a rule is fitted to, or scored with.
type sheet struct {
	rows    []row
	classes int
}

func agentsOfRows(rows []row) map[int]bool {
	seen := map[int]bool{}
	for i := range rows {
		seen[rows[i].agent] = true
	}
	return seen
}

func (r *Rule) rowOf(e *Example) (out row, err error) {
	out.agent = e.Agent
	at := 1
	for i := range r.Fields {
		f := &r.Fields[i]
		if v := e.Known[f.Name]; r.Kind == Table {
			var class string
			class, err = f.class(v)
			out.cell = append(out.cell, class)
		} else {
			out.columns, err = f.encode(out.columns, at, v)
		}
		if err != nil {
			return out, err
		}
		at += f.width()
	}
	return out, nil
}

// fit fits the rule to a sheet.
func (r *Rule) fit(s *sheet) *Rule {
	if r.Kind == Table {
		r.Cells = s.cells()
		return r
	}
	width := 1
	for i := range r.Fields {
		width += r.Fields[i].width()
	}
	r.Weights = s.logistic(width, s.penalty(width))
	return r
}

// shares returns the share of each class, with half an answer more for each, so that none is impossible.
func (s *sheet) shares() []float64 {
	all := make([]float64, s.classes)
	for k := range all {
		all[k] = 0.5
	}
	for i := range s.rows {
		all[s.rows[i].class]++
	}
	for k := range all {
		all[k] /= float64(len(s.rows)) + 0.5*float64(s.classes)
	}
	return all
}

// pull is how many answers with the shares of all agents each cell of a table gets in addition.
const pull = 2

// cells counts the answers of each segment.
func (s *sheet) cells() []Cell {
	all := s.shares()
	found := map[string]*Cell{}
	for i := range s.rows {
		key := strings.Join(s.rows[i].cell, "\x00")
		c := found[key]
		if c == nil {
			c = &Cell{Of: s.rows[i].cell, Shares: make([]float64, s.classes)}
			found[key] = c
		}
		c.Count++
		c.Shares[s.rows[i].class]++
	}
	var cells []Cell
	for _, key := range slices.Sorted(maps.Keys(found)) {
		c := found[key]
		for k := range c.Shares {
			c.Shares[k] = (c.Shares[k] + pull*all[k]) / (float64(c.Count) + pull)
		}
		cells = append(cells, *c)
	}
	return cells
}

// logistic fits a multinomial logistic regression with a ridge penalty on all weights but the constants (Friedman, Hastie and Tibshirani:
// Regularization Paths for Generalized Linear Models, 2010), by L-BFGS.
func (s *sheet) logistic(width int, penalty float64) [][]float64 {
	l := &likelihood{sheet: s, width: width, penalty: penalty, odds: make([]float64, s.classes)}
	start := make([]float64, s.classes*width)
	for k, share := range s.shares() {
		start[k*width] = math.Log(share)
	}
	problem := optimize.Problem{Func: l.loss, Grad: l.gradient}
	settings := &optimize.Settings{
		MajorIterations: 200, GradientThreshold: 1e-6 * float64(len(s.rows)),
		Converger: &optimize.FunctionConverge{Absolute: 1e-9, Relative: 1e-9, Iterations: 5},
	}
	result, err := optimize.Minimize(problem, start, settings, &optimize.LBFGS{})
	if result == nil { // settings and start are always valid
		panic(err)
	}
	return l.rows(result.X) // also if the last step could not improve it
}

// likelihood is the penalized negative log likelihood of a sheet, as a function of the weights in one list.
type likelihood struct {
	*sheet
	width   int
	penalty float64
	odds    []float64
}

// constantPenalty keeps the constants finite.
const constantPenalty = 1e-3

// rows returns the weights of each answer.
func (l *likelihood) rows(x []float64) [][]float64 {
	rows := make([][]float64, l.classes)
	for k := range rows {
		rows[k] = x[k*l.width : (k+1)*l.width]
	}
	return rows
}

// scale returns the penalty of a weight.
func (l *likelihood) scale(i int) float64 {
	if i%l.width == 0 {
		return constantPenalty
	}
	return l.penalty
}

func (l *likelihood) loss(x []float64) (sum float64) {
	for i, w := range x {
		sum += l.scale(i) / 2 * w * w
	}
	weights := l.rows(x)
	for i := range l.sheet.rows {
		row := &l.sheet.rows[i]
		softmax(l.odds, weights, row.columns)
		sum -= math.Log(max(l.odds[row.class], math.SmallestNonzeroFloat64))
	}
	return sum
}

func (l *likelihood) gradient(to, x []float64) {
	for i, w := range x {
		to[i] = l.scale(i) * w
	}
	weights := l.rows(x)
	for i := range l.sheet.rows {
		row := &l.sheet.rows[i]
		softmax(l.odds, weights, row.columns)
		for k, g := range l.odds {
			if k == row.class {
				g--
			}
			of := to[k*l.width : (k+1)*l.width]
			of[0] += g
			for _, e := range row.columns {
				of[e.at] += g * e.x
			}
		}
	}
}

// folds is in how many parts the agents are split to choose the penalty.
const folds = 3

// penalty returns the penalty with the lowest loss for agents that a fit does not know.
func (s *sheet) penalty(width int) (best float64) {
	lowest := math.Inf(1)
	for _, penalty := range []float64{100, 30, 10, 3, 1, 0.3} {
		sum := 0.0
		for fold := range folds {
			train, test := sheet{classes: s.classes}, sheet{classes: s.classes}
			for _, row := range s.rows {
				if int(draw.Key{}.Text("fold").Int(uint64(row.agent)).Source().Float64()*folds) == fold { //nolint:gosec // an index of an agent
					test.rows = append(test.rows, row)
				} else {
					train.rows = append(train.rows, row)
				}
			}
			r := Rule{Kind: Logistic, Answers: make([]Answer, s.classes), Weights: train.logistic(width, penalty)}
			sum += r.loss(&test)
		}
		if sum < lowest {
			best, lowest = penalty, sum
		}
	}
	return best
}

// of returns the probabilities of the answers for a row.
func (r *Rule) of(row *row, odds []float64) []float64 {
	if r.Kind == Logistic {
		softmax(odds, r.Weights, row.columns)
		return odds
	}
	if i := slices.IndexFunc(r.Cells, func(c Cell) bool { return slices.Equal(c.Of, row.cell) }); i >= 0 {
		return r.Cells[i].Shares
	}
	for k := range odds {
		odds[k] = r.Answers[k].Share
	}
	return odds
}

// least is the lowest probability that a loss counts.
const least = 1e-9

// loss returns the sum of the negative logarithms of the probabilities of the answers.
func (r *Rule) loss(s *sheet) (sum float64) {
	odds := make([]float64, s.classes)
	for i := range s.rows {
		sum -= math.Log(max(r.of(&s.rows[i], odds)[s.rows[i].class], least))
	}
	return sum
}

// score scores the rule with rows of other agents than it was fitted to.
func (r *Rule) score(test *sheet) Score {
	n := float64(len(test.rows))
	s := Score{Agents: len(agentsOfRows(test.rows)), Answers: len(test.rows), LogLoss: r.loss(test) / n}
	odds := make([]float64, test.classes)
	hits := 0
	for i := range test.rows {
		p := r.of(&test.rows[i], odds)
		class := test.rows[i].class
		if likeliest(p) == class {
			hits++
		}
		s.Drawn += p[class] / n
	}
	s.Accuracy = float64(hits) / n
	s.Low, s.High = statistics.Wilson(hits, len(test.rows))
	return s
}

// compare adds the score of a baseline that has the shares of the rows that the rule was fitted to.
func (s *Score) compare(train, test *sheet) {
	all := train.shares()
	common := likeliest(all)
	n := float64(len(test.rows))
	for i := range test.rows {
		class := test.rows[i].class
		if class == common {
			s.BaselineAccuracy += 1 / n
		}
		s.BaselineDrawn += all[class] / n
		s.BaselineLogLoss -= math.Log(all[class]) / n
	}
}
