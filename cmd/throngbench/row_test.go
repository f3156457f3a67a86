package main

import (
	"strings"
	"testing"
)

// TestRows checks that every row is complete, so that none fails after the others were measured.
func TestRows(t *testing.T) {
	names := map[string]bool{}
	for _, r := range rows() {
		if names[r.name] {
			t.Errorf("two rows are named %s", r.name)
		}
		names[r.name] = true
		if r.what == "" || len(r.shown) == 0 || len(r.ratios) == 0 || len(r.sides) == 0 {
			t.Errorf("row %s lacks a title, a figure, a ratio or a side", r.name)
		}
		for _, s := range r.sides {
			if strings.Contains(r.name, "/") || s.run == nil {
				t.Errorf("row %s, %s cannot be measured", r.name, s.name)
			}
			if _, found := find(rows(), r.name+"/"+s.name); !found {
				t.Errorf("row %s, %s is not found", r.name, s.name)
			}
		}
		for _, of := range r.ratios {
			if _, is := of.of(make([]figures, len(r.sides))); is {
				t.Errorf("row %s: got ratio %s without a figure", r.name, of.name)
			}
		}
	}
}

func TestPickRows(t *testing.T) {
	all := func() []row { return []row{{name: "1"}, {name: "2"}, {name: "S1", scale: true}} }
	for _, test := range []struct {
		pick  string
		scale bool
		want  string
	}{
		{"", false, "1 2"}, {"", true, "S1"}, {"2", false, "2"}, {"S1,1", false, "1 S1"}, {"3", false, "error"}, {"1,", false, "error"},
	} {
		picked, err := pickRows(all(), test.pick, test.scale)
		var names []string
		for _, r := range picked {
			names = append(names, r.name)
		}
		got := strings.Join(names, " ")
		if err != nil {
			got = "error"
		}
		if got != test.want {
			t.Errorf("-rows %q, -scale %v: %s, want %s", test.pick, test.scale, got, test.want)
		}
	}
}
