package doc

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPositionInvertsOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "é", "日", "\n", "\r\n", "\r", "a long stretch of text without any break in it ", "日本語の長い文章", "日本語の長い文章、日本語の長い文章、日本語の長い文章、日本語の長い文章、日本語の長い文章、日本語の長い文章"})
		text := ""
		for _, part := range rapid.SliceOfN(unit, 0, 60).Draw(t, "parts") {
			text += part
		}
		s := newSource("f", []byte(text))
		line, col := 1, 1
		for at := 0; at < len(text); {
			if gotLine, gotCol := s.position(at); gotLine != line || gotCol != col {
				t.Fatalf("position(%d): got %d:%d, want %d:%d", at, gotLine, gotCol, line, col)
			}
			if got := s.offset(line, col); got != at {
				t.Fatalf("offset(%d, %d): got %d, want %d", line, col, got, at)
			}
			if n := breakLen(text[at:]); n > 0 {
				at, line, col = at+n, line+1, 1
				continue
			}
			_, size := utf8.DecodeRuneInString(text[at:])
			at, col = at+size, col+1
		}
	})
}

func TestPositionsStayInside(t *testing.T) {
	s := newSource("f", []byte("ab\ncdé\n"))
	for _, c := range []struct{ offset, line, col int }{{-5, 1, 1}, {0, 1, 1}, {6, 2, 4}, {8, 2, 4}, {99, 2, 4}} {
		if line, col := s.position(c.offset); line != c.line || col != c.col {
			t.Errorf("position(%d): got %d:%d, want %d:%d", c.offset, line, col, c.line, c.col)
		}
	}
	for _, c := range []struct{ line, col, offset int }{{0, 5, 0}, {1, -1, 0}, {1, 9, 2}, {2, 3, 5}, {2, 9, 7}, {3, 1, 8}, {9, 1, 8}} {
		if got := s.offset(c.line, c.col); got != c.offset {
			t.Errorf("offset(%d, %d): got %d, want %d", c.line, c.col, got, c.offset)
		}
	}
}
