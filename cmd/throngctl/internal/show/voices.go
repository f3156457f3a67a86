package show

import (
	"fmt"
	"io"

	"github.com/throng-sim/throng/engine/voices"
)

// Voices prints how different the answers of a crowd are.
func Voices(out io.Writer, c *voices.Crowd) error {
	if len(c.Steps) == 0 {
		fmt.Fprintln(out, voices.NoAnswers)
	} else {
		rows := make([][]string, len(c.Steps))
		for i := range c.Steps {
			rows[i] = c.Steps[i].Cells()
		}
		if err := cells(out, voices.Head(), rows); err != nil {
			return err
		}
		for i := range c.Steps {
			for _, remark := range c.Steps[i].Remarks() {
				Row(out, "%s: %s\n", c.Steps[i].Step, remark)
			}
		}
	}
	if c.Note != "" {
		Row(out, "%s\n", c.Note)
	}
	return nil
}
