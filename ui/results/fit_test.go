package results

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestNothingIsClipped checks that no text of the screen is clipped at any text size.
func TestNothingIsClipped(t *testing.T) {
	r := record("new", engine.EndFinished)
	r.Verdict = six()
	q, s := start(t, &fakeDesk{runs: []engine.RunRecord{r, record("old", engine.EndStopped)}, totals: some()})
	q.Fit("results", s.Content(), scaled)
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
