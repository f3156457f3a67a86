package config

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// LogLevelKey is the name of the setting for the log level.
const LogLevelKey = "log-level"

// LogLevels are the available levels, from the least to the most verbose.
var LogLevels = []string{"error", "warning", "info", "debug"}

// defaultLevel is the default of LogLevels.
const defaultLevel = "info"

// LogLevel returns the saved log level, or the default.
func LogLevel(data string) (name string, level slog.Level) {
	o, level := FindLogLevel(false, data)
	return o.Value, level
}

// FindLogLevel returns the log level and its source: the flag --debug, the saved settings, or the default. It ignores saved
// settings that cannot be read.
func FindLogLevel(debug bool, data string) (o Origin, level slog.Level) {
	if debug {
		return Origin{Value: "debug", From: "--debug"}, slog.LevelDebug
	}
	o = Origin{Value: defaultLevel, From: "default"}
	if saved, err := LoadSaved(data); err == nil && slices.Contains(LogLevels, saved[LogLevelKey]) {
		o = Origin{Value: saved[LogLevelKey], From: fromSaved}
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

// saveLogLevel saves the log level; "" deletes it.
func saveLogLevel(data, name string) error {
	if name != "" && !slices.Contains(LogLevels, name) {
		return &engine.FieldError{Field: LogLevelKey, Problem: fmt.Sprintf("unknown log level %q", name), Hint: "choose " + strings.Join(LogLevels, ", ")}
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
