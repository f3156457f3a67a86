package desk

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// logbook counts what is logged as an error, and passes everything on.
type logbook struct {
	slog.Handler
	trouble *trouble
}

// trouble is what was logged as an error.
type trouble struct {
	mu     sync.Mutex
	errors int
	last   string
	at     time.Time
}

// keepLog has what is logged written to a place, and its errors counted.
func keepLog(w io.Writer) *trouble {
	t := &trouble{}
	slog.SetDefault(slog.New(logbook{slog.NewTextHandler(w, nil), t}))
	return t
}

// Handle is part of [slog.Handler].
func (l logbook) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		l.trouble.note(&r)
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs is part of [slog.Handler].
func (l logbook) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logbook{l.Handler.WithAttrs(attrs), l.trouble}
}

// WithGroup is part of [slog.Handler].
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

// newest returns how many errors were logged, and the last.
func (t *trouble) newest() (errors int, last string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.errors, t.last, t.at
}
