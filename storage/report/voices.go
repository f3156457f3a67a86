package report

import "github.com/throng-sim/throng/engine/voices"

// voicesView is how different the answers of models are; without rows, there are none.
type voicesView struct {
	Table   table
	Remarks []mark
	Note    string
}

func newVoices(c *voices.Crowd) (v voicesView) {
	if c == nil {
		return v
	}
	v.Table.Head, v.Note = voices.Head(), c.Note
	for i := range c.Steps {
		s := &c.Steps[i]
		v.Table.Rows = append(v.Table.Rows, s.Cells())
		for k, remark := range s.Remarks() {
			tone := "plain"
			if k == 0 && s.Warning != "" {
				tone = "warn"
			}
			v.Remarks = append(v.Remarks, mark{tone, s.Step + ": " + remark})
		}
	}
	return v
}
