package runs

import (
	"errors"
	"testing"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestOpenBundle checks that the run of a bundle is listed and selected, even if the list is filtered, and that one that cannot be opened
// says why.
func TestOpenBundle(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	s.list.search.SetText("nothing has this name")
	var asked int
	s.pickFile = func(then func(string)) {
		asked++
		then("/mail/run.zip")
	}
	open := func() {
		t.Helper()
		for _, a := range s.Actions() {
			if a.Name == "Open bundle…" && a.Menu == "File" && a.Enabled() {
				a.Do()
				q.Until("the bundle", func() bool { return a.Enabled() })
				return
			}
		}
		t.Fatal("no action opens bundles")
	}
	open()
	wantOrders(t, desk, "open /mail/run.zip")
	wantShown(t, s, "Added run other.")
	if s.Chosen() != "other" || !uitest.Shows(s.Content(), "Another computer") || asked != 1 {
		t.Errorf("run %q is selected after %d questions", s.Chosen(), asked)
	}
	desk.set(func() { desk.err = errors.New("the bundle is damaged: throng.db was changed") })
	open()
	wantShown(t, s, "Not opened. The bundle is damaged: throng.db was changed")
}
