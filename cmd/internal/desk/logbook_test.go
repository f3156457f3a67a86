package desk

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/throng-sim/throng/ui/setup"
)

// TestErrorsOfTheLogAreCounted checks that logged errors are counted and that all records reach the log.
func TestErrorsOfTheLogAreCounted(t *testing.T) {
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	var out strings.Builder
	log := keepLog(slog.NewTextHandler(&out, nil), slog.DiscardHandler)
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

// TestRunsAreLogged checks that the window's log has the events of a run, and that failed sessions do not count as errors
// of the window.
func TestRunsAreLogged(t *testing.T) {
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	var out lockedText
	d := open(t, t.TempDir())
	d.log = keepLog(slog.DiscardHandler, slog.NewTextHandler(&out, nil))
	launch(t, d, func(o *setup.Order) {
		o.Settings.Mock.Faults, o.Settings.Retry.Attempts = map[string]string{"server_error": "0.3"}, 1
	})
	<-d.Settled()
	text := out.String()
	for _, want := range []string{"msg=\"run started\"", "level=ERROR msg=\"session failed\"", "msg=\"cycle 1: ", "msg=ended"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if !strings.HasPrefix(text[strings.Index(text, "level="):], "level=INFO msg=\"run started\"") {
		t.Errorf("the log of a run starts differently:\n%s", text)
	}
	if n, last, _ := d.log.newest(); n != 0 {
		t.Errorf("%d errors of the window, %q", n, last)
	}
}

// lockedText is a writer that several goroutines can use.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
