package voices

import (
	"strconv"

	"github.com/throng-sim/throng/engine/experiment/findings"
)

// Sheet returns the figures as a table with a row for each figure of a step.
func (c *Crowd) Sheet() findings.Sheet {
	s := findings.Sheet{Columns: []findings.Column{
		{Name: "step", Help: "Step of the model."},
		{Name: "figure", Help: "Name of the figure; distances by attribute are distance_between and distance_within its values."},
		{Name: "of", Help: "The phrase, the attribute, or the text of a warning."},
		{Name: "value", Kind: findings.Numbers, Help: "Shares are from 0 to 1."},
	}}
	for i := range c.Steps {
		v := &c.Steps[i]
		row := func(figure, of string, value float64) {
			s.Rows = append(s.Rows, []string{v.Step, figure, of, strconv.FormatFloat(value, 'g', -1, 64)})
		}
		row("agents", "", float64(v.Agents))
		row("compared", "", float64(v.Compared))
		row("different", "", float64(v.Different))
		row("effective", "", v.Effective)
		row("coverage", "", v.Coverage)
		row("uniformity", "", v.Uniformity)
		row("complexity", "", v.Complexity)
		row("distance", "", v.Distance)
		row("refusals", "", float64(v.Refusals))
		row("largest", "", v.Largest)
		for _, p := range v.Phrases {
			row("phrase", p.Text, p.Share)
		}
		for _, a := range v.Segments {
			row("distance_between", a.Attribute, a.Between)
			row("distance_within", a.Attribute, a.Within)
		}
		if v.Warning != "" {
			row("warning", v.Warning, 1)
		}
	}
	return s
}
