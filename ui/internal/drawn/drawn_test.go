package drawn

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestPopulation checks that a draw is shown with its shares, and that nothing is shown without one.
func TestPopulation(t *testing.T) {
	uitest.Start(t)
	p := NewPopulation()
	p.Content.Resize(fyne.NewSize(800, 300))
	if p.Content.Visible() {
		t.Error("a population is shown before there is one")
	}
	of := &view.Population{Summary: "12 of 40 rows of a.csv, seed 1", Notes: []string{"1 kB"}}
	p.Show(of)
	if shown := strings.Join(uitest.Texts(p.Content), "|"); !p.Content.Visible() || !strings.Contains(shown, "12 of 40 rows") || !strings.Contains(shown, "1 kB") || p.shares.Visible() {
		t.Errorf("shown: %q", shown)
	}
	of.Shares = view.Table{Head: view.PopulationHead, Rows: [][]string{{"gender female", "40.0%", "51.0%", "30.0%", "±5.0", view.OffTarget}}}
	p.Show(of)
	if shown := strings.Join(uitest.Texts(p.Content), "|"); !p.shares.Visible() || !strings.Contains(shown, "gender female") || !strings.Contains(shown, "51.0%") {
		t.Errorf("shown: %q", shown)
	}
	p.Show(nil)
	if p.Content.Visible() {
		t.Error("a population is still shown")
	}
}
