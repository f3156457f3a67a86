package visible

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// attacks are texts that affect a terminal or mislead readers.
var attacks = []string{
	"\x1b[2J\x1b[H", "\x1b]0;owned\x07", "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\", "\x1b]52;c;cm0gLXJmIH4=\x07", "\x1bP$q\x1b\\", "\x1b[6n",
	"\u009b31mred", "\u009d0;owned\u009c", "\x9b2J", "done\rfake", "a\bb", "\x07\x00\x7f", "safe\u202egnp.exe", "\u2066a\u2069", "\u200f\u061c", "zero\u200bwidth", "\ufeffmark",
	"tags\U000e0041\U000e0042", "line\u2028break", "\u2060\u2064\u206a",
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":              "",
		"plain\n\tword": "plain\n\tword",
		"Grüße, 日本, שלום, 👩\u200d💻, می\u200cخواهم": "Grüße, 日本, שלום, 👩\u200d💻, می\u200cخواهم",
		"\x1b[31mred": `\u001b[31mred`,
		"a\u202eb":    `a\u202eb`,
		"\u009b":      `\u009b`,
		"\U000e0041":  `\udb40\udc41`,
		"\xff\x9b":    "\uFFFD\uFFFD",
		"a\rb":        `a\u000db`,
	} {
		if got := Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
	if got, want := Line("two\nlines\tand \x1b"), `two\nlines\tand \u001b`; got != want {
		t.Errorf("Line: %q, want %q", got, want)
	}
	for _, attack := range attacks {
		if got := Text(attack); strings.ContainsFunc(got, acts) || !utf8.ValidString(got) || got == attack {
			t.Errorf("Text(%q) = %q", attack, got)
		}
	}
}

// TestJSONStaysTheSame checks that escaped JSON keeps its meaning.
func TestJSONStaysTheSame(t *testing.T) {
	all := strings.ToValidUTF8(strings.Join(attacks, " "), "\uFFFD")
	var b bytes.Buffer
	w := NewWriter(&b)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(map[string]string{all: all}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.ContainsFunc(text, acts) {
		t.Errorf("it acts: %q", text)
	}
	var got map[string]string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got[all] != all {
		t.Errorf("got %q, %v\nwant %q", got, err, all)
	}
}

// TestWriterInPieces checks that splits of the input do not matter.
func TestWriterInPieces(t *testing.T) {
	all := strings.Join(attacks, "|") + "Grüße 日本 👩‍💻 \xe2\x80"
	for _, step := range []int{1, 2, 3, 5, len(all)} {
		var b bytes.Buffer
		w := NewWriter(&b)
		for rest := all; rest != ""; {
			n := min(step, len(rest))
			if got, err := w.Write([]byte(rest[:n])); got != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", got, n, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), Text(all); got != want {
			t.Errorf("in pieces of %d\n%q, want\n%q", step, got, want)
		}
	}
	w := NewWriter(iotest.TruncateWriter(failing{}, 0))
	if _, err := w.Write([]byte("x")); err != nil {
		t.Errorf("a writer that takes nothing: %v", err)
	}
	if _, err := NewWriter(failing{}).Write([]byte("x")); err == nil {
		t.Error("the error of the writer below is lost")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

func FuzzText(f *testing.F) {
	for _, attack := range attacks {
		f.Add(attack)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Text(text)
		if strings.ContainsFunc(got, acts) || !utf8.ValidString(got) || Text(got) != got {
			t.Errorf("Text(%q) = %q", text, got)
		}
	})
}
