package results

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestPurposesLookDifferent checks that every part of the time has its own color and icon.
func TestPurposesLookDifferent(t *testing.T) {
	colors, icons := map[string]engine.Purpose{}, map[string]engine.Purpose{}
	for _, p := range engine.Purposes() {
		mark, ok := purposeMarks[p]
		if !ok || mark.color == "" || mark.icon == nil {
			t.Errorf("%s has no mark", p)
			continue
		}
		if other, taken := colors[string(mark.color)]; taken {
			t.Errorf("%s and %s have the color %s", other, p, mark.color)
		}
		if other, taken := icons[mark.icon().Name()]; taken {
			t.Errorf("%s and %s have the sign %s", other, p, mark.icon().Name())
		}
		colors[string(mark.color)], icons[mark.icon().Name()] = p, p
	}
}
