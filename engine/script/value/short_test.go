package value

import (
	"testing"

	"go.starlark.net/starlark"
)

// TestShortJSON checks that the shared texts are those of AppendJSON.
func TestShortJSON(t *testing.T) {
	values := []Value{starlark.True, starlark.False, starlark.None, starlark.String("1"), starlark.Float(1), starlark.MakeInt64(1 << 40)}
	for i := -2; i < 300; i++ {
		values = append(values, starlark.MakeInt(i))
	}
	shared := 0
	for _, v := range values {
		short := ShortJSON(v)
		if short == nil {
			continue
		}
		shared++
		if text, err := AppendJSON(nil, v); err != nil || string(short) != string(text) {
			t.Errorf("%v is %s, want %s, error %v", v, short, text, err)
		}
	}
	if shared != len(shortInts)+2 {
		t.Errorf("%d texts are shared", shared)
	}
}

// TestShapesCopyValues checks that a record of Of keeps its values when the caller changes its own.
func TestShapesCopyValues(t *testing.T) {
	for _, names := range [][]string{{}, {"a"}, {"a", "b"}, {"a", "b", "c"}, {"a", "b", "c", "d"}} {
		values := make([]Value, len(names))
		for i := range values {
			values[i] = starlark.MakeInt(i)
		}
		s := NewShape(names...)
		got, want := s.Of(values...), s.Record(append([]Value(nil), values...)...)
		for i := range values {
			values[i] = starlark.None
		}
		if got.String() != want.String() {
			t.Errorf("%d values: got %s, want %s", len(names), got, want)
		}
	}
}
