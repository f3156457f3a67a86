package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/crashes"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/logs"
	"github.com/throng-sim/throng/engine"
)

// openLog opens the log of a command: the file given with --log-file or, for commands that run a scenario, one in the data
// folder. Warnings are also printed on standard error unless a dashboard is on the terminal.
func openLog(t *terminal, flags *common, command string) (end func(), err error) {
	_, level := config.FindLogLevel(flags.Debug, t.data)
	o := logs.Options{File: flags.LogFile, Level: level, Redact: secrets.Redact}
	people := max(level, slog.LevelWarn)
	if flags.Debug {
		people = slog.LevelDebug
	}
	first, _, _ := strings.Cut(command, " ")
	if o.File == "" && (first == "run" || first == "resume" || first == "fork") {
		o.File, o.Later = logs.FileIn(t.data, crashes.TerminalName), true
	}
	t.log, end = slog.New(slog.DiscardHandler), func() {}
	if o.File != "" {
		file, closer, err := logs.Open(o)
		if err != nil {
			return nil, &engine.FieldError{Field: "log-file", Problem: err.Error()}
		}
		t.log = file
		end = func() {
			if err := closer.Close(); err != nil {
				fmt.Fprintf(t.err, "the log: %v\n", err)
			}
		}
	}
	if t.exit != nil { // a process, not a test
		seen := slog.NewTextHandler(t.err, &slog.HandlerOptions{Level: people, ReplaceAttr: logs.Redacting(secrets.Redact)})
		slog.SetDefault(slog.New(slog.NewMultiHandler(t.log.Handler(), withoutDashboard{seen, t.screens})))
	}
	return end, nil
}

// withoutDashboard is a handler that drops records while a dashboard is on the terminal.
type withoutDashboard struct {
	slog.Handler
	screens *screens
}

// Enabled implements [slog.Handler].
func (b withoutDashboard) Enabled(ctx context.Context, level slog.Level) bool {
	return !b.screens.taken() && b.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (b withoutDashboard) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withoutDashboard{b.Handler.WithAttrs(attrs), b.screens}
}

// WithGroup implements [slog.Handler].
func (b withoutDashboard) WithGroup(name string) slog.Handler {
	return withoutDashboard{b.Handler.WithGroup(name), b.screens}
}
