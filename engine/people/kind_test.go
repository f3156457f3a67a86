package people

import (
	"slices"
	"strings"
	"testing"
)

// TestKinds checks what kinds texts are of.
func TestKinds(t *testing.T) {
	tests := []struct {
		cells string // between spaces, and one with spaces around it behind a bar
		want  []Kind // that each of them fits, besides String
	}{
		{"true False TRUE| false ", []Kind{Bool}},
		{"tRUE yes on T 0x1 1_000 1,5 - + . e5 1e +-1 --1 1-1 nan inf Infinity |٣", nil},
		{"0 -1 +7 12345678901234567| 5 ", []Kind{Int, Float}},
		{"9223372036854775807 -9223372036854775807", []Kind{Int, Float}},
		{"9223372036854775808 -9223372036854775808 007 -01 00", nil},
		{"1.5 -.5 5. 0.0 1e3 1E-3 0e1 +1.0e+2 99999999999999999999.5", []Kind{Float}},
		{"1e999 -1e999 01.5 1.5.2 1.5e2e2", nil},
	}
	for _, tt := range tests {
		words, spaced, _ := strings.Cut(tt.cells, "|")
		cells := strings.Fields(words)
		if spaced != "" {
			cells = append(cells, spaced)
		}
		for _, cell := range cells {
			for _, k := range []Kind{Bool, Int, Float, String} {
				if got, want := k.Fits(cell), k == String || slices.Contains(tt.want, k); got != want {
					t.Errorf("%q fits %s: %v, want %v", cell, KindNames[k], got, want)
				}
			}
		}
	}
}
