package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// cutsEnv is the environment variable for the number of copies that TestResumeOfACopy makes; the default is 12.
const cutsEnv = "THRONG_TEST_CUTS"

// TestResumeOfACopy resumes copies of a data folder that were made during a run. In some of them, the end of the store or
// of the mock shop's log is missing. Each is either exact, with the results of an uninterrupted run, or says why it is not.
func TestResumeOfACopy(t *testing.T) {
	t.Parallel()
	const seed = 20261121
	cuts := 12
	if text := os.Getenv(cutsEnv); text != "" {
		var err error
		if cuts, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	want := calmDay(t)
	exact, inexact := 0, 0
	for n := range cuts {
		at := fmt.Sprint("stop:", 5+draw.IntN(300))
		t.Run(fmt.Sprint(n, " ", at), func(t *testing.T) {
			data := t.TempDir()
			frozen(t, at, data)
			how := damage(t, draw, data)
			out := t.TempDir()
			code, _, stderr := ctl(t, "resume", "--data", data, "--export", out)
			switch {
			case code == exitDone:
			case strings.Contains(stderr, "no run"): // the run had not started in the copy
				return
			case code == exitFailed: // sessions failed at a shop of another moment
			default:
				t.Fatalf("%s: resume: exit code %d\n%s", how, code, stderr)
			}
			run := read(t, out, "run.json")
			got := outcome{read(t, out, "sessions.csv"), read(t, out, "events.csv")}
			if strings.Contains(run, `"exact": true`) {
				exact++
				if got != want {
					t.Errorf("%s: exact, but sessions.csv %s\nevents.csv %s", how,
						difference(want.sessions, got.sessions), difference(want.events, got.events))
				}
				return
			}
			inexact++
			if !strings.Contains(run, "lost its end") && !strings.Contains(run, "no log of this run") {
				t.Errorf("%s: no reason for the inexact result:\n%s", how, run)
			}
		})
	}
	if t.Logf("%d exact, %d inexact", exact, inexact); inexact == 0 {
		t.Error("no damage made a run inexact: the test has no effect")
	}
}

// frozen runs in a folder of its own until the process freezes at a moment, ends the process, and copies its files into
// data.
func frozen(t *testing.T, at, data string) {
	t.Helper()
	from := t.TempDir()
	freeze(t, at, from)
	if err := os.CopyFS(data, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// damage removes the end of one file of a data folder, and returns a description.
func damage(t *testing.T, draw *rand.Rand, data string) string {
	t.Helper()
	which := draw.IntN(4)
	wal := filepath.Join(data, "throng.db-wal")
	switch which {
	case 0:
		return "as copied"
	case 1, 2:
		_ = os.Remove(filepath.Join(data, "throng.db-shm"))
		return shorten(t, draw, wal)
	}
	var logs []string
	err := filepath.WalkDir(filepath.Join(data, "mock"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			logs = append(logs, path)
		}
		return err
	})
	if err != nil || len(logs) == 0 {
		return "without a log of the mock shop"
	}
	return shorten(t, draw, logs[0])
}

func shorten(t *testing.T, draw *rand.Rand, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	size := info.Size()
	// Half of the cuts are near the end, where the open cycle is.
	to := draw.Int64N(size + 1)
	if draw.IntN(2) == 0 {
		to = size - draw.Int64N(min(size, 40_000)+1)
	}
	if err := os.Truncate(path, to); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s cut from %d to %d bytes", filepath.Base(path), size, to)
}
