package pen

import "testing"

func TestOverlapsAreNotDarker(t *testing.T) {
	a, b := []Point{{10, 10}, {50.3, 90}}, []Point{{12, 12}, {50.3, 90}, {90, 11}}
	cover := func(lines ...[]Point) []uint8 {
		var m Mask
		m.Resize(100, 100)
		for _, line := range lines {
			m.Line(line, 1.6)
		}
		return m.cover
	}
	one, other, both := cover(a), cover(b), cover(a, b)
	shared := 0
	for i, got := range both {
		if want := max(one[i], other[i]); got != want {
			t.Fatalf("pixel %d is covered by %d, want %d", i, got, want)
		}
		if one[i] > 0 && other[i] > 0 {
			shared++
		}
	}
	if shared < 100 {
		t.Errorf("the lines share %d pixels: not a test", shared)
	}
}
