package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// ctlWith runs ctl with input from a user.
func ctlWith(t *testing.T, typed string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = execute(args, &terminal{in: strings.NewReader(typed), out: &out, err: &err})
	return code, out.String(), err.String()
}

// newRun runs a few cycles and returns the run's ID.
func newRun(t *testing.T, data string, more ...string) string {
	t.Helper()
	code, out, stderr := ctl(t, day(data, more...)...)
	found := regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)
	if code != exitDone || found == nil {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	return found[1]
}

// want runs throngctl and checks its exit code and output.
func want(t *testing.T, code int, typed string, args []string, says ...string) {
	t.Helper()
	got, out, stderr := ctlWith(t, typed, args...)
	if got != code {
		t.Errorf("%v: exit code %d, want %d\n%s%s", args, got, code, out, stderr)
	}
	for _, text := range says {
		if !strings.Contains(out+stderr, text) {
			t.Errorf("%v: %q is missing in\n%s%s", args, text, out, stderr)
		}
	}
}

func TestPrune(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	data := filepath.Join(t.TempDir(), "data")
	runs := []string{newRun(t, data, "--checkpoint-interval", "30ms"), newRun(t, data, "--checkpoint-interval", "30ms"), newRun(t, data, "--checkpoint-interval", "30ms")}
	prune := func(more ...string) []string { return append([]string{"prune", "--data", data}, more...) }

	want(t, exitUsage, "", prune(), "no limit given")
	want(t, exitDone, "", prune("--older-than", "1"), "Nothing to prune.")
	want(t, exitDone, "", prune("--keep", "1", "--dry-run"), "checkpoint", runs[0], runs[1], runs[2])
	want(t, exitFailed, "no\n", prune("--keep", "1"), "Nothing was deleted.")
	want(t, exitDone, "yes\n", prune(runs[0], "--keep", "1"), "deleted 1 of 1")
	for i, id := range runs {
		_, out, _ := ctl(t, "checkpoints", id, "--data", data)
		if points := strings.Count(out, "\n") - 1; (points == 1) != (i == 0) {
			t.Errorf("run %d has %d checkpoints\n%s", i, points, out)
		}
	}

	want(t, exitUsage, "", []string{"delete", runs[1], "--checkpoint", "99", "--data", data, "-y"}, "checkpoint 99")
	_, out, _ := ctl(t, "checkpoints", runs[1], "--data", data)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	newest, oldest := strings.Fields(lines[1])[0], strings.Fields(lines[len(lines)-1])[0]
	want(t, exitUsage, "", []string{"delete", runs[1], "--checkpoint", newest, "--data", data, "-y"}, "is the newest")
	want(t, exitDone, "yes\n", []string{"delete", runs[1], "--checkpoint", oldest, "--data", data}, "checkpoint "+oldest, "deleted")
	if _, out, _ := ctl(t, "checkpoints", runs[1], "--data", data); strings.Contains(out, "\n"+oldest+" ") || !strings.Contains(out, "\n"+newest+" ") {
		t.Errorf("after deleting checkpoint %s:\n%s", oldest, out)
	}

	want(t, exitDone, "", prune("--keep-runs", "1", "-y"), "all: 90 sessions", "deleted 2 of 2")
	if _, out, _ := ctl(t, "runs", "--data", data); strings.Contains(out, runs[0]) || strings.Contains(out, runs[1]) || !strings.Contains(out, runs[2]) {
		t.Errorf("remaining:\n%s", out)
	}
}

// TestDeleteAsksForUnsentRows checks that unsent rows are never dropped without a confirmation.
func TestDeleteAsksForUnsentRows(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	server := pgtest.New(t, pgtest.Options{})
	url := server.Database(t)
	data := filepath.Join(t.TempDir(), "data")
	server.Stop(t)
	first, second := newRun(t, data, "--database-url", url), newRun(t, data, "--database-url", url)
	remove := func(more ...string) []string {
		return append([]string{"delete", "--data", data, "--database-url", url}, more...)
	}
	want(t, exitUsage, "", remove(first, "-y"), "have not reached", "choose what to do with these rows")
	want(t, exitFailed, "hm\n", remove(first), "send them first", "was kept")
	want(t, exitFailed, "send\nyes\n", remove(first), "was kept", "nothing answers")
	want(t, exitDone, "drop\nyes\n", remove(first), "deleted")
	server.Start(t)
	want(t, exitDone, "", []string{"prune", "--keep-runs", "1", "--data", data}, "Nothing to prune.")
	want(t, exitUsage, "", []string{"delete", "--data", data, "--database-url", "postgres://app@127.0.0.1:1/other", second, "-y", "--unsent", "send"}, "not the current database")
	want(t, exitDone, "send\nyes\n", remove(second), "They are in ", "deleted")
	if n := len(sent(t, url, "sessions", []string{"agent"})); n != 90 {
		t.Errorf("%d sessions arrived, want the 90 of the second run", n)
	}
}

// TestDeleteFromPostgres deletes the rows of a run in the database, and sends them again.
func TestDeleteFromPostgres(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	url := pgtest.Shared(t).Database(t)
	data := filepath.Join(t.TempDir(), "data")
	first, second := newRun(t, data, "--database-url", url), newRun(t, data, "--database-url", url)
	there := func() int { return len(sent(t, url, "sessions", []string{"agent"})) }
	remove := func(more ...string) []string {
		return append([]string{"delete", "--data", data, "--database-url", url}, more...)
	}
	want(t, exitFailed, "no\n", remove(first, "--only-postgres"), "90 sessions", "Nothing was deleted.")
	want(t, exitDone, "yes\n", remove(first, "--only-postgres"), "deleted")
	if n := there(); n != 90 {
		t.Errorf("%d sessions are there, want those of the second run", n)
	}
	want(t, exitDone, "", []string{"push", first, "--data", data, "--database-url", url}, "90 sessions")
	if n := there(); n != 180 {
		t.Errorf("%d sessions are there after sending again", n)
	}
	want(t, exitDone, "", remove(second, "--in-postgres", "-y"), "90 sessions", "deleted")
	if n := there(); n != 90 {
		t.Errorf("%d sessions are there, want those of the first run", n)
	}
	if _, out, _ := ctl(t, "runs", "--data", data); !strings.Contains(out, first) || strings.Contains(out, second) {
		t.Errorf("remaining:\n%s", out)
	}
}
