package desk

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestErrorsOfTheLogAreCounted, and nothing that is logged is lost.
func TestErrorsOfTheLogAreCounted(t *testing.T) {
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	var out strings.Builder
	log := keepLog(slog.NewTextHandler(&out, nil))
	slog.Info("begun")
	if n, last, _ := log.newest(); n != 0 || last != "" {
		t.Errorf("%d errors, %q", n, last)
	}
	slog.With("run", "r").WithGroup("g").Error("a row was not sent", "error", errors.New("no disk"))
	slog.Error("the run was not written")
	if n, last, at := log.newest(); n != 2 || last != "the run was not written" || at.IsZero() {
		t.Errorf("%d errors, %q at %v", n, last, at)
	}
	for _, want := range []string{"begun", "a row was not sent", "no disk", "run=r"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %s", want, out.String())
		}
	}
}
