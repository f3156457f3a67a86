package config

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestLogLevel saves and deletes levels. The flag takes precedence.
func TestLogLevel(t *testing.T) {
	data := t.TempDir()
	if name, level := LogLevel(data); name != "info" || level != slog.LevelInfo {
		t.Errorf("initial level of %s: %s", name, level)
	}
	want := []slog.Level{slog.LevelError, slog.LevelWarn, slog.LevelInfo, slog.LevelDebug}
	for i, name := range LogLevels {
		if err := saveLogLevel(data, name); err != nil {
			t.Fatal(err)
		}
		if o, level := FindLogLevel(false, data); o != (Origin{Value: name, From: "saved"}) || level != want[i] {
			t.Errorf("%s: got %v %s", name, o, level)
		}
		if o, level := FindLogLevel(true, data); o != (Origin{Value: "debug", From: "--debug"}) || level != slog.LevelDebug {
			t.Errorf("with the flag, %s: got %v %s", name, o, level)
		}
	}
	if err := saveLogLevel(data, ""); err != nil {
		t.Fatal(err)
	}
	if o, level := FindLogLevel(false, data); o != (Origin{Value: "info", From: "default"}) || level != slog.LevelInfo {
		t.Errorf("after deletion: got %v %s", o, level)
	}
}

// TestInvalidLogLevel checks that an invalid level is rejected, and ignored in the file.
func TestInvalidLogLevel(t *testing.T) {
	data := t.TempDir()
	var field *engine.FieldError
	if err := saveLogLevel(data, "loud"); !errors.As(err, &field) || field.Field != "log-level" {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{`{"log-level": "loud"}`, `{"log-le`} {
		if err := os.WriteFile(filepath.Join(data, savedName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if o, level := FindLogLevel(false, data); o != (Origin{Value: "info", From: "default"}) || level != slog.LevelInfo {
			t.Errorf("%s: got %v %s", text, o, level)
		}
	}
}
