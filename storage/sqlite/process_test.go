package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
	waiting "github.com/throng-sim/throng/storage/sqlite/queue"
)

// helperVariable is the environment variable with the role of this test binary when it is started again.
const helperVariable = "THRONG_SQLITE_HELPER"

// helper plays the role of a helper; it reports whether this process is one.
func helper() bool {
	what, dir, found := strings.Cut(os.Getenv(helperVariable), " ")
	if !found {
		return false
	}
	if err := helpers[what](dir); err != nil {
		fmt.Println("error:", err)
	}
	return true
}

var helpers = map[string]func(dir string) error{
	"work":    workHelper,
	"migrate": migrateHelper,
	"frames":  framesHelper,
	// hold claims run r, prints that, and keeps the claim until its input ends.
	"hold": func(dir string) error {
		s, err := Open(dir, Options{Logger: quiet()})
		if err != nil {
			return err
		}
		release, err := s.Claim(context.Background(), "r")
		if err != nil {
			return err
		}
		fmt.Println("held")
		_, err = io.Copy(io.Discard, os.Stdin)
		release()
		return errors.Join(err, s.Close())
	},
	// journal commits sessions of run r one by one, and prints the agent of each, until it is killed.
	"journal": func(dir string) error {
		s, err := Open(dir, Options{Logger: quiet()})
		if err != nil {
			return err
		}
		j, err := s.Journal("r")
		if err != nil {
			return err
		}
		for agent := 0; ; agent++ {
			row := engine.SessionRow{Place: engine.Place{Agent: agent}, Outcome: engine.OK}
			if err := j.Commit(context.Background(), engine.SessionRows{row}); err != nil {
				return err
			}
			if _, err := fmt.Println(agent); err != nil {
				return err
			}
		}
	},
	// share requests shared answers for run r, each for three sessions, and prints the agent of each, until it is killed.
	"share": func(dir string) error {
		s, err := Open(dir, Options{Logger: quiet()})
		if err != nil {
			return err
		}
		j, err := s.Journal("r")
		if err != nil {
			return err
		}
		for agent := 0; ; agent++ {
			if key := sharedBy(agent); agent%3 == 0 {
				if err := j.Commit(context.Background(), engine.SharedRow{Key: key, Entry: engine.Entry{Hash: 7}}); err != nil {
					return err
				}
				answer := engine.Entry{Attempts: 1, Output: key[:]}
				if err := j.Commit(context.Background(), engine.SharedRow{Key: key, Entry: answer, Record: &engine.StepRecord{Attempts: 1}}); err != nil {
					return err
				}
			}
			j.Append(engine.SessionRows{{Place: engine.Place{Agent: agent}, Outcome: engine.OK}})
			if _, err := fmt.Println(agent); err != nil {
				return err
			}
		}
	},
}

// sharedBy returns the number of the shared answer that a session uses.
func sharedBy(agent int) engine.SharedKey {
	return engine.SharedKey{byte(agent / 3), byte(agent / 3 >> 8)}
}

// process is a second process of this test binary.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startHelper(t *testing.T, what, dir string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.Env = append(os.Environ(), helperVariable+"="+what+" "+dir)
	p.Stderr = os.Stderr
	var err error
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// says waits for a line of output.
func (p *process) says(t *testing.T) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatalf("the other process ended: %v", p.out.Err())
	}
	return p.out.Text()
}

// kill ends the process like a power failure.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for p.out.Scan() { // until the end of its output
	}
	if err := p.Wait(); err == nil {
		t.Fatal("the other process had ended before it was killed")
	}
}

func TestClaimAcrossProcesses(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	newRun(t, s, "r")
	newRun(t, s, "other")
	p := startHelper(t, "hold", dir)
	if got := p.says(t); got != "held" {
		t.Fatal(got)
	}
	_, err := s.Claim(t.Context(), "r")
	if !errors.Is(err, engine.ErrInUse) || !strings.Contains(err.Error(), fmt.Sprintf("run r is in progress in process %d", p.Process.Pid)) {
		t.Errorf("got %v, want ErrInUse, the run and the process", err)
	}
	if r, err := s.Run(t.Context(), "r"); err != nil || !r.InProgress {
		t.Errorf("the run of the other process is not in progress: %v", err)
	}
	if err := s.Delete(t.Context(), "r"); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("delete: got %v, want ErrInUse", err)
	}
	if err := s.Delete(t.Context(), "other"); err != nil {
		t.Errorf("a run that is not in progress cannot be deleted: %v", err)
	}

	waits := make(chan string, 1)
	claimed := make(chan error, 1)
	go func() {
		release, err := s.ClaimWait(t.Context(), "r", waiting.Entry{}, func(holder string) { waits <- holder })
		if err == nil {
			release()
		}
		claimed <- err
	}()
	if got := <-waits; !strings.Contains(got, fmt.Sprint("process ", p.Process.Pid)) {
		t.Errorf("waits for %s", got)
	}
	p.kill(t)
	if err := <-claimed; err != nil {
		t.Errorf("the dead process still holds it: %v", err)
	}
	if r, err := s.Run(t.Context(), "r"); err != nil || r.InProgress {
		t.Errorf("the run of the dead process is in progress: %v", err)
	}
}

func TestKilledHolderIsNotInProgress(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	newRun(t, s, "r")
	p := startHelper(t, "hold", dir)
	p.says(t)
	p.kill(t)
	if r, err := s.Newest(t.Context()); err != nil || r.InProgress || r.Ending != engine.NotEnded {
		t.Errorf("got in progress %v, %v, want an interrupted run", r.InProgress, err)
	}
	if file.Size(filepath.Join(s.file.Dir(), waiting.Folder, "run-r.json")) >= 0 {
		t.Error("the dead holder's file is still there")
	}
	release, err := s.Claim(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestClaimWaitInLine(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	newRun(t, s, "r")
	release, err := s.Claim(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan int, 3)
	for i := range 3 {
		waits := make(chan struct{})
		go func() {
			release, err := s.ClaimWait(t.Context(), "r", waiting.Entry{}, func(string) {
				select {
				case <-waits:
				default:
					close(waits)
				}
			})
			if err != nil {
				t.Error(err)
			} else {
				release()
			}
			got <- i
		}()
		<-waits
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ClaimWait(ended, "r", waiting.Entry{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	release()
	for want := range 3 {
		if i := <-got; i != want {
			t.Errorf("got waiter %d, want %d", i, want)
		}
	}
}

// TestDeadTicket kills the process that has waited longest.
func TestDeadTicket(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	newRun(t, s, "r")
	claims := filepath.Join(s.file.Dir(), waiting.Folder)
	if err := os.MkdirAll(claims, 0o700); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(claims, waiting.Prefix+"00000000000000000001-1")
	write(t, dead, nil)
	release, err := s.ClaimWait(t.Context(), "r", waiting.Entry{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	release()
	if file.Size(dead) >= 0 {
		t.Error("the ticket of the dead process still exists")
	}
	left, err := os.ReadDir(claims)
	if err != nil || len(left) > 0 {
		t.Errorf("got files %v, %v, want none", left, err)
	}
}

func TestKilledWriterLosesNothingCommitted(t *testing.T) {
	dir := t.TempDir()
	closeStore(t, func() *Store {
		s := openStore(t, dir, Options{Logger: quiet()})
		newRun(t, s, "r")
		return s
	}())
	for round := range 3 {
		p := startHelper(t, "journal", dir)
		last := ""
		for range 40 + 30*round {
			last = p.says(t)
		}
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for p.out.Scan() {
			last = p.out.Text()
		}
		_ = p.Wait()
		var agent int
		if _, err := fmt.Sscan(last, &agent); err != nil {
			t.Fatalf("%q: %v", last, err)
		}
		s := openStore(t, dir, Options{Logger: quiet()})
		seen := map[int]bool{}
		for r, err := range s.Sessions(t.Context(), "r", 0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			seen[r.Agent] = true
		}
		for a := range agent + 1 {
			if !seen[a] {
				t.Errorf("agent %d was committed and is lost", a)
			}
		}
		closeStore(t, s)
	}
}

// TestKilledSharerLosesNoAnswer checks that no session exists without the shared answer that it used.
func TestKilledSharerLosesNoAnswer(t *testing.T) {
	for round := range 3 {
		dir := t.TempDir()
		s := openStore(t, dir, Options{Logger: quiet()})
		newRun(t, s, "r")
		closeStore(t, s)
		p := startHelper(t, "share", dir)
		for range 50 + 37*round {
			p.says(t)
		}
		p.kill(t)
		s = openStore(t, dir, Options{Logger: quiet()})
		res, err := s.Resume(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		for _, agent := range res.Done {
			key := sharedBy(agent)
			if e, ok := res.Shared.Answers[key]; !ok || !bytes.Equal(e.Output, key[:]) {
				t.Errorf("session %d exists, its answer is %+v, %v", agent, e, ok)
			}
		}
		if n := len(res.Shared.Answers); n < (50+37*round)/3 || len(res.Shared.Unanswered) > 1 || res.State.Totals.Shared.Requests != int64(n) {
			t.Errorf("%d answers, %d in flight, %+v", n, len(res.Shared.Unanswered), res.State.Totals.Shared)
		}
		closeStore(t, s)
	}
}

// TestDeleteDuringJournal deletes a run while another process journals.
func TestDeleteDuringJournal(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	newRun(t, s, "r")
	j := newRun(t, s, "old")
	for agent := range 30_000 {
		j.Append(engine.SessionRows{{Place: engine.Place{Agent: agent}, Outcome: engine.OK, Started: time.Now()}})
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := startHelper(t, "journal", dir)
	p.says(t)
	if err := s.Delete(t.Context(), "old"); err != nil {
		t.Error(err)
	}
	before := p.says(t)
	if after := p.says(t); after == before || strings.Contains(after, "error") {
		t.Errorf("the other process does not continue: %s", after)
	}
	p.kill(t)
}
