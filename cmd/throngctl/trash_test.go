package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
)

// TestTrash deletes runs and checkpoints, restores them, and empties the trash.
func TestTrash(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	data := filepath.Join(t.TempDir(), "data")
	in := func(args ...string) []string { return append(args, "--data", data) }
	first, second := newRun(t, data, "--checkpoint-interval", "30ms"), newRun(t, data, "--checkpoint-interval", "30ms")
	log := filepath.Join(data, "mock", first+".log")
	if _, err := os.Stat(log); err != nil {
		t.Fatal(err)
	}
	_, before, _ := ctl(t, in("runs")...)

	want(t, exitDone, "", in("trash"), "The trash is empty", "30 days")
	want(t, exitFailed, "no\n", in("delete", first), "Nothing was deleted.")
	want(t, exitDone, "yes\n", in("delete", first), "deleted; kept in the trash for 30 days; restore it with: throngctl restore "+first)
	want(t, exitDone, "", in("trash"), first, "30 days", "in total")
	want(t, exitUsage, "", in("delete", first, "-y"), "is in the trash", "restore", "--now")
	want(t, exitUsage, "", in("checkpoints", first), "in the trash")
	if _, out, _ := ctl(t, in("runs")...); strings.Contains(out, first) || !strings.Contains(out, second) {
		t.Errorf("runs:\n%s", out)
	}
	want(t, exitDone, "", in("restore", first[:len(first)-1]), "run "+first, "is restored")
	want(t, exitDone, "", in("restore", first), "is not in the trash")
	// The common start of both run IDs matches the run in the trash, and deletes nothing.
	both := first[:len("20260102-")]
	want(t, exitUsage, "", in("delete", both, "--now", "-y"), `" is ambiguous, 2 runs begin with it`)
	want(t, exitDone, "", in("delete", first, "-y"), "in the trash")
	want(t, exitDone, "", in("restore", both), "run "+first, "is restored")
	if _, after, _ := ctl(t, in("runs")...); after != before {
		t.Errorf("listed are\n%s\nwere\n%s", after, before)
	}
	want(t, exitDone, "", in("audit", first), "equal")

	_, points, _ := ctl(t, in("checkpoints", second)...)
	lines := strings.Split(strings.TrimSpace(points), "\n")
	oldest := strings.Fields(lines[len(lines)-1])[0]
	next := strings.Fields(lines[len(lines)-2])[0]
	want(t, exitDone, "", in("delete", second, "--checkpoint", next+","+oldest, "-y"), "--checkpoint "+next+","+oldest)
	want(t, exitDone, "", in("restore", second, "--checkpoint", next+","+oldest), "checkpoints "+next+", "+oldest+" of run "+second+" are restored")
	want(t, exitDone, "", in("delete", second, "--checkpoint", oldest, "-y"), "deleted; kept in the trash", "--checkpoint "+oldest)
	want(t, exitDone, "", in("trash"), second, "checkpoint "+oldest)
	want(t, exitDone, "", in("restore", second, "--checkpoint", oldest), "checkpoint "+oldest+" of run "+second+" is restored")
	if _, again, _ := ctl(t, in("checkpoints", second)...); again != points {
		t.Errorf("the checkpoints are\n%s\nwere\n%s", again, points)
	}

	want(t, exitDone, "", in("delete", first, "-y"), "in the trash")
	want(t, exitFailed, "no\n", in("delete", first, "--now"), "for good", "Nothing was deleted.")
	want(t, exitDone, "", in("delete", first, "--now", "-y"), "deleted")
	if _, err := os.Stat(log); !os.IsNotExist(err) {
		t.Errorf("the mock's log still exists: %v", err)
	}
	want(t, exitDone, "", in("prune", "--older-than", "0.0000001", "-y"), "stays in the trash for 30 days", "deleted 1 of 1")
	want(t, exitFailed, "no\n", in("trash", "--empty"), second, "Nothing was deleted.")
	want(t, exitDone, "yes\n", in("trash", "--empty"), "deleted 1 of 1")
	want(t, exitUsage, "", in("restore", second), "no such run in the trash: "+second)
	want(t, exitDone, "", in("trash"), "The trash is empty")
}

// TestDeleteNow deletes a run without the trash.
func TestDeleteNow(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	data := filepath.Join(t.TempDir(), "data")
	run := newRun(t, data)
	want(t, exitDone, "", []string{"delete", run, "--now", "-y", "--data", data}, "deleted\n")
	want(t, exitDone, "", []string{"trash", "--data", data}, "The trash is empty")
}

// TestNote checks that a user's note is stored with the run, in lists and in run.json.
func TestNote(t *testing.T) {
	t.Setenv("THRONG_DATABASE_URL", "")
	data := filepath.Join(t.TempDir(), "data")
	run := newRun(t, data)
	in := func(args ...string) []string { return append(args, "--data", data) }
	want(t, exitDone, "", in("note", run), "has no note")
	want(t, exitDone, "", in("note", run, "before", "the new prices"))
	want(t, exitDone, "", in("note", run[:len(run)-1]), "before the new prices\n")
	want(t, exitDone, "", in("runs"), "NOTE", "before the new prices")
	_, text, _ := ctl(t, in("export", run, "--what", "run")...)
	var manifest struct{ Note string }
	if err := json.Unmarshal([]byte(text), &manifest); err != nil || manifest.Note != "before the new prices" {
		t.Errorf("run.json: got note %q, %v", manifest.Note, err)
	}
	want(t, exitDone, "", in("note", run, ""))
	want(t, exitDone, "", in("note", run), "has no note")
	if _, text, _ := ctl(t, in("export", run, "--what", "run")...); strings.Contains(text, `"note"`) {
		t.Error("run.json has an empty note")
	}
}

func TestNoteLine(t *testing.T) {
	for note, want := range map[string]string{
		"": "", " one \n two": "one…", "a\x1b[31mred": "a\\u001b[31mred", strings.Repeat("é", 70): strings.Repeat("é", 60) + "…",
	} {
		if got := show.Note(note); got != want {
			t.Errorf("%q: got %q, want %q", note, got, want)
		}
	}
}
