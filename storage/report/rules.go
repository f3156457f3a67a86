package report

import (
	"fmt"
	"strconv"

	"github.com/throng-sim/throng/engine/agreement"
)

// rulesView is how often models and rules answered the same; without rows, there is nothing to compare.
type rulesView struct {
	Table   table
	Remarks []string
	Crossed []crossView
}

// crossView is a table with a title: the answers of models and rules, or the agreement of each cycle.
type crossView struct {
	Title string
	Table table
}

// mostCycles is how many cycles have a row of their own.
const mostCycles = 50

func newRules(r *agreement.Result) (v rulesView) {
	if r == nil {
		return v
	}
	v.Table.Head = agreement.Head()
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Pairs == 0 && len(s.Unanswered) == 0 {
			continue
		}
		v.Table.Rows = append(v.Table.Rows, s.Rows()...)
		for _, remark := range s.Remarks() {
			v.Remarks = append(v.Remarks, s.Step+": "+remark)
		}
		for _, c := range s.Crossed() {
			v.Crossed = append(v.Crossed, crossView{c.Title, table{Head: c.Head, Rows: c.Rows}})
		}
		if n := len(s.Cycles); n > 1 && n <= mostCycles {
			cycles := table{Head: []string{"Cycle", "Pairs", "Same answer"}}
			for _, c := range s.Cycles {
				cycles.Rows = append(cycles.Rows, []string{
					strconv.Itoa(c.Cycle), strconv.Itoa(c.Of), fmt.Sprintf("%.1f%% [%.1f%%, %.1f%%]", 100*c.Share.Share, 100*c.Low, 100*c.High),
				})
			}
			v.Crossed = append(v.Crossed, crossView{s.Step + " by cycle", cycles})
		}
	}
	return v
}
