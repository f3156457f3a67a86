package iteration

import "testing"

func TestNames(t *testing.T) {
	n := New([]string{"a", "b"})
	for _, test := range []struct {
		path string
		top  bool
		pass int
		want string // of the second step; "" if its path is not shared
	}{
		{"each", true, 0, "each[0].b"},
		{"each", true, shared - 1, "each[63].b"},
		{"each", true, shared, ""},
		{"outer[3].each", false, 1, ""},
	} {
		prefix, paths := n.Of(test.path, test.top, test.pass)
		if want := prefixOf(test.path, test.pass); prefix != want {
			t.Errorf("the prefix of pass %d of %s is %s, want %s", test.pass, test.path, prefix, want)
		}
		if got := append(paths, "", "")[1]; got != test.want {
			t.Errorf("the second step of pass %d of %s is %q, want %q", test.pass, test.path, got, test.want)
		}
	}
	if _, paths := New(make([]string, sharedSteps+1)).Of("each", true, 0); paths != nil {
		t.Error("a long block shares its paths")
	}
}
