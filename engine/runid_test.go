package engine

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunIDs(t *testing.T) {
	for _, id := range []RunID{"20260301-120000-abcd", "2026", "r", "greetings", "a_b-C9", RunID(strings.Repeat("a", 64))} {
		if err := id.Check(); err != nil {
			t.Errorf("%q is refused: %v", id, err)
		}
	}
	for _, id := range []RunID{
		"", ".", "..", "../x", "../../../../etc/cron.d/x", "a/b", `a\b`, `..\..\x`, "/etc/passwd", `C:\x`, "c:x", "a.log", ".hidden", "-rf", "--data",
		"a b", "a\nb", "a\x00b", "\x1b[2J", "a\u202eb", "ä", "\xff", "CON", "nul", "Com1", "lpt9", "$(x)", "`x`", "a;b", "a'b", "%2e%2e", RunID(strings.Repeat("a", 65)),
	} {
		err := id.Check()
		var field *FieldError
		if !errors.As(err, &field) || field.Field != "run" {
			t.Errorf("%q is taken: %v", id, err)
			continue
		}
		if strings.ContainsAny(err.Error(), "\x00\x1b\n") || len(err.Error()) > 600 {
			t.Errorf("the error of %q repeats it: %q", id, err)
		}
	}
}

func FuzzRunID(f *testing.F) {
	f.Add("20260301-120000-abcd")
	f.Add("../x")
	f.Fuzz(func(t *testing.T, text string) {
		if RunID(text).Check() == nil && (!filepath.IsLocal(text) || filepath.Base(text) != text) {
			t.Errorf("%q leaves its folder", text)
		}
	})
}
