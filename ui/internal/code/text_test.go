package code

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestUntouched checks that a file without edits stays the same byte for byte.
func TestUntouched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := []byte(rapid.SampledFrom([]string{"", byteOrderMark}).Draw(t, "mark") + rapid.StringMatching("([a: \t]|\r\n|\n|\r|ä){0,40}").Draw(t, "text"))
		text, ok := Parse(file)
		if !ok {
			t.Fatal("no text")
		}
		if got := text.Edited(text.Shown()); !bytes.Equal(got, file) {
			t.Fatalf("%q became %q", file, got)
		}
	})
}

// TestEditKeepsTheRest checks that the lines before and after an edited one keep every byte, whatever replaces it.
func TestEditKeepsTheRest(t *testing.T) {
	end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"})
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return rapid.StringMatching(`[ a-c\t#]{0,5}`).Draw(t, "line") + end.Draw(t, "end")
		}), 0, 8)
		before, after := strings.Join(part.Draw(t, "before"), ""), strings.Join(part.Draw(t, "after"), "")
		if strings.HasSuffix(before, "\r") && strings.HasPrefix(after, "\n") {
			t.Skip("one break")
		}
		middle := "EDITED" + end.Draw(t, "its end")
		if strings.HasSuffix(middle, "\r") && strings.HasPrefix(after, "\n") {
			t.Skip("one break")
		}
		text, _ := Parse([]byte(byteOrderMark + before + middle + after))
		lines := strings.Split(text.Shown(), "\n")
		at := slices.Index(lines, "EDITED")
		instead := rapid.SliceOfN(rapid.SampledFrom([]string{"NEW", "EDITED", "NEWER"}), 0, 3).Draw(t, "instead")
		got := string(text.Edited(strings.Join(slices.Replace(lines, at, at+1, instead...), "\n")))
		if !strings.HasPrefix(got, byteOrderMark+before) || !strings.HasSuffix(got, after) {
			t.Fatalf("%q + %q + %q became %q", before, middle, after, got)
		}
	})
}

func TestNewLinesEndAsTheOthers(t *testing.T) {
	text, _ := Parse([]byte("a: 1\r\nb: 2\r\nc: 3"))
	if got := string(text.Edited("a: 1\nx: 0\nb: 2\nc: 4\n")); got != "a: 1\r\nx: 0\r\nb: 2\r\nc: 4\r\n" {
		t.Errorf("got %q", got)
	}
	if _, ok := Parse([]byte("a\xff")); ok {
		t.Error("a binary file is taken for one")
	}
}
