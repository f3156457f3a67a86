package scenario

import (
	"slices"
	"testing"

	"github.com/throng-sim/throng/engine/script/reference"
)

// TestReferenceHasAllFields checks that the reference lists the fields that agents and sessions have.
func TestReferenceHasAllFields(t *testing.T) {
	for of, want := range map[string][]string{"agent": ownNames, "session": (*session)(nil).Names()} {
		var got []string
		for _, f := range reference.Fields(of) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", of, got, want)
		}
	}
}
