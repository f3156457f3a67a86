package scenario

import (
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/view"
)

// Population returns what is shown of how the agents were drawn from a file; nil if they were not.
func (s *Scenario) Population() *view.Population {
	r := s.Drawn()
	if r == nil {
		return nil
	}
	p := &view.Population{Summary: r.String(), Notes: []string{fmt.Sprintf("%s, SHA-256 %s", engine.FormatBytes(r.SizeBytes), r.SHA256)}}
	if r.ZeroWeight > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%s with a weight or a target of 0 cannot be drawn", counted(int(r.ZeroWeight), "row")))
	}
	if k := r.Raking; k != nil {
		p.Notes = append(p.Notes, fmt.Sprintf("raked in %s: weights times %.3g to %.3g, shares within %.2g", counted(k.Rounds, "round"), k.Lowest, k.Most, max(k.Gap, 1e-15)))
	}
	for _, m := range r.Marginals {
		p.Shares.Head = view.PopulationHead
		for i := range m.Categories {
			p.Shares.Rows = append(p.Shares.Rows, shareOf(m.Attribute, &m.Categories[i]))
		}
	}
	return p
}

func shareOf(attribute string, c *people.Category) []string {
	percent := func(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
	remark := ""
	if c.Off() {
		remark = view.OffTarget
	}
	return []string{attribute + " " + c.Name, percent(c.File), percent(c.Target), percent(c.Drawn), fmt.Sprintf("±%.1f", 100*c.Margin), remark}
}
