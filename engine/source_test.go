package engine_test

import (
	"slices"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestSourceOfARun checks what a source reports about additional inputs.
func TestSourceOfARun(t *testing.T) {
	var none engine.Source
	if none.Alone() != "" || none.Mocked() != nil {
		t.Errorf("an empty source has %q, %q", none.Alone(), none.Mocked())
	}
	some := engine.Source{Files: map[string][]byte{
		engine.OnlyChain: []byte("analysis"), engine.MockedSteps: []byte("connector a\nfunction b"),
	}}
	if got := some.Mocked(); some.Alone() != "analysis" || !slices.Equal(got, []string{"connector a", "function b"}) {
		t.Errorf("got %q, %q", some.Alone(), got)
	}
}
