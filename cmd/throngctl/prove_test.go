package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/prove"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine/mock"
)

// few returns a proof with few agents.
func few(t *testing.T, more ...string) []string {
	return append([]string{"prove", "shopping", "--data", t.TempDir(), "--set", "agents=6", "--set", "eagerness=9", "--cycles", "2", "--mock-latency", "none", "--seed", "3"}, more...)
}

// TestProve checks the output of a successful proof.
func TestProve(t *testing.T) {
	t.Parallel()
	code, out, stderr := ctl(t, few(t, "--kills", "4")...)
	row := regexp.MustCompile(`\nshopping +12 +\d +4 +\d +\d +\d +\d +\d +\d +\d+ +\d+ +\d+ +0 +0 +\S.* +the same\n4 kills: nothing lost, nothing duplicated\n`)
	if code != exitDone || !row.MatchString(out) || stderr != "" {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if strings.Contains(out, "throng-prove-") {
		t.Errorf("the output mentions kept folders:\n%s", out)
	}
}

// TestProveOverWorkers checks that a proof kills coordinators and workers, counts them apart, and finds that a worker's requests lost
// their keys.
func TestProveOverWorkers(t *testing.T) {
	t.Parallel()
	code, out, stderr := ctl(t, few(t, "--kills", "8", "--fleet", "local:2", "--json")...)
	var all []answer.Proof
	if err := json.Unmarshal([]byte(out), &all); err != nil || code != exitDone || len(all) != 1 {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, stderr)
	}
	p := all[0]
	if !p.Same || p.Kills != 8 || p.Coordinators+p.Workers != 8 || p.Coordinators < 2 || p.Workers < 2 || p.AtCommits+p.AtRequests+p.AtMessages != 8 || p.Resumes < p.Coordinators/2 {
		t.Errorf("got %+v", p)
	}
	config := prove.Config{Run: day("")[1:], Kills: 8, Seed: 4, Fleet: prove.Fleet{Workers: 2, Always: true}, Program: self(t), AtOnce: 2, Env: []string{asToolEnv + "=1", breakEnv + "=keys"}}
	r, err := prove.Prove(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed() == nil {
		t.Errorf("%d kills found nothing", r.Kills())
	}
}

// TestProveAllThatIsBuiltIn proves each built-in scenario with a kill, and keeps the folders of a trial.
func TestProveAllThatIsBuiltIn(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	code, out, stderr := ctl(t, "prove", "--kills", "4", "--keep")
	for _, name := range []string{"shopping", "conversation", "world", "analysis"} {
		if !regexp.MustCompile(`\n` + name + ` +\d+ +1 +1 .*the same\n`).MatchString(out) {
			t.Errorf("no proof of %s", name)
		}
	}
	if code != exitDone || !strings.Contains(out, "the folders of world are in "+os.TempDir()) {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if stores, err := filepath.Glob(filepath.Join(os.TempDir(), "throng-prove-*", "*", "throng.db")); err != nil || len(stores) != 8 {
		t.Errorf("stores %v %v", stores, err)
	}
}

// TestProveOfWhatCannotBeProved checks the errors of runs that cannot be proved.
func TestProveOfWhatCannotBeProved(t *testing.T) {
	keyring.MockInit()
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"timing", few(t, "--mock-scarcity"), exitFailed, "the undisturbed run: its result depends on timing, so it cannot be compared: inexact since cycle 0: agents share"},
		{"a budget", few(t, "--max-requests", "9"), exitFailed, "it must come to its end, but it is out of budget"},
		{"workers of other machines", few(t, "--fleet", ":7422"), exitUsage, "a proof starts its workers on this machine"},
		{"no workers", few(t, "--fleet", "local:0"), exitUsage, "names no number of workers"},
		{"a single chain", []string{"prove", "analysis", "--chain", "analysis", "--fleet", "local:2"}, exitUsage, "a chain that runs alone"},
		{"no kills", few(t, "--kills", "0"), exitUsage, "a proof needs kills"},
		{"a mistake", few(t, "--set", "agents=none"), exitUsage, "is not a whole number"},
		{"flags without a scenario", []string{"prove", "--set", "agents=3"}, exitUsage, "these flags need a scenario"},
		{"settings without a scenario", []string{"prove", "--cycles", "3"}, exitUsage, "these flags need a scenario"},
		{"a real service", few(t, "--service", "shop=http://127.0.0.1:1"), exitFailed, "Continue? Type yes: Nothing was started."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			code, out, stderr := ctl(t, tt.args...)
			if code != tt.code || !strings.Contains(out+stderr, tt.want) {
				t.Errorf("exit code %d, want %d and %q\n%s%s", code, tt.code, tt.want, out, stderr)
			}
			if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
				t.Errorf("not removed: %v %v", left, err)
			}
		})
	}
}

// TestProveFindsWhatIsBroken checks that a proof of a broken engine fails, and repeats the trial that it names.
func TestProveFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	prove := func(args ...string) (code int, out string) {
		var stdout, stderr bytes.Buffer
		code = execute(append(few(t), args...), &terminal{
			in: strings.NewReader(""), out: &stdout, err: &stderr, hooks: hooks{trusts: true, env: []string{asToolEnv + "=1", breakEnv + "=keys"}},
		})
		return code, stdout.String() + stderr.String()
	}
	code, out := prove("--kills", "8", "--mock-fault", "cut=0.1", "--retry-wait", "1ms", "--max-concurrent", "1")
	again := regexp.MustCompile(`throngctl prove shopping .* --kills 8 --only (\d+) --keep\n`).FindStringSubmatch(out)
	if code != exitFailed || !strings.Contains(out, "DIFFERENT") || strings.Contains(out, "nothing duplicated") || again == nil {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	code, one := prove("--kills", "8", "--mock-fault", "cut=0.1", "--retry-wait", "1ms", "--max-concurrent", "1", "--only", again[1])
	if code != exitFailed || !strings.Contains(one, "shopping, trial "+again[1]+", killed at") {
		t.Errorf("the single trial: exit code %d\n%s\nafter\n%s", code, one, out)
	}
}

// TestProveOfARealService checks that a proof with a real service warns about it, and sends requests to it with --yes.
func TestProveOfARealService(t *testing.T) {
	t.Parallel()
	shop, err := mock.Start(mock.Config{Seed: 3, Secret: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shop.Close(); err != nil {
			t.Error(err)
		}
	}()
	// The server returns the same response to every request. It has no idempotency keys. So many sessions fail that the run's breaker
	// would wait a minute.
	code, out, stderr := ctl(t, few(t, "--kills", "4", "--yes", "--breaker", "off", "--service", "shop="+shop.URL(), "--cycles", "3")...)
	if code != exitDone || !strings.Contains(out, "shop is not a mock: all requests of a run") || !strings.Contains(out, "4 kills: nothing lost") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if shop.Stats().Requests < 20 {
		t.Errorf("got %d requests", shop.Stats().Requests)
	}
}

// TestInterruptedProof checks that an interrupted proof ends its processes and removes its folders.
func TestInterruptedProof(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	cmd, out, stderr := process(t, []string{"TMPDIR=" + tmp}, few(t, "--mock-latency", "remote", "--kills", "50")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for stores := 0; stores < 2; { // the undisturbed run is done, a trial has begun
		all, err := filepath.Glob(filepath.Join(tmp, "throng-prove-*", "*", "throng.db"))
		if err != nil || t.Context().Err() != nil {
			t.Fatal(err)
		}
		stores = len(all)
		wait(t, 10*time.Millisecond)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(stderr.String(), "Interrupted") {
		t.Errorf("ended with %v\n%s%s", err, out, stderr)
	}
	if left, err := filepath.Glob(filepath.Join(tmp, "throng-prove-*")); err != nil || len(left) > 0 {
		t.Errorf("not removed: %v %v", left, err)
	}
}

// wait waits while another process works.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}

// TestResumeAfterTheLastBarrier resumes a run that was killed after its last barrier, before its end was stored.
func TestResumeAfterTheLastBarrier(t *testing.T) {
	data := t.TempDir()
	if code, out, stderr := ctl(t, day(data)...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	sessions := exported(t, data, "sessions")
	db, err := sql.Open("sqlite3", filepath.Join(data, "throng.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE runs SET ended = 0, ending = '', reason = '', verdict = NULL, totals = NULL`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, out, _ := ctl(t, "runs", "--data", data); !strings.Contains(out, "interrupted") {
		t.Fatalf("not interrupted:\n%s", out)
	}
	if code, out, stderr := ctl(t, "resume", "--data", data); code != exitDone || !strings.Contains(out, "finished after") || !strings.Contains(out, "criteria") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if _, out, _ := ctl(t, "runs", "--data", data); !strings.Contains(out, "finished") {
		t.Errorf("not finished:\n%s", out)
	}
	if got := exported(t, data, "sessions"); got != sessions {
		t.Errorf("sessions.csv differs\n%s", difference(sessions, got))
	}
	if code, _, stderr := ctl(t, "resume", "--data", data); code != exitUsage || !strings.Contains(stderr, "has completed all its") {
		t.Errorf("again: exit code %d: %s", code, stderr)
	}
}

// TestExportedMemory checks that the agents' memory is exported, alone and with all files.
func TestExportedMemory(t *testing.T) {
	data := t.TempDir()
	if code, out, stderr := ctl(t, day(data, "--export", filepath.Join(data, "out"))...); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	memory := exported(t, data, "memory")
	if n := strings.Count(memory, "\n"); n < 5 || !regexp.MustCompile(`(?m)^\{"agent_index":\d+,"agent":"shopper-\d+","memory":\{"week":\d+,"spent":[0-9.]+,"orders":\d\}`).MatchString(memory) {
		t.Errorf("%d lines\n%s", n, memory)
	}
	if got := read(t, data, "out", "memory.jsonl"); got != memory {
		t.Errorf("memory.jsonl differs\n%s", difference(memory, got))
	}
}

// exported returns one kind of data of the newest run.
func exported(t *testing.T, data, what string) string {
	t.Helper()
	code, out, stderr := ctl(t, "export", "--data", data, "--what", what)
	if code != exitDone {
		t.Fatalf("export %s: exit code %d\n%s", what, code, stderr)
	}
	return out
}
