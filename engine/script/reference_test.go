package script

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/script/reference"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlarkstruct"
)

// TestReferenceIsComplete checks that the reference describes every built-in once, and nothing else.
func TestReferenceIsComplete(t *testing.T) {
	var want []string
	for _, of := range []map[string]value.Value{universe, predeclared} {
		for name, v := range of {
			want = append(want, name)
			if m, ok := v.(*starlarkstruct.Module); ok {
				for _, member := range slices.Collect(maps.Keys(m.Members)) {
					want = append(want, name+"."+member)
				}
			}
		}
	}
	var got []string
	for _, f := range reference.Functions() {
		got = append(got, f.Name)
		if f.Help == "" || f.Signature != "" && !strings.HasPrefix(f.Signature, f.Name+"(") {
			t.Errorf("%+v is incomplete", f)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	var fields []string
	for _, f := range reference.Fields("now") {
		fields = append(fields, f.Name)
	}
	if want := value.NewTime(time.Time{}).AttrNames(); !slices.Equal(fields, want) {
		t.Errorf("fields of now: %v, want %v", fields, want)
	}
}
