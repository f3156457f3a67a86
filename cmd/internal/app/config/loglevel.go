package config

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// LogLevelKey is the name of the setting of how much is logged, and LogLevelHelp what it means.
const (
	LogLevelKey  = "log-level"
	LogLevelHelp = "what is logged: error, warning, info or debug, each with those before it"
)

// LogLevels are the levels that a person can choose, the quietest first.
var LogLevels = []string{"error", "warning", "info", "debug"}

// usualLevel is that of LogLevels where nobody chose.
const usualLevel = "info"

// LogLevel is how much is logged; info where nothing is saved.
func LogLevel(data string) (name string, level slog.Level) {
	o, level := FindLogLevel(false, data)
	return o.Value, level
}

// FindLogLevel is how much is logged and where that is said: by the flag --debug, or saved. Saved settings that cannot be
// read say nothing.
func FindLogLevel(debug bool, data string) (o Origin, level slog.Level) {
	if debug {
		return Origin{"debug", "--debug"}, slog.LevelDebug
	}
	o = Origin{usualLevel, "default"}
	if saved, err := LoadSaved(data); err == nil && slices.Contains(LogLevels, saved[LogLevelKey]) {
		o = Origin{saved[LogLevelKey], fromSaved}
	}
	switch o.Value {
	case "error":
		return o, slog.LevelError
	case "warning":
		return o, slog.LevelWarn
	case "debug":
		return o, slog.LevelDebug
	}
	return o, slog.LevelInfo
}

// SaveLogLevel keeps how much is logged; "" forgets it.
func SaveLogLevel(data, name string) error {
	if name != "" && !slices.Contains(LogLevels, name) {
		return &engine.FieldError{Field: LogLevelKey, Problem: fmt.Sprintf("%q is none of %s", name, strings.Join(LogLevels, ", "))}
	}
	saved, err := LoadSaved(data)
	if err != nil {
		return err
	}
	if delete(saved, LogLevelKey); name != "" {
		saved[LogLevelKey] = name
	}
	return store(data, saved)
}
