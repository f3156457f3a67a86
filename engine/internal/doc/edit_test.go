package doc

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSet(t *testing.T) {
	for _, c := range []struct {
		name, text string
		path       []string
		value      any
		want       string
	}{
		{"a number in a flow map", "a: {default: 372, min: 1} # so many\nb: 2\n", []string{"a", "default"}, int64(5), "a: {default: 5, min: 1} # so many\nb: 2\n"},
		{"the last line without an end", "b: 2\na:   1", []string{"a"}, 0.5, "b: 2\na:   0.5"},
		{"CRLF and a mark", "\ufeffa: 1\r\nb:\r\n  c: x # why\r\n", []string{"b", "c"}, "y z", "\ufeffa: 1\r\nb:\r\n  c: y z # why\r\n"},
		{"single quotes stay", "a: 'it''s'\n", []string{"a"}, "isn't", "a: 'isn''t'\n"},
		{"a text that looks like a number", "a: x\n", []string{"a"}, "12", "a: \"12\"\n"},
		{"a text that says yes", "a: x\n", []string{"a"}, "Yes", "a: \"Yes\"\n"},
		{"a block", "a: |\n  one\n  two\nb: 1\n", []string{"a"}, "three", "a: three\nb: 1\n"},
		{"lines", "a: \"x\"\nb: 1\n", []string{"a"}, "one\ntwo", "a: \"one\\ntwo\"\nb: 1\n"},
		{"a key that is missing", "clock:\n    # from\n    start: 1\n", []string{"clock", "cycles"}, int64(7), "clock:\n    # from\n    cycles: 7\n    start: 1\n"},
		{"a key that a flow map lacks", "clock: {start: 1}\n", []string{"clock", "cycles"}, int64(7), "clock: {cycles: 7, start: 1}\n"},
		{"an empty flow map", "clock: {}\n", []string{"clock", "cycles"}, int64(7), "clock: {cycles: 7}\n"},
		{"a map that is missing", "a: 1\r\n", []string{"clock", "cycles"}, int64(7), "a: 1\r\nclock: {cycles: 7}\r\n"},
		{"a map that is missing, no final break", "a: 1", []string{"clock", "cycles"}, int64(7), "a: 1\nclock: {cycles: 7}"},
		{"a key of the file", "# about\na: 1\n", []string{"order"}, "sequential", "# about\norder: sequential\na: 1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Set("x.yaml", []byte(c.text), c.path, c.value)
			if err != nil || string(got) != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		path []string
	}{
		"a list":             {"a: [1, 2]\n", []string{"a"}},
		"a map":              {"a: {b: 1}\n", []string{"a"}},
		"inside of a scalar": {"a: 1\n", []string{"a", "b"}},
		"nothing around it":  {"a: 1\n", []string{"b", "c", "d"}},
		"what is not read":   {"a: [1\n", []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Set("x.yaml", []byte(c.text), c.path, int64(1)); err == nil {
				t.Errorf("it became %q", got)
			}
		})
	}
}

// TestSetKeepsTheRest checks that a change affects one part of the text, and that all other bytes stay.
func TestSetKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		breaks := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "breaks")
		layout := rapid.SampledFrom([]string{"# %\na:   @   # here\nb: 2\n", "a: {x: 1,  default: @,y: [1, '2']} #\nb: 'x'", "p:\n  - 1\nq:\n    # note\n    a: @\n\n    c: |\n      text: 1\n"}).Draw(t, "layout")
		old := rapid.SampledFrom([]string{"1", "0.25", "'it''s'", `"q\"x"`, "plain words", "true"}).Draw(t, "old")
		value := rapid.OneOf(rapid.Just[any](true), rapid.Map(rapid.Int64(), func(i int64) any { return i }),
			rapid.Map(rapid.StringMatching(`[ -~äß\n]{0,20}`), func(s string) any { return s })).Draw(t, "value")
		text := strings.ReplaceAll(strings.Replace(layout, "@", old, 1), "\n", breaks)
		path := []string{"a"}
		switch {
		case strings.Contains(layout, "default"):
			path = []string{"a", "default"}
		case strings.HasPrefix(layout, "p:"):
			path = []string{"q", "a"}
		}
		got, err := Set("x.yaml", []byte(text), path, value)
		if err != nil {
			t.Fatalf("%q to %v: %v", text, value, err)
		}
		before, after, _ := strings.Cut(strings.ReplaceAll(layout, "\n", breaks), "@")
		if !strings.HasPrefix(string(got), before) || !strings.HasSuffix(string(got), after) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func FuzzSet(f *testing.F) {
	f.Add("a: {default: 1}\n", "x")
	f.Add("\ufeffa:\r\n  default: 'x' # c\r\n", "it's")
	f.Fuzz(func(t *testing.T, text, value string) {
		got, err := Set("x.yaml", []byte(text), []string{"a", "default"}, value)
		if err != nil {
			return
		}
		back := Parse("x.yaml", got, &Report{})
		if v := back.Get("a").Get("default").Scalar(); v != value {
			t.Errorf("%q became %q: %v, not %q", text, got, v, value)
		}
	})
}
