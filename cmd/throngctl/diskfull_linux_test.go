package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// diskEnv is the environment variable for the folder of a small file system. It is set in the mount namespace of the test.
const diskEnv = "THRONGCTL_TEST_DISK"

// TestDiskFull runs on a file system of a few megabytes that fills up. It needs a namespace in which it may mount one.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(diskEnv); dir != "" {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=12m"); err != nil {
			t.Fatal(err)
		}
		testDiskFull(t, dir)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestDiskFull$", "-test.v")
	cmd.Env = append(os.Environ(), diskEnv+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		if os.Getenv("CI") != "" && os.Getuid() == 0 {
			t.Fatalf("cannot create a namespace: %v", err)
		}
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// disk is a small file system.
type disk struct {
	t   *testing.T
	dir string
}

func (d disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill uses up all free space.
func (d disk) fill() {
	d.t.Helper()
	f, err := os.Create(d.ballast())
	if err != nil {
		d.t.Fatal(err)
	}
	for _, size := range []int{1 << 16, 1 << 12, 1} { // to the last byte
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			d.t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		d.t.Fatal(err)
	}
}

func (d disk) free() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		d.t.Fatal(err)
	}
}

// until waits for an effect of other processes.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(2 * time.Minute); !holds(); <-tick.C {
		if time.Now().After(late) {
			t.Fatalf("not within 2 minutes: %s", what)
		}
	}
}

// testDiskFull fills the disk during a run.
func testDiskFull(t *testing.T, dir string) {
	d := disk{t, dir}
	want := calmDay(t)
	data := filepath.Join(dir, "data")
	cmd, _, _ := process(t, nil, day(data, "--mock-latency", "remote", "--no-dashboard")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inTheMiddle := func() bool {
		_, text, _ := ctl(t, "runs", "--data", data)
		return strings.Contains(text, "in progress") && !strings.Contains(text, " 0 (0%)")
	}
	until(t, "sessions", inTheMiddle)
	d.fill()
	until(t, "a pause that says why", func() bool {
		_, text, _ := ctl(t, "status", "--data", data)
		return strings.Contains(text, "paused") && strings.Contains(text, "disk is full") && strings.Contains(text, "loses nothing")
	})

	// Kill it while it waits: the next start says what to do, and starts nothing.
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if code, _, text := ctl(t, "resume", "--data", data); code == exitDone || !strings.Contains(text, "free some space") {
		t.Errorf("resumed on a full disk: exit code %d\n%s", code, text)
	}

	// The run continues and the disk fills again. This time space is freed during the run.
	d.free()
	cmd, out, stderr := process(t, nil, "resume", "--data", data, "--mock-latency", "remote", "--no-dashboard")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the run in progress again", inTheMiddle)
	d.fill()
	until(t, "another pause", func() bool {
		_, text, _ := ctl(t, "status", "--data", data)
		return strings.Contains(text, "disk is full")
	})
	d.free()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr)
	}
	if !strings.Contains(out.String(), "exact") || strings.Contains(out.String(), "inexact") {
		t.Errorf("the result is not exact:\n%s", out)
	}

	// An export has no space, and leaves no files.
	d.fill()
	exported := filepath.Join(dir, "out")
	for _, args := range [][]string{{"--out", exported}, {"--what", "sessions", "--out", filepath.Join(dir, "sessions.csv")}} {
		if code, _, text := ctl(t, append([]string{"export", "--data", data}, args...)...); code == exitDone || !strings.Contains(text, "no space left") {
			t.Errorf("exported to a full disk: exit code %d\n%s", code, text)
		}
	}
	for _, pattern := range []string{"out/*", "out/.*", "sessions*", ".sessions*"} {
		if left, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(left) > 0 {
			t.Errorf("incomplete files were not removed: %v %v", left, err)
		}
	}
	d.free()
	if code, _, text := ctl(t, "export", "--data", data, "--out", exported); code != exitDone {
		t.Fatalf("export: %s", text)
	}
	got := outcome{read(t, exported, "sessions.csv"), read(t, exported, "events.csv")}
	if got != want {
		t.Errorf("sessions.csv %s\nevents.csv %s", difference(want.sessions, got.sessions), difference(want.events, got.events))
	}
	checkOrders(t, data, got.events)
}
