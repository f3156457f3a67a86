package fleet

import (
	"reflect"
	"testing"

	"github.com/throng-sim/throng/engine/run/shards"
)

// TestValuesOfServices checks that a worker that joins late receives the newest value of each name only, in the order in which they were
// set.
func TestValuesOfServices(t *testing.T) {
	p := &Pool{book: shards.New(1), dirty: map[string]bool{}, orders: make(chan struct{}, 1)}
	for _, of := range []Tuned{
		{Service: "shop", Name: "rate", Value: "1/s"},
		{Service: "shop", Name: "connections", Value: "5"},
		{Service: "model", Name: "rate", Value: "9/s"},
		{Service: "shop", Name: "rate", Value: "2/s"},
		{Service: "shop"},
		{Service: "shop"},
	} {
		dispatch{p}.tune(of)
	}
	want := []Tuned{
		{Service: "shop", Name: "connections", Value: "5", Number: 2},
		{Service: "model", Name: "rate", Value: "9/s", Number: 3},
		{Service: "shop", Name: "rate", Value: "2/s", Number: 4},
		{Service: "shop", Number: 6},
	}
	if got := p.standing.Tuned; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
