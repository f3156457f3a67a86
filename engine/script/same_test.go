package script

import "testing"

func TestSame(t *testing.T) {
	const base = "X = 3\ndef f(a, b):\n    if a > 1:\n        return a[1:]\n    else:\n        return [x for x in b]\n"
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"comments and layout", "# what X is\nX=3\n\ndef f(a,b): # and f\n  if (a > 1): return a[1:]\n  else:\n    return [ x for x in b ]\n", true},
		{"another number", "X = 4\ndef f(a, b):\n    if a > 1:\n        return a[1:]\n    else:\n        return [x for x in b]\n", false},
		{"another comparison", "X = 3\ndef f(a, b):\n    if a >= 1:\n        return a[1:]\n    else:\n        return [x for x in b]\n", false},
		{"another end of a slice", "X = 3\ndef f(a, b):\n    if a > 1:\n        return a[:1]\n    else:\n        return [x for x in b]\n", false},
		{"another kind of comprehension", "X = 3\ndef f(a, b):\n    if a > 1:\n        return a[1:]\n    else:\n        return {x: x for x in b}\n", false},
		{"a statement moved out of a branch", "X = 3\ndef f(a, b):\n    if a > 1:\n        return a[1:]\n    return [x for x in b]\n", false},
		{"a text that is a number", "X = \"3\"\ndef f(a, b):\n    if a > 1:\n        return a[1:]\n    else:\n        return [x for x in b]\n", false},
		{"what cannot be read", base + "def\n", false},
	} {
		if got := Same(base, c.text); got != c.want {
			t.Errorf("%s: same is %v, want %v", c.name, got, c.want)
		}
	}
	if !Same("def", "def") {
		t.Error("the same text that cannot be read is not the same")
	}
}
