package desk

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/crashes"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/logs"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/visible"
	"github.com/throng-sim/throng/ui/live"
)

// logbook counts errors in the log, and passes all records on.
type logbook struct {
	slog.Handler
	trouble *trouble
}

// trouble counts logged errors.
type trouble struct {
	mu     sync.Mutex
	errors int
	last   string
	at     time.Time

	runs slog.Handler // for the log of runs, whose failed sessions are not errors of the window
}

// keepLog counts logged errors, and writes all records with h. Runs log to runs.
func keepLog(h, runs slog.Handler) *trouble {
	t := &trouble{runs: runs}
	slog.SetDefault(slog.New(logbook{h, t}))
	return t
}

// openLog logs to the data folder and to a terminal, if there is one. If the folder is not writable, it logs only to the terminal; opening
// the store reports the reason.
func openLog(data string, level *slog.LevelVar, w io.Writer) (t *trouble, file io.Closer) {
	_, saved := config.LogLevel(data)
	level.Set(saved)
	seen := slog.NewTextHandler(visible.NewWriter(w), &slog.HandlerOptions{Level: level, ReplaceAttr: logs.Redacting(secrets.Redact)})
	log, file, err := logs.Open(logs.Options{File: logs.FileIn(data, crashes.WindowName), Level: level, Redact: secrets.Redact})
	if err != nil {
		return keepLog(seen, slog.DiscardHandler), io.NopCloser(nil)
	}
	return keepLog(slog.NewMultiHandler(log.Handler(), seen), log.Handler()), file
}

// Handle implements [slog.Handler].
func (l logbook) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		l.trouble.note(&r)
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (l logbook) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logbook{l.Handler.WithAttrs(attrs), l.trouble}
}

// WithGroup implements [slog.Handler].
func (l logbook) WithGroup(name string) slog.Handler {
	return logbook{l.Handler.WithGroup(name), l.trouble}
}

func (t *trouble) note(r *slog.Record) {
	parts := []string{r.Message}
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			parts = append(parts, a.Value.String())
		}
		return true
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errors, t.last, t.at = t.errors+1, strings.Join(parts, ": "), r.Time
}

// newest returns the number of logged errors, and the last one.
func (t *trouble) newest() (errors int, last string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.errors, t.last, t.at
}

// mostLines is the maximum number of lines of the log about a run.
const mostLines = 5000

// logOf returns a function that reads what the logs have about a run.
func (d *Desk) logOf(run engine.RunID) func(context.Context) ([]live.LogLine, error) {
	return func(context.Context) (all []live.LogLine, err error) {
		found, err := logs.OfRun(string(run), mostLines, logs.FileIn(d.data, crashes.WindowName), logs.FileIn(d.data, crashes.TerminalName))
		for _, l := range found {
			all = append(all, live.LogLine(l))
		}
		return all, err
	}
}
