package code

import (
	"testing"

	"pgregory.net/rapid"
)

// TestChangesAreTakenBack checks that undoing random edits one by one restores the text, and that redoing them restores
// the edited text.
func TestChangesAreTakenBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.StringMatching(`[ab\n]{0,20}`).Draw(t, "text")
		b := newBuffer(first)
		if got := b.text(); got != first {
			t.Fatalf("%q is held as %q", first, got)
		}
		for range rapid.IntRange(0, 12).Draw(t, "edits") {
			from := b.hold(place{rapid.IntRange(0, 9).Draw(t, "row"), rapid.IntRange(0, 9).Draw(t, "col")})
			to := b.hold(place{rapid.IntRange(0, 9).Draw(t, "to row"), rapid.IntRange(0, 9).Draw(t, "to col")})
			if to.before(from) {
				from, to = to, from
			}
			text := rapid.SampledFrom([]string{"x", "y", "\n", "", "a\nä"}).Draw(t, "typed")
			want := b.part(place{}, from) + text + b.part(to, b.end())
			if end := b.put(from, to, text); b.text() != want || b.part(end, end) != "" {
				t.Fatalf("%q, not %q", b.text(), want)
			}
		}
		last := b.text()
		for ok := true; ok; {
			_, ok = b.undo()
		}
		if got := b.text(); got != first {
			t.Fatalf("taken back: %q, not %q", got, first)
		}
		for ok := true; ok; {
			_, ok = b.redo()
		}
		if got := b.text(); got != last {
			t.Fatalf("made again: %q, not %q", got, last)
		}
	})
}

func TestLettersAreOneChange(t *testing.T) {
	b := newBuffer("ab")
	at := place{0, 1}
	for _, letter := range []string{"x", "y", "z"} {
		at = b.put(at, at, letter)
	}
	if where, ok := b.undo(); !ok || b.text() != "ab" || where != (place{0, 1}) {
		t.Errorf("one step back returns %q at %v", b.text(), where)
	}
	if _, ok := b.undo(); ok {
		t.Error("there was one more change")
	}
}

func TestWords(t *testing.T) {
	b := newBuffer("step one_2: {x}\n  next")
	for _, c := range []struct {
		from place
		by   int
		want place
	}{
		{place{0, 0}, 1, place{0, 4}},
		{place{0, 4}, 1, place{0, 10}},
		{place{0, 10}, -1, place{0, 5}},
		{place{1, 2}, -1, place{0, 13}},
		{place{0, 14}, 1, place{1, 6}},
		{place{0, 0}, -1, place{0, 0}},
	} {
		if got := b.word(c.from, c.by); got != c.want {
			t.Errorf("from %v by %d: %v, want %v", c.from, c.by, got, c.want)
		}
	}
}
