package suggest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	keys := []string{"kind", "when", "condition", "depends_on", "max_tokens", "timeout", "get", "post", "as", "do", "to"}
	for word, want := range map[string]string{
		"whne":                      "when",
		"wehn":                      "when",
		"When":                      "when",
		"knd":                       "kind",
		"conditon":                  "condition",
		"depends-on":                "depends_on",
		"depend_on":                 "depends_on",
		"maxtokens":                 "max_tokens",
		"time_out":                  "timeout",
		"posts":                     "post",
		"banana":                    "",
		"x":                         "",
		"":                          "",
		strings.Repeat("when", 100): "",
	} {
		if got := Nearest(word, keys); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := Nearest("when", nil); got != "" {
		t.Errorf("no candidates: got %q", got)
	}
	if got := Nearest("stp", []string{"stop", "step"}); got != "stop" {
		t.Errorf("equally near: got %q, want the first", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"ca", "abc", 3}, {"kitten", "sitting", 3}, {"when", "whne", 1}} {
		if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%q, %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestDistanceIsSymmetricAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := []rune(rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 8, -1).Draw(t, "a"))
		b := []rune(rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 8, -1).Draw(t, "b"))
		d := distance(a, b)
		if back := distance(b, a); back != d {
			t.Errorf("got %d one way and %d the other", d, back)
		}
		if longest := max(len(a), len(b)); d > longest || d < longest-min(len(a), len(b)) {
			t.Errorf("got %d for lengths %d and %d", d, len(a), len(b))
		}
		if (d == 0) != (string(a) == string(b)) {
			t.Errorf("got %d for %q and %q", d, string(a), string(b))
		}
	})
}

func TestGuess(t *testing.T) {
	known := []string{"cycle", "limit"}
	for word, want := range map[string]Guess{
		"cycel":  {"cycle", "did you mean `cycle`? allowed here"},
		"banana": {"", "there are two"},
	} {
		if got := NewGuess(word, known, "there are two").And("allowed here"); got != want {
			t.Errorf("%q: got %+v, want %+v", word, got, want)
		}
	}
}
