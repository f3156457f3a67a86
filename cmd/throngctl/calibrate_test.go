package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine"
)

// brief returns a calibration of the shoppers that takes a second.
func brief(data string, more ...string) []string {
	return append([]string{
		"calibrate", "shopping", "--data", data, "--set", "agents=30", "--set", "eagerness=8", "--mock-latency", "none",
		"--levels", "1,2,4", "--repeats", "1", "--duration", "100ms",
	}, more...)
}

// unseen returns the metrics of a machine that cannot be measured. On a busy machine, levels would be skipped.
func unseen() engine.HostMetrics { return engine.HostMetrics{} }

// rested runs ctl on such a machine.
func rested(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = execute(args, &terminal{in: strings.NewReader(""), out: &out, err: &errs, hooks: hooks{trusts: true, host: unseen}})
	return code, out.String(), errs.String()
}

func TestCalibrate(t *testing.T) {
	data := t.TempDir()
	code, out, stderr := rested(t, brief(data, "--apply")...)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, want := range []string{
		`(?m)^measured 3/3`, `Marketplace shoppers, 30 agents, on .*\d cores`, `(?m)^  LIMIT +SESSIONS/S +P95`, `(?m)^  4 +\S+ `,
		`with λ [\d.,]+`, `\d concurrent sessions?.*imited by `, `saved: max-concurrent=(\d) ceiling=\d`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	saved, err := config.LoadSaved(data)
	if err != nil || saved["max-concurrent"] == "" || saved["ceiling"] != saved["max-concurrent"] {
		t.Errorf("saved: %v, %v", saved, err)
	}
	if _, out, _ := ctl(t, "runs", "--data", data); !strings.Contains(out, errNoRun.Error()) {
		t.Errorf("the store has runs:\n%s", out)
	}
	left, err := filepath.Glob(filepath.Join(data, "calibrate-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("not removed: %v, %v", left, err)
	}
}

func TestCalibrateJSON(t *testing.T) {
	data := t.TempDir()
	code, out, stderr := rested(t, brief(data, "--json")...)
	var found calibration.Record
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&found); err != nil || code != exitDone {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, stderr)
	}
	if found.Scenario != "shopping" || len(found.Result.Levels) != 3 || found.Result.Level == 0 || !strings.Contains(stderr, "measured 3/3") {
		t.Errorf("%+v\n%s", found, stderr)
	}
	kept, _, err := calibration.List(data)
	if err != nil || len(kept) != 1 || kept[0].Hash != found.Hash {
		t.Errorf("stored %+v, %v", kept, err)
	}
}

// TestCalibrateFleet measures one process and two workers, prints both with a recommendation, and stores both.
func TestCalibrateFleet(t *testing.T) {
	data := t.TempDir()
	fleet := func(more ...string) (code int, out, stderr string) {
		var stdout, errs bytes.Buffer
		code = execute(brief(data, append([]string{"--fleet", "local:2,0"}, more...)...), &terminal{
			in: strings.NewReader(""), out: &stdout, err: &errs, hooks: hooks{trusts: true, host: unseen, env: []string{asToolEnv + "=1"}},
		})
		return code, stdout.String(), errs.String()
	}
	code, out, stderr := fleet("--apply")
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, want := range []string{
		`(?m)^2 workers  measured 6/6`, `(?m)^  WORKERS +LIMIT +SESSIONS/S`, `(?m)^  0 +4 +\S+ `, `(?m)^  2 +4 +\S+ `, `(?m)^one process: \d`, `(?m)^2 workers: \d`,
		`(?m)^Best: (one process|2 workers) with a limit of \d`, `(?m)^saved: max-concurrent=\d`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	code, out, stderr = fleet("--json")
	var found answer.FleetCalibration
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&found); err != nil || code != exitDone || found.Level == 0 || len(found.Calibrations) != 2 || found.Calibrations[1].Workers != 2 {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, stderr)
	}
	if kept, _, err := calibration.List(data); err != nil || len(kept) != 2 || kept[0].Workers != 2 || kept[1].Workers != 0 {
		t.Errorf("stored %+v, %v", kept, err)
	}
	if _, out, _ := ctl(t, "calibrate", "--history", "--data", data); !regexp.MustCompile(`AGENTS +WORKERS +LIMIT`).MatchString(out) || !regexp.MustCompile(` 30 +2 +\d `).MatchString(out) {
		t.Errorf("the history is\n%s", out)
	}
}

func TestCalibrateMistakes(t *testing.T) {
	data := t.TempDir()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"calibrate", "--data", data}, "no scenario given"},
		{brief(data, "--levels", "0"), "levels: a limit of 0 runs nothing"},
		{brief(data, "--levels", "31"), "levels: 31 is above the maximum, 30 (use limits from 1 to 30)"},
		{brief(data, "--service", "shop=https://shop.example.com"), "--allow shop.example.com"},
		{brief(data, "--fleet", ":7422"), "names no numbers of workers"},
		{brief(data, "--sequential", "on"), "agents act in turn"},
		{[]string{"calibrate", "nowhere.yaml", "--data", data}, "nowhere.yaml"},
	} {
		if code, out, stderr := rested(t, tt.args...); code != exitUsage || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: exit code %d, want %q\n%s%s", tt.args, code, tt.want, out, stderr)
		}
	}
}

// TestCalibrateWhereAllFails checks that there is no recommendation if the sessions fail at the first level.
func TestCalibrateWhereAllFails(t *testing.T) {
	code, out, stderr := rested(t, brief(t.TempDir(), "--mock-fault", "server_error=1", "--retries", "1")...)
	if code != exitFailed || !strings.Contains(out, "No recommendation: at 1, ") || !strings.Contains(out, "sessions failed") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}

func TestPresets(t *testing.T) {
	code, out, stderr := ctl(t, "calibrate", "--presets", "--data", t.TempDir())
	if code != exitDone || strings.Count(out, "  this machine\n") != 1 {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, want := range []string{"starting point", "workstation", "8–16", "large studies", "10 servers and more", "start low"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// waiting is an output that calls heard when a text matches.
type waiting struct {
	bytes.Buffer
	text  *regexp.Regexp
	heard func() // called once
}

func (w *waiting) Write(piece []byte) (int, error) {
	if w.heard != nil && w.text.Match(piece) {
		w.heard()
		w.heard = nil
	}
	return w.Buffer.Write(piece)
}

// TestCalibrateIsGivenUp sends SIGINT after the first measurement. The measurements so far are shown, and nothing is
// stored.
func TestCalibrateIsGivenUp(t *testing.T) {
	data := t.TempDir()
	signals := make(chan os.Signal, 1)
	var errs bytes.Buffer
	out := waiting{text: regexp.MustCompile(`measured [1-9]`), heard: func() { signals <- syscall.SIGINT }}
	code := execute(brief(data, "--repeats", "100"), &terminal{in: strings.NewReader(""), out: &out, err: &errs, signals: signals, hooks: hooks{trusts: true, host: unseen}})
	if code != exitInterrupted || !strings.Contains(errs.String(), "Canceled") || !strings.Contains(out.String(), "LIMIT") {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
	if kept, _, err := calibration.List(data); err != nil || len(kept) > 0 {
		t.Errorf("stored %v, %v", kept, err)
	}
}

// TestGuideCalibrate runs the guide's example with a shorter duration, and checks that the guide names every flag of
// calibrate.
func TestGuideCalibrate(t *testing.T) {
	text := page(t, "concurrency")
	line := regexp.MustCompile(`(?m)^throngctl (calibrate shopping --levels .*)$`).FindStringSubmatch(text)
	if line == nil {
		t.Fatal("the guide has no example")
	}
	args := append(strings.Fields(line[1]), "--data", t.TempDir(), "--mock-latency", "none")
	args[slices.Index(args, "--duration")+1] = "100ms"
	if code, out, stderr := rested(t, args...); code != exitDone || !strings.Contains(out, "Limited by") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	_, runHelp, _ := ctl(t, "run", "--help")
	_, help, _ := ctl(t, "calibrate", "--help")
	flags := regexp.MustCompile(`(?m)^ +--([a-z-]+)`)
	own := 0
	for _, flag := range flags.FindAllStringSubmatch(help, -1) {
		if strings.Contains(runHelp, "--"+flag[1]) {
			continue
		}
		own++
		if !strings.Contains(text, "`--"+flag[1]+"`") && !strings.Contains(text, "`--"+flag[1]+" ") {
			t.Errorf("the guide does not mention --%s", flag[1])
		}
	}
	if own < 6 {
		t.Errorf("only %d flags:\n%s", own, help)
	}
}

// TestCalibrateUnderLoad checks that nothing is measured while other programs use the CPU, and that a measurement that the user starts anyway
// is not recommended and does not replace an earlier one.
func TestCalibrateUnderLoad(t *testing.T) {
	data := t.TempDir()
	if code, out, stderr := rested(t, brief(data)...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	under := func(args ...string) (code int, stdout, stderr string) {
		var out, errs bytes.Buffer
		busy := func() engine.HostMetrics { return engine.HostMetrics{CPU: 55, ProcessCPU: 20, Cores: 2} }
		code = execute(args, &terminal{in: strings.NewReader(""), out: &out, err: &errs, hooks: hooks{trusts: true, host: busy}})
		return code, out.String(), errs.String()
	}
	const want = "not started: other programs use 45% of the CPU; close them, wait for them with --wait, or measure anyway with --under-load"
	if code, out, stderr := under(brief(data)...); code != exitFailed || !strings.Contains(stderr, want) || strings.Contains(out, "LIMIT") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, _ := under(brief(data, "--under-load", "--apply")...); code != exitFailed || !strings.Contains(out, "No recommendation: measured under load") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if saved, err := config.LoadSaved(data); err != nil || len(saved) > 0 {
		t.Errorf("saved %v, %v", saved, err)
	}
	if kept, _, err := calibration.List(data); err != nil || len(kept) != 2 || !kept[0].Result.UnderLoad || kept[1].Result.Level == 0 {
		t.Errorf("stored %+v, %v", kept, err)
	}
	if code, _, stderr := ctl(t, brief(data, "--wait", "--under-load")...); code != exitUsage || !strings.Contains(stderr, "--wait") {
		t.Errorf("both flags: exit code %d, %s", code, stderr)
	}
}
