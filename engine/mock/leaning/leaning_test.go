package leaning

import (
	"testing"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// TestChoicesDependOnThePersona checks that shares of choices differ between personas and repeat for the same one.
func TestChoicesDependOnThePersona(t *testing.T) {
	share := func(text string) float64 {
		l, s, hits := New(text), draw.Key{}.Text("test").Source(), 0
		const n = 2000
		for range n {
			hits += l.Pick(s.Float64(), "shop", []string{"true", "false"})
		}
		return float64(hits) / n
	}
	low, high := 1.0, 0.0
	for _, kind := range []string{"frequent", "regular", "occasional", "rare"} {
		p := share("a " + kind + " shopper")
		if p != share("A shopper, "+kind+".") {
			t.Errorf("the order of words matters for %s", kind)
		}
		low, high = min(low, p), max(high, p)
	}
	if high-low < 0.3 {
		t.Errorf("personas choose with shares from %.2f to %.2f", low, high)
	}
	young, old := share("shopper 20"), share("shopper 60")
	if young == old || share("shopper 80") != share("shopper 800") {
		t.Errorf("numbers: %.2f at 20, %.2f at 60", young, old)
	}
	if l := New("of a 3"); len(l.words) != 0 || len(l.numbers) != 1 {
		t.Errorf("words %v, numbers %v", l.words, l.numbers)
	}
}

func TestLevels(t *testing.T) {
	l := New("a frequent shopper")
	last := 0.0
	for _, u := range []float64{0, 0.2, 0.5, 0.9, 1} {
		if x := l.Level(u, "interest"); x <= last || x >= 1 {
			t.Errorf("level %v at %v after %v", x, u, last)
		} else {
			last = x
		}
	}
}
