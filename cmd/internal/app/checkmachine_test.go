package app

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/awake"
	"github.com/throng-sim/throng/cmd/internal/power"
	"github.com/throng-sim/throng/engine"
)

func TestCheckDiskAndMemory(t *testing.T) {
	need := func(low, high float64) engine.Estimate { return engine.Between(low, high, engine.Guessed) }
	small := engine.HostMetrics{MemoryTotal: 8e9, Available: 3e9}
	for _, c := range []struct {
		name string
		got  engine.Check
		want engine.Grade
		mend string
	}{
		{"much disk", checkDisk(engine.HostMetrics{DiskFree: 50e9}, need(1e9, 2e9)), engine.GradeOK, ""},
		{"little disk", checkDisk(engine.HostMetrics{DiskFree: 5e9}, engine.Estimate{}), engine.GradeWarning, engine.FixFree},
		{"less than it may need", checkDisk(engine.HostMetrics{DiskFree: 50e9}, need(20e9, 80e9)), engine.GradeWarning, engine.FixFree},
		{"less than it needs", checkDisk(engine.HostMetrics{DiskFree: 50e9}, need(60e9, 80e9)), engine.GradeProblem, engine.FixFree},
		{"an unknown disk", checkDisk(engine.HostMetrics{}, need(1, 2)), engine.GradeUnknown, ""},
		{"enough memory", checkMemory(engine.HostMetrics{MemoryTotal: 16e9, Available: 5e9}, need(1e9, 2e9)), engine.GradeOK, ""},
		{"little memory", checkMemory(engine.HostMetrics{MemoryTotal: 16e9, Available: 3e9}, engine.Estimate{}), engine.GradeWarning, engine.FixAgain},
		{"a small machine", checkMemory(small, engine.Estimate{}), engine.GradeOK, ""},
		{"memory that it may need", checkMemory(small, need(1e9, 4e9)), engine.GradeWarning, engine.FixAgain},
		{"memory that it needs", checkMemory(small, need(4e9, 5e9)), engine.GradeProblem, engine.FixAgain},
		{"unknown memory", checkMemory(engine.HostMetrics{}, need(1, 2)), engine.GradeUnknown, ""},
	} {
		if c.got.Grade != c.want || c.got.Fix != c.mend || c.got.Text == "" {
			t.Errorf("%s: got %+v, want %s, %q", c.name, c.got, c.want, c.mend)
		}
	}
}

func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	if c := checkFolder(filepath.Join(dir, "new", "folder")); c.Grade != engine.GradeOK {
		t.Errorf("a folder that does not exist yet: %+v", c)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left files %v, %v", left, err)
	}
	file := filepath.Join(dir, "file") // not even root can write into a file
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := checkFolder(file); c.Grade != engine.GradeProblem || c.Fix != engine.FixSettings || !strings.Contains(c.Text, "is not writable") {
		t.Errorf("a file in its place: %+v", c)
	}
}

func TestCheckPower(t *testing.T) {
	unknown := errors.Join(power.ErrUnknown)
	for _, c := range []struct {
		name   string
		source power.Source
		err    error
		sleeps error
		want   engine.Grade
		says   string
	}{
		{"plugged in", power.Source{Percent: 80}, nil, nil, engine.GradeOK, "plugged in, at 80%"},
		{"a desktop", power.Source{Percent: -1}, nil, nil, engine.GradeOK, "plugged in; it is kept awake"},
		{"on battery", power.Source{Battery: true, Percent: 31}, nil, nil, engine.GradeWarning, "on battery, at 31%"},
		{"no inhibitor", power.Source{Percent: -1}, nil, fmt.Errorf("%w: no bus", awake.ErrNone), engine.GradeOK, "no sleep inhibitor"},
		{"refused", power.Source{Percent: -1}, nil, errors.New("refused"), engine.GradeWarning, "may sleep: refused"},
		{"it may sleep", power.Source{Percent: -1}, nil, errNotKeptAwake, engine.GradeWarning, "not kept awake"},
		{"unknown source", power.Source{}, unknown, nil, engine.GradeUnknown, "does not tell"},
		{"unknown source, and it may sleep", power.Source{}, unknown, errNotKeptAwake, engine.GradeWarning, "not kept awake"},
	} {
		if got := checkPower(c.source, c.err, c.sleeps); got.Grade != c.want || !strings.Contains(got.Text, c.says) {
			t.Errorf("%s: got %+v, want %s", c.name, got, c.want)
		}
	}
}

func TestCheckLog(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(os.Stderr, nil))
	loud := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	grade := func(log *slog.Logger, change func(s *engine.Settings)) engine.Grade {
		l := Launch{Services: Services{Settings: engine.DefaultSettings()}}
		change(&l.Settings)
		return l.checks(false).checkLog(t.Context(), log).Grade
	}
	if got := grade(quiet, func(*engine.Settings) {}); got != engine.GradeOK {
		t.Errorf("the defaults: %s", got)
	}
	for name, got := range map[string]engine.Grade{
		"every detail": grade(loud, func(*engine.Settings) {}),
		"recording":    grade(quiet, func(s *engine.Settings) { s.Record = true }),
		"all requests": grade(quiet, func(s *engine.Settings) { s.KeepShare = 1 }),
	} {
		if got != engine.GradeWarning {
			t.Errorf("%s: %s", name, got)
		}
	}
}
