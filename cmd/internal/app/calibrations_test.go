package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
)

func TestCalibrationsAreKeptByWhatTheyAreOf(t *testing.T) {
	data := t.TempDir()
	of := func(host, hash, place string, level int) {
		t.Helper()
		c := calibration.Record{At: time.Now(), Machine: calibration.Machine{Host: host, Cores: 2}, Hash: hash, Services: []string{place}}
		c.Result.Level = level
		if err := c.Save(data); err != nil || c.Notice != "" {
			t.Fatal(err, c.Notice)
		}
	}
	of("a", "1", "shop: mock", 5)
	of("a", "2", "shop: mock", 6)
	of("a", "1", "shop: staging", 7)
	of("b", "1", "shop: mock", 8)
	of("a", "1", "shop: mock", 9)
	all, _, err := calibration.List(data)
	if err != nil {
		t.Fatal(err)
	}
	var levels []int
	for _, c := range all {
		levels = append(levels, c.Result.Level)
	}
	if len(levels) != 4 || levels[0] != 9 || levels[1] != 8 || levels[3] != 6 {
		t.Errorf("stored levels %v", levels)
	}
}

// TestDamagedCalibrations checks that a damaged file is renamed, and that new calibrations are stored.
func TestDamagedCalibrations(t *testing.T) {
	for _, text := range []string{"", "{", `{"Version": 0}`, `[1]`} {
		data := t.TempDir()
		if err := os.WriteFile(filepath.Join(data, calibration.ListFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := calibration.Record{Hash: "1"}
		if err := c.Save(data); err != nil || !strings.Contains(c.Notice, "damaged") {
			t.Errorf("%q: %v, %q", text, err, c.Notice)
		}
		aside, err := filepath.Glob(filepath.Join(data, "*.damaged-*"))
		if err != nil || len(aside) != 1 {
			t.Fatalf("%q: %v, %v", text, aside, err)
		}
		if kept, err := os.ReadFile(aside[0]); err != nil || string(kept) != text {
			t.Errorf("%q became %q, %v", text, kept, err)
		}
		if all, notice, err := calibration.List(data); err != nil || notice != "" || len(all) != 1 {
			t.Errorf("%q: got %d, %q, %v", text, len(all), notice, err)
		}
	}
}

// TestNewerCalibrations checks that the file of a newer version stays unchanged.
func TestNewerCalibrations(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, calibration.ListFile)
	if err := os.WriteFile(path, []byte(`{"Version": 99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := calibration.List(data); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("%v", err)
	}
	if err := (&calibration.Record{}).Save(data); err == nil {
		t.Error("the file was overwritten")
	}
	if kept, err := os.ReadFile(path); err != nil || string(kept) != `{"Version": 99}` {
		t.Errorf("%q, %v", kept, err)
	}
}

func FuzzCalibrations(f *testing.F) {
	f.Add([]byte(`{"Version": 1, "Calibrations": [{"Result": {"Level": 3}}]}`))
	f.Add([]byte(`{"Version": 1e400}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		data := t.TempDir()
		if err := os.WriteFile(filepath.Join(data, calibration.ListFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		all, notice, err := calibration.List(data)
		if err != nil && (notice != "" || all != nil) || notice != "" && all != nil {
			t.Errorf("%d, %q, %v", len(all), notice, err)
		}
	})
}

func TestApplyLevel(t *testing.T) {
	data := t.TempDir()
	if err := config.Save(data, map[string]string{"ceiling": "80", "floor": "20", "retries": "3"}); err != nil {
		t.Fatal(err)
	}
	if err := calibration.ApplyLevel(data, 12); err != nil {
		t.Fatal(err)
	}
	saved, err := config.LoadSaved(data)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := config.Layers{Saved: saved}.Resolve()
	if err != nil || s.Limit != 12 || s.Ceiling != 12 || s.Floor != 12 || s.Retry.Attempts != 3 {
		t.Errorf("%d from %d to %d, %v", s.Limit, s.Floor, s.Ceiling, err)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

func TestPlacesHoldNoPassword(t *testing.T) {
	s, err := authoring.Load("shopping", nil)
	if err != nil {
		t.Fatal(err)
	}
	l := Launch{Services: Services{Scenario: s, Settings: engine.DefaultSettings()}}
	l.Settings.Services = map[string]string{"shop": "https://me:geheim@staging.example.com/v1", "model": "http://127.0.0.1:8081"}
	got := strings.Join(l.Permits().places(), "; ")
	if strings.Contains(got, "geheim") || !strings.Contains(got, "model: 127.0.0.1:8081") {
		t.Errorf("the services are at %q", got)
	}
}
