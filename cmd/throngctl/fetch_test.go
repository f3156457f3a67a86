package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// killedAt runs throngctl and kills it right after a commit. It returns false if throngctl ended before.
func killedAt(t *testing.T, commit int, args ...string) bool {
	t.Helper()
	cmd, out, stderr := process(t, []string{fmt.Sprintf("%s=commit:%d", killEnv, commit)}, args...)
	err := cmd.Run()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed: %v\n%s%s", err, out, stderr)
	}
	return true
}

// TestFetchOverKills sends a run from one machine and fetches it on another, both killed at every commit. An incomplete run
// is not visible there, and a complete one is equal.
func TestFetchOverKills(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	url := pgtest.Shared(t).Database(t)
	here, there := t.TempDir(), t.TempDir()
	must := func(want string, args ...string) string {
		t.Helper()
		code, stdout, stderr := ctl(t, args...)
		if code != exitDone || !strings.Contains(stdout, want) {
			t.Fatalf("%s: code %d, want %q\n%s%s", args, code, want, stdout, stderr)
		}
		return stdout
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if code, stdout, stderr := ctl(t, args...); code == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d, want %q\n%s%s", args, code, want, stdout, stderr)
		}
	}
	refused("no results of Throng", "runs", "--database-url", url, "--data", there)
	must("", "run", "world", "--data", here, "--cycles", "3", "--mock-latency", "none", "--checkpoint-interval", "5ms")
	kills := 0
	for commit := 1; commit < 30 && killedAt(t, commit, "push", "--data", here, "--database-url", url); commit++ {
		kills++
	}
	must("is in", "push", "--data", here, "--database-url", url)

	run := regexp.MustCompile(`\d{8}-\d{6}-[a-z0-9]{4}`).FindString(must("world", "runs", "--database-url", url, "--data", there) + must("A small world", "runs", "--data", here))
	listed := must("NUMBER", "checkpoints", run, "--database-url", url, "--data", there)
	if want := must("NUMBER", "checkpoints", run, "--data", here); listed != want {
		t.Errorf("the database lists\n%s\nthis machine has\n%s", listed, want)
	}
	refused("start at 1", "fetch", run, "--checkpoint=-1", "--database-url", url, "--data", there)
	refused("choose one of", "fetch", run, "--checkpoint", "999", "--database-url", url, "--data", there)
	refused("was executed in this store", "fetch", run, "--database-url", url, "--data", here)
	refused("is not in", "fetch", "unknown", "--database-url", url, "--data", there)
	for commit := 1; killedAt(t, commit, "fetch", run, "--database-url", url, "--data", there); commit++ {
		kills++
		if out := must("", "runs", "--data", there); strings.Contains(out, run) && strings.Contains(out, "small") {
			// The last commit makes it visible; then everything is there.
			must("agents with memory", "checkpoints", run, "--show", lastNumber(t, listed), "--data", there)
		}
	}
	must("Fetched checkpoint", "fetch", run, "--database-url", url, "--data", there)
	if kills < 6 {
		t.Errorf("only %d kills: the test proves little", kills)
	}
	number := lastNumber(t, listed)
	if got, want := must("memory", "checkpoints", run, "--show", number, "--data", there), must("memory", "checkpoints", run, "--show", number, "--data", here); got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
	refused("throngctl fork "+run, "resume", run, "--data", there)
	refused("not in this store", "export", run, "--data", there, "--out", filepath.Join(t.TempDir(), "out"))
	refused("not in this store", "audit", run, "--data", there)
	refused("not in this store", "timeline", run, "0", "--data", there)
	refused("not in this store", "compare", run, run, "--data", there)
	refused("not in this store", "push", run, "--data", there, "--database-url", url)
	must("deleted", "delete", run, "--yes", "--data", there)
}

// lastNumber returns the number of the newest checkpoint in a list.
func lastNumber(t *testing.T, list string) string {
	t.Helper()
	lines := strings.Split(list, "\n")
	if len(lines) < 2 {
		t.Fatalf("no checkpoint in\n%s", list)
	}
	return strings.Fields(lines[1])[0]
}
