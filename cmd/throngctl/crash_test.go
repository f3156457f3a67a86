package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/engine/rehearsal"
)

// TestKilledRunsEndAsIfNothingHappened kills throngctl at 20 seeded commits and requests, resumes, and compares the
// results and the shop's orders with those of a run that nobody disturbed.
func TestKilledRunsEndAsIfNothingHappened(t *testing.T) {
	undisturbed := t.TempDir()
	count := filepath.Join(t.TempDir(), "count")
	cmd, out, stderr := process(t, []string{countEnv + "=" + count}, day(undisturbed, "--export", filepath.Join(undisturbed, "out"))...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("the undisturbed run: %v\n%s%s", err, out, stderr)
	}
	if !strings.Contains(out.String(), "exact") || strings.Contains(out.String(), "inexact") {
		t.Fatalf("the undisturbed run is not exact:\n%s", out)
	}
	var requests, changes int64
	if _, err := fmt.Sscan(read(t, count), &requests, &changes); err != nil {
		t.Fatal(err)
	}
	sessions, events := read(t, undisturbed, "out", "sessions.csv"), read(t, undisturbed, "out", "events.csv")
	if n := strings.Count(events, ",order,"); n < 10 {
		t.Fatalf("only %d orders: the test would prove little\n%s", n, events)
	}

	const seed = 20261120
	draw := rand.New(rand.NewPCG(seed, 0))
	for i := range 20 {
		// Each change has an intent that is waited for, so with two at once there is a commit for every two changes.
		kill, atOnce := fmt.Sprintf("commit:%d", 1+draw.Int64N(changes/2)), "2"
		if i%2 == 1 {
			kill, atOnce = fmt.Sprintf("request:%d", 1+draw.Int64N(requests)), "8"
		}
		t.Run(kill, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			cmd, out, stderr := process(t, []string{killEnv + "=" + kill}, day(data, "--max-concurrent", atOnce)...)
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the run was not killed: %v\n%s%s", err, out, stderr)
			}
			if code, _, stderr := ctl(t, "runs", "--data", data); code != 0 {
				t.Fatalf("the store cannot be read after the kill: %s", stderr)
			}
			created := true
			cmd, out, stderr = process(t, nil, "resume", "--data", data, "--max-concurrent", "5", "--export", filepath.Join(data, "out"))
			if err := cmd.Run(); err != nil {
				if !strings.Contains(stderr.String(), "there is no run yet") {
					t.Fatalf("resume: %v\n%s%s", err, out, stderr)
				}
				created = false // killed before the run was in the store: nothing was done, nothing to resume
			}
			if !created {
				return
			}
			if got := read(t, data, "out", "sessions.csv"); got != sessions {
				t.Errorf("sessions.csv differs\n%s", difference(sessions, got))
			}
			if got := read(t, data, "out", "events.csv"); got != events {
				t.Errorf("events.csv differs\n%s", difference(events, got))
			}
			checkOrders(t, data, events)
		})
	}
}

// checkOrders compares the orders that the shop of a run holds with those that its sessions report.
func checkOrders(t *testing.T, data, events string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(data, "rehearsal", "*.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs of the shop: %v %v", logs, err)
	}
	shop, err := rehearsal.Start(rehearsal.Config{Seed: 7, Log: logs[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shop.Close(); err != nil {
			t.Error(err)
		}
	}()
	want := map[string]int64{}
	rows, err := csv.NewReader(strings.NewReader(events)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		if row[6] == "order" {
			want[row[2]]++
		}
	}
	got := shop.Orders()
	for user, n := range got.ByUser {
		if n != want[user] {
			t.Errorf("the shop holds %d orders of %s, the run completed %d checkouts", n, user, want[user])
		}
	}
	for user, n := range want {
		if got.ByUser[user] != n {
			t.Errorf("the shop holds %d orders of %s, the run completed %d checkouts", got.ByUser[user], user, n)
		}
	}
}

// difference shows the first lines in which two texts differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\nwant %s\n got %s", i+1, a, b)
		}
	}
	return "no difference"
}

// TestSameResultAtAnyConcurrency runs the same seed at 1, 3 and 50, with and without latency.
func TestSameResultAtAnyConcurrency(t *testing.T) {
	type result struct{ sessions, events string }
	var first result
	for i, n := range []string{"50", "3", "1"} {
		data := t.TempDir()
		code, out, stderr := ctl(t, day(data, "--max-concurrent", n, "--export", filepath.Join(data, "out"))...)
		if code != exitDone {
			t.Fatalf("exit code %d at %s\n%s%s", code, n, out, stderr)
		}
		got := result{read(t, data, "out", "sessions.csv"), read(t, data, "out", "events.csv")}
		if i == 0 {
			first = got
			continue
		}
		if got.sessions != first.sessions {
			t.Errorf("sessions.csv at %s differs\n%s", n, difference(first.sessions, got.sessions))
		}
		if got.events != first.events {
			t.Errorf("events.csv at %s differs\n%s", n, difference(first.events, got.events))
		}
	}
	for _, outcome := range []string{",order,", ",abandoned,"} {
		if !strings.Contains(first.events, outcome) {
			t.Errorf("no event %s in a day", outcome)
		}
	}
	if !strings.Contains(first.sessions, "stayed home") {
		t.Error("nobody stayed home")
	}
	if _, err := os.Stat("throng.db"); err == nil {
		t.Error("the store was made in the working directory")
	}
}
