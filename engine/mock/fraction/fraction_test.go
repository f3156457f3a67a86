package fraction

import (
	"strings"
	"testing"
)

// TestFractions reads numbers and writes them exactly.
func TestFractions(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "-12": "-12", "0.10": "0.1", "1e3": "1000", "2.5E-3": "0.0025", "1.000000000000000000001": "1.000000000000000000001", "-0.5e1": "-5",
	} {
		r, err := Read(text)
		if err != nil || Text(r) != want {
			t.Errorf("%s is read as %v, %v, want %s", text, r, err, want)
		}
	}
	for _, text := range []string{"", "x", "1e201", "1e-201", "1e999999999999", strings.Repeat("9", 201)} {
		if r, err := Read(text); err == nil {
			t.Errorf("%.20s is read as %v", text, r)
		}
	}
}
