package workers

import (
	"fmt"
	"slices"
	"testing"
)

func TestSamples(t *testing.T) {
	all := []State{
		{Name: "a", Cores: 4, InFlight: 3, PerSecond: 1.5, CPU: 70, Limit: 9},
		{Name: "b", Status: Lost, InFlight: 2},
		{Name: "c", Status: Stalled, InFlight: 1},
		{Name: "d", Status: Refused},
	}
	want := []Sample{{"a", 3, 1.5, 70}, {"c", 1, 0, 0}}
	if got := Samples(all); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

// TestManySamples checks that the last workers of many have one sample together.
func TestManySamples(t *testing.T) {
	var all []State
	for i := range mostSampled + 2 {
		all = append(all, State{Name: fmt.Sprintf("w%02d", i), Cores: 2, InFlight: 1, PerSecond: 2, CPU: 10})
	}
	got := Samples(all)
	if len(got) != mostSampled || got[mostSampled-2].Name != "w30" || got[mostSampled-1] != (Sample{InFlight: 3, PerSecond: 6, CPU: 30}) {
		t.Errorf("%d samples, the last are %+v", len(got), got[len(got)-2:])
	}
}
