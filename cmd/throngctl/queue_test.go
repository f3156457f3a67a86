package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// waits starts throngctl and returns when it says a text. ended receives its exit code.
func waits(t *testing.T, says string, args ...string) (h *waiter, ended chan int) {
	t.Helper()
	h = &waiter{signals: make(chan os.Signal, 1), byHand: make(chan os.Signal, 1), said: make(chan string, 100)}
	ended = make(chan int, 1)
	go func() { ended <- h.ctl(args...) }()
	for {
		select {
		case text := <-h.said:
			if strings.Contains(text, says) {
				return h, ended
			}
		case code := <-ended:
			t.Fatalf("%v: exit code %d before it said %q: %s", args, code, says, h.err())
		}
	}
}

// TestQueue checks that runs wait in the queue while another is in progress, in the order of their priorities, and that they can be
// moved and canceled there.
func TestQueue(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	run := func(more ...string) []string {
		return append([]string{"run", "shopping", "--set", "agents=5", "--mock-latency", "none", "--cycles", "1", "--data", data}, more...)
	}
	want(t, exitDone, "", []string{"queue", "--data", data}, "Nothing waits.")
	long := &waiter{signals: make(chan os.Signal, 1), byHand: make(chan os.Signal, 1), said: make(chan string, 100)}
	stopped := make(chan int, 1)
	go func() { stopped <- long.ctl(run("--cycles", "1000000")...) }()
	waitFor(t, "a run in progress", func() bool {
		_, out, _ := ctl(t, "runs", "--data", data)
		return strings.Contains(out, "running") || strings.Contains(out, "in progress")
	})
	canceled, endCanceled := waits(t, "waiting for it", run("--seed", "11", "--priority", "1")...)
	_, endSecond := waits(t, "waiting for it", run("--seed", "12")...)
	_, endFirst := waits(t, "waiting for it", run("--seed", "13")...)
	later, endLater := waits(t, "Starts at ", run("--seed", "14", "--at", "+10h", "--priority", "7")...)

	list := func() (all []queue.Entry) {
		code, out, stderr := ctl(t, "queue", "--json", "--data", data)
		if err := json.Unmarshal([]byte(out), &all); code != exitDone || err != nil {
			t.Fatalf("exit code %d, %v: %s%s", code, err, out, stderr)
		}
		return all
	}
	all := list()
	if len(all) != 4 || all[0].Priority != 1 || !all[0].Next || all[3].Priority != 7 || all[3].Start.IsZero() || !strings.Contains(all[1].Work, "Marketplace") {
		t.Fatalf("the queue is %+v", all)
	}
	want(t, exitDone, "", []string{"queue", "priority", all[2].ID, "5", "--data", data}, "Priority of "+all[2].ID+": 5.")
	want(t, exitDone, "", []string{"queue", "cancel", all[0].ID, "--data", data}, "starts nothing")
	if code := <-endCanceled; code != exitFailed || !strings.Contains(canceled.err(), "canceled in the queue: nothing was started") {
		t.Errorf("the canceled run: exit code %d, %s", code, canceled.err())
	}
	want(t, exitUsage, "", []string{"queue", "cancel", all[0].ID, "--data", data}, "waits")
	if got := list(); len(got) != 3 || got[0].ID != all[2].ID || got[1].ID != all[1].ID {
		t.Errorf("the queue is now %+v, it was %+v", got, all)
	}
	want(t, exitDone, "", []string{"queue", "--data", data}, "next", "after 1 other")
	want(t, exitDone, "", []string{"queue", "cancel", all[3].ID, "--data", data})
	if code := <-endLater; code != exitFailed || !strings.Contains(later.err(), "canceled in the queue") {
		t.Errorf("the run of tonight: exit code %d, %s", code, later.err())
	}
	long.signals <- os.Interrupt
	for _, ended := range []chan int{stopped, endFirst, endSecond} {
		if code := <-ended; code != exitDone && code != exitInterrupted {
			t.Errorf("exit code %d", code)
		}
	}
	_, runs, _ := ctl(t, "runs", "--json", "--data", data)
	var records []struct{ Seed uint64 }
	if err := json.Unmarshal([]byte(runs), &records); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(records, func(r struct{ Seed uint64 }) bool { return r.Seed == 11 || r.Seed == 14 }) || len(records) != 3 {
		t.Errorf("runs: %s", runs)
	}
	want(t, exitDone, "", []string{"queue", "--data", data}, "Nothing waits.")
}

// TestExperimentInTheQueue checks that an experiment waits for its start time and then for the run in progress, and can be canceled.
func TestExperimentInTheQueue(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "eager.experiment.yaml")
	write(t, file, "title: Eager\nscenario: shopping\nvary: {params.eagerness: [1, 2], params.agents: [5]}\nreplicates: {seeds: 2}\nsettings: {cycles: 1}\n")
	later, ended := waits(t, "Starts at ", "experiment", "run", file, "--at", "+1h", "--priority", "3", "--data", data)
	var all []queue.Entry
	_, out, _ := ctl(t, "queue", "--json", "--data", data)
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 || all[0].Work != `the experiment "Eager"` || all[0].Priority != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	want(t, exitDone, "", []string{"queue", "cancel", all[0].ID, "--data", data})
	if code := <-ended; code != exitFailed || !strings.Contains(later.err(), "canceled in the queue") {
		t.Errorf("exit code %d: %s", code, later.err())
	}
	later, ended = waits(t, "Starts at ", "experiment", "run", file, "--at", "+1h", "--data", data)
	later.signals <- os.Interrupt
	if code := <-ended; code != exitInterrupted {
		t.Errorf("Ctrl+C: exit code %d", code)
	}
	later, ended = waits(t, "Starts at ", "experiment", "run", file, "--at", "+1h", "--data", data)
	later.byHand <- os.Interrupt
	if code := <-ended; code != exitDone {
		t.Errorf("started by hand: exit code %d: %s", code, later.err())
	}
	want(t, exitDone, "", []string{"experiment", "status", file, "--data", data}, "done    done")
}

// TestStopNamesWhatItStops checks that a stop without a name does not stop an experiment, and that every stop says what it stops and how to
// continue.
func TestStopNamesWhatItStops(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "eager.experiment.yaml")
	write(t, file, "title: Eager\nscenario: shopping\nvary: {params.eagerness: [1, 2], params.agents: [5]}\nreplicates: {seeds: 2}\nsettings: {cycles: 1000000}\n")
	start := func(args ...string) (id string, ended chan int) {
		t.Helper()
		w := &waiter{signals: make(chan os.Signal, 1), byHand: make(chan os.Signal, 1), said: make(chan string, 100)}
		ended = make(chan int, 1)
		go func() { ended <- w.ctl(append(args, "--data", data)...) }()
		waitFor(t, "a run in progress", func() bool {
			var s struct{ Run, Phase string }
			_, out, _ := ctl(t, "status", "--json", "--data", data)
			id = ""
			if json.Unmarshal([]byte(out), &s) == nil && s.Phase == "running" {
				id = s.Run
			}
			return id != ""
		})
		return id, ended
	}
	id, ended := start("experiment", "run", file)
	again := "throngctl experiment run " + file
	want(t, exitUsage, "", []string{"stop", "--data", data}, id+` is a run of the experiment "Eager"`, "nothing was stopped", "throngctl experiment stop "+file, again)
	want(t, exitDone, "", []string{"stop", id, "--data", data}, `stopping "`, `the experiment "Eager" stops with it and keeps its completed runs`, again)
	if code := <-ended; code != exitInterrupted {
		t.Errorf("the experiment ended with exit code %d", code)
	}
	id, ended = start("run", "shopping", "--set", "agents=5", "--mock-latency", "none", "--cycles", "1000000")
	want(t, exitDone, "", []string{"stop", "--data", data}, "run "+id, `stopping "Marketplace shoppers"`, "throngctl resume "+id)
	if code := <-ended; code != exitInterrupted {
		t.Errorf("the run ended with exit code %d", code)
	}
}
