package doc

import "testing"

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		name, text string
		path       []string
		values     []any
		want       string
	}{
		{"in brackets", "a: [1,  2 ] # so\nb: 2\n", []string{"a"}, []any{int64(3), 0.5}, "a: [1,  2, 3, 0.5 ] # so\nb: 2\n"},
		{"over several lines", "a: [\n  x, # one\n  'y' # two\n]\n", []string{"a"}, []any{"z"}, "a: [\n  x, # one\n  'y', z # two\n]\n"},
		{"in a map", "v: {p: {at: 2, levels: [1]}}\n", []string{"v", "p", "levels"}, []any{int64(2)}, "v: {p: {at: 2, levels: [1, 2]}}\n"},
		{"with dashes", "v:\r\n  p:\r\n    -  1\r\n    -  2 # last\r\nb: 1\r\n", []string{"v", "p"}, []any{int64(3), int64(4)}, "v:\r\n  p:\r\n    -  1\r\n    -  2 # last\r\n    -  3\r\n    -  4\r\nb: 1\r\n"},
		{"with dashes, no final break", "a:\n- x", []string{"a"}, []any{"y z"}, "a:\n- x\n- y z"},
		{"behind lines", "a:\n  - |\n    one\n    two\n", []string{"a"}, []any{"x"}, "a:\n  - |\n    one\n    two\n  - x\n"},
		{"a single value", "a: \"x\" # so\n", []string{"a"}, []any{true}, "a: [\"x\", true] # so\n"},
		{"a missing list", "\ufeffa: 1\n", []string{"m"}, []any{"x", "z"}, "\ufeffa: 1\nm: [x, z]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Append("x.yaml", []byte(c.text), c.path, c.values)
			if err != nil || string(got) != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		path []string
	}{
		"a map":               {"a: {b: 1}\n", []string{"a"}},
		"a list of maps":      {"a: [{b: 1}]\n", []string{"a"}},
		"nothing around it":   {"a: 1\n", []string{"b", "c"}},
		"a file in braces":    {"{a: 1}\n", []string{"b"}},
		"what cannot be read": {"a: [1\n", []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Append("x.yaml", []byte(c.text), c.path, []any{int64(1)}); err == nil {
				t.Errorf("it became %q", got)
			}
		})
	}
}
