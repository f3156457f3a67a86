package report

import (
	"bytes"
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/nearest"
	"github.com/throng-sim/throng/engine/visible"
)

// Experiment is the content of the report of an experiment.
type Experiment struct {
	Table   *findings.Table
	File    string // name of the experiment's file
	Text    []byte // of the file
	Command string // reproduces the experiment
	Version string // of Throng
}

//go:embed experiment.html
var experimentText string

//go:embed experiment.css
var experimentStyle string

var experimentTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(parsed().Clone()).New("experiment").Parse(experimentText))
})

// WriteExperiment writes the report of an experiment as one HTML page without scripts or external resources. Runs may be missing. The
// same experiment produces the same bytes.
func WriteExperiment(w io.Writer, x *Experiment) error {
	p, err := newExperimentPage(x)
	if err != nil {
		return fmt.Errorf("report of the experiment %s: %w", x.Table.Title, err)
	}
	var out bytes.Buffer // errors must not leave an incomplete page
	if err := experimentTemplate().Execute(&out, p); err != nil {
		return fmt.Errorf("report of the experiment %s: %w", x.Table.Title, err)
	}
	_, err = visible.NewWriter(w).Write(out.Bytes())
	return err
}

// experimentPage is the data of the template.
type experimentPage struct {
	Style     template.CSS
	Version   string
	Title     string
	State     mark
	Progress  string
	Sentences []sentence
	Real      *realRanking // nil without real data
	Baseline  string       // label; "" without one
	Measures  []measureView
	Facts     [][2]string
	Factors   table
	Missing   table // runs that are not done
	Further   int   // runs that Missing leaves out
	Command   string
	File      file
}

// sentence is a finding with the number of its measure on the page, from 1.
type sentence struct {
	findings.Sentence
	Number int
}

// measureView is what the page shows of one measure.
type measureView struct {
	Number      int // from 1
	Name, Unit  string
	Sentence    string
	Forest      forest
	Curves      []chartView
	Sensitivity *influenceView
}

func newExperimentPage(x *Experiment) (*experimentPage, error) {
	c := findings.Compare(x.Table)
	c.InPercent()
	t := c.Table
	done, of := t.Count(findings.Done)
	p := &experimentPage{
		Style:   template.CSS(styleText + experimentStyle), //nolint:gosec // our own
		Version: x.Version, Title: t.Title, State: stateOf(t), Progress: fmt.Sprintf("%d of %d runs are done.", done, of),
		Command: x.Command, File: fileOf(x.File, x.Text), Facts: designFacts(t), Factors: factorTable(t),
		Real: newRealRanking(nearest.Rank(t)),
	}
	if t.Baseline >= 0 {
		p.Baseline = t.Points[t.Baseline].Label
	}
	said := map[int]string{} // by measure
	for _, s := range c.Sentences() {
		p.Sentences = append(p.Sentences, sentence{s, s.Measure + 1})
		said[s.Measure] = s.Text
	}
	for i := range t.Measures {
		m := &t.Measures[i]
		v := measureView{Number: i + 1, Name: m.Name, Unit: m.Unit, Sentence: said[i], Forest: newForest(c, i)}
		for factor := range t.Factors {
			if curve := t.Curves(i, factor, -1); curve.Numbers && len(curve.Lines[0].Dots) > 1 {
				v.Curves = append(v.Curves, curveView(&curve))
			}
		}
		s, err := findings.Analyze(t, i)
		if err != nil {
			return nil, err
		}
		if s != nil {
			v.Sensitivity = newInfluence(s)
		}
		p.Measures = append(p.Measures, v)
	}
	p.missing(t)
	return p, nil
}

// stateOf describes how much of an experiment is done.
func stateOf(t *findings.Table) mark {
	done, of := t.Count(findings.Done)
	failed, _ := t.Count(findings.Failed)
	skipped, _ := t.Count(findings.Skipped)
	switch {
	case failed > 0:
		return mark{"warn", strconv.Itoa(failed) + " failed"}
	case done == of:
		return mark{"good", "complete"}
	case done+skipped == of:
		return mark{"warn", strconv.Itoa(skipped) + " skipped"}
	default:
		return mark{"plain", "incomplete"}
	}
}

// designFacts describes the design.
func designFacts(t *findings.Table) [][2]string {
	all := [][2]string{
		{"Design", t.Design},
		{"Points", engine.FormatCount(int64(len(t.Points)))},
		{"Replicates", engine.FormatCount(int64(len(t.Seeds)))},
		{"Seeds of the runs", seedList(t.Seeds)},
		{"Seed of the design", strconv.FormatUint(t.Seed, 10)},
	}
	if t.Baseline >= 0 {
		all = append(all, [2]string{"Baseline", t.Points[t.Baseline].Label})
	}
	if u := t.Until; u != nil {
		all = append(all, [2]string{"More replicates", fmt.Sprintf("until the interval of %s is at most %s to each side, up to %d", t.Measures[t.UntilOf].Name, t.HalfWidth(), u.AtMost)})
	}
	return all
}

// seedList lists seeds. Consecutive ones are a range.
func seedList(seeds []uint64) string {
	var all []string
	for i := 0; i < len(seeds); {
		end := i + 1
		for end < len(seeds) && seeds[end] == seeds[end-1]+1 {
			end++
		}
		first, last := strconv.FormatUint(seeds[i], 10), strconv.FormatUint(seeds[end-1], 10)
		switch end - i {
		case 1:
			all = append(all, first)
		case 2:
			all = append(all, first, last)
		default:
			all = append(all, first+" to "+last)
		}
		i = end
	}
	return strings.Join(all, ", ")
}

// factorTable lists the factors with their values.
func factorTable(t *findings.Table) table {
	out := table{Head: []string{"Factor", "Values"}}
	for i := range t.Factors {
		f := &t.Factors[i]
		values := strings.Join(f.Levels, ", ")
		if len(f.Levels) == 0 && len(t.Points) > 0 {
			low, high := &t.Points[0].Values[i], &t.Points[0].Values[i]
			for k := range t.Points {
				if v := &t.Points[k].Values[i]; v.Number < low.Number {
					low = v
				} else if v.Number > high.Number {
					high = v
				}
			}
			values = "from " + low.Text + " to " + high.Text
			if f.Log {
				values += ", even by the logarithm"
			}
		}
		out.Rows = append(out.Rows, []string{f.Name, values})
	}
	return out
}

// mostMissing is the number of runs that the page lists.
const mostMissing = 100

// missing lists the runs that are not done.
func (p *experimentPage) missing(t *findings.Table) {
	p.Missing.Head = []string{"Point", "Values", "Seed", "State", "Run", "Reason"}
	for point := range t.Runs {
		for k := range t.Runs[point] {
			r := &t.Runs[point][k]
			switch {
			case r.State == findings.Done:
			case len(p.Missing.Rows) == mostMissing:
				p.Further++
			default:
				p.Missing.Rows = append(p.Missing.Rows, []string{strconv.Itoa(point + 1), t.Points[point].Label, strconv.FormatUint(t.Seeds[k], 10), string(r.State), r.ID, r.Why})
			}
		}
	}
}
