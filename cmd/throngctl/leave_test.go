package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// hostThatPanics returns a host probe that panics in the run's loop at the second in panicEnv, or nil if it is not set.
func hostThatPanics() func() engine.HostMetrics {
	n, err := strconv.Atoi(os.Getenv(panicEnv))
	if err != nil {
		return nil
	}
	return func() engine.HostMetrics {
		if n--; n < 0 {
			panic("no figures, and postgres://me:canary-7f3a@db/x")
		}
		return engine.HostMetrics{}
	}
}

// outcome is the result of a resumed run.
type outcome struct{ sessions, events string }

// resumed resumes a run to its end, and returns its results and standard error.
func resumed(t *testing.T, data string) (outcome, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	code, _, stderr := ctl(t, "resume", "--data", data, "--max-concurrent", "5", "--mock-latency", "none", "--mock-fault", "cut=0.04", "--export", out)
	if code != exitDone {
		t.Fatalf("resume: exit code %d\n%s", code, stderr)
	}
	return outcome{read(t, out, "sessions.csv"), read(t, out, "events.csv")}, stderr
}

// calmDay returns the results of an uninterrupted day.
func calmDay(t *testing.T) outcome {
	t.Helper()
	data := t.TempDir()
	out := filepath.Join(data, "out")
	if code, _, stderr := ctl(t, day(data, "--export", out)...); code != exitDone {
		t.Fatalf("the uninterrupted run: exit code %d\n%s", code, stderr)
	}
	return outcome{read(t, out, "sessions.csv"), read(t, out, "events.csv")}
}

// started waits until a process reports that its run has started.
func started(t *testing.T, out io.Reader) {
	t.Helper()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "seed 7") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	t.Fatal("the run did not start")
}

// TestSystemEndsTheProgram sends a signal to a run whose requests hang. There is a checkpoint with the signal's name, the
// program ends in time, and the resumed run has the results of an uninterrupted run.
func TestSystemEndsTheProgram(t *testing.T) {
	want := calmDay(t)
	for sig, reason := range emergencies {
		if signal.Ignored(sig) { // with nohup, which the program follows
			continue
		}
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			// Half of the sessions hang at some step: they would take minutes to time out.
			cmd, _, stderr := process(t, nil, day(data, "--mock-fault", "hang=0.2", "--no-dashboard")...)
			cmd.Stdout = nil
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			started(t, out)
			asked := time.Now()
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()                                     // the process state has the details
			if took := time.Since(asked); took > time.Minute { // the machine may be busy; a hanging request would take minutes
				t.Errorf("took %v, want at most %v", took, leaveTime)
			}
			if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
				t.Errorf("exit code %d\n%s", code, stderr)
			}
			_, list, _ := ctl(t, "checkpoints", "--data", data)
			if !regexp.MustCompile(`emergency +`+reason+` +[0-9.]+ k?B +[0-9.]+ (µs|ms|s)`).MatchString(list) || strings.Contains(list, "stop") {
				t.Errorf("checkpoints\n%s", list)
			}
			if _, runs, _ := ctl(t, "runs", "--data", data); !strings.Contains(runs, "stopped") {
				t.Errorf("runs\n%s", runs)
			}
			got, _ := resumed(t, data)
			if got != want {
				t.Errorf("sessions.csv %s\nevents.csv %s", difference(want.sessions, got.sessions), difference(want.events, got.events))
			}
			checkOrders(t, data, got.events)
		})
	}
}

// TestNohup checks that SIGHUP does not end a run if it was ignored when the program started, and that Ctrl+C does.
func TestNohup(t *testing.T) {
	t.Parallel()
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	data := t.TempDir()
	cmd, _, stderr := slowRun(t, data)
	for _, s := range []os.Signal{syscall.SIGHUP, os.Interrupt, os.Interrupt} {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait() // the process state has the details
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(stderr.String(), "Ctrl+C, stopping") || strings.Contains(stderr.String(), "SIGHUP") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if _, list, _ := ctl(t, "checkpoints", "--data", data); strings.Contains(list, "emergency") {
		t.Errorf("checkpoints\n%s", list)
	}
}

// TestPanicEndsTheProgram lets the run's loop panic. There is a checkpoint and a crash report without the password, the
// next start mentions it once, and the resumed run has the results of an uninterrupted run.
func TestPanicEndsTheProgram(t *testing.T) {
	t.Parallel()
	want := calmDay(t)
	data := t.TempDir()
	cmd, out, stderr := process(t, []string{panicEnv + "=0"}, day(data, "--mock-fault", "hang=0.2")...)
	_ = cmd.Run() // the process state has the details
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(stderr.String(), "resume with: throngctl resume") {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	_, list, told := ctl(t, "checkpoints", "--data", data)
	if !regexp.MustCompile(`emergency +panic `).MatchString(list) {
		t.Errorf("checkpoints\n%s", list)
	}
	said := regexp.MustCompile(`ended unexpectedly on .*; run (\S+) can be resumed, .*the text is in (\S+)`).FindStringSubmatch(told)
	if said == nil {
		t.Fatalf("output of the next start: %q", told)
	}
	text := read(t, said[2])
	if !strings.Contains(text, "no figures") || !strings.Contains(text, "leave_test.go:") || !strings.Contains(text, said[1]) || strings.Contains(text, "canary-7f3a") {
		t.Errorf("crash report:\n%s", text)
	}
	got, again := resumed(t, data)
	if strings.Contains(again, "unexpectedly") {
		t.Errorf("reported twice: %s", again)
	}
	if got != want {
		t.Errorf("sessions.csv %s\nevents.csv %s", difference(want.sessions, got.sessions), difference(want.events, got.events))
	}
	if files, err := filepath.Glob(filepath.Join(data, "crashes", "open-*")); err != nil || len(files) > 0 {
		t.Errorf("empty files were not removed: %v %v", files, err)
	}
}

// TestUnknownPanic lets a goroutine without a recover panic: the journal writer.
func TestUnknownPanic(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cmd, out, stderr := process(t, []string{killEnv + "=panic:20"}, day(data)...)
	if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), "panic: commit") {
		t.Fatalf("no panic: %v\n%s%s", err, out, stderr)
	}
	_, runs, told := ctl(t, "runs", "--data", data)
	if !strings.Contains(runs, "interrupted") || !strings.Contains(told, "can be resumed") {
		t.Errorf("output of the next start: %q\n%s", told, runs)
	}
	if got, want := fmt.Sprint(resumed(t, data)), fmt.Sprint(calmDay(t), " "); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Error(difference(want, got))
	}
}
