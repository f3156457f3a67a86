package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRunAfterAPowerCut freezes runs at seeded requests and copies their files at that instant, without the write-ahead
// log's index and with noise after the last committed frame. A resumed copy has the results of an uninterrupted run. The
// mock shop keeps all its orders, as a shop on another machine would. Package sqlite tests the loss of unsynced pages.
func TestRunAfterAPowerCut(t *testing.T) {
	t.Parallel()
	const seed = 20261125
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	want := calmDay(t)
	for range 4 {
		at := fmt.Sprint("stop:", 5+draw.IntN(300))
		t.Run(at, func(t *testing.T) {
			data, left := t.TempDir(), t.TempDir()
			freeze(t, at, data)
			if err := os.CopyFS(left, os.DirFS(data)); err != nil {
				t.Fatal(err)
			}
			dropTail(t, draw, filepath.Join(left, "throng.db"))
			got, _ := resumed(t, left)
			if got != want {
				t.Errorf("sessions.csv %s\nevents.csv %s", difference(want.sessions, got.sessions), difference(want.events, got.events))
			}
			checkOrders(t, left, got.events)
		})
	}
}

// freeze starts a run in data, stops its process at a moment, and kills it.
func freeze(t *testing.T, at, data string) {
	t.Helper()
	cmd, out, stderr := process(t, []string{killEnv + "=" + at}, day(data)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the process was not frozen: %v %v\n%s%s", status, err, out, stderr)
	}
	if err := os.RemoveAll(filepath.Join(data, "control")); err != nil { // a socket cannot be copied
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

// dropTail removes the index of a store's write-ahead log and adds noise after the last frame in the index.
// https://www.sqlite.org/walformat.html#the_wal_index_file_format
func dropTail(t *testing.T, draw *rand.Rand, path string) {
	t.Helper()
	index := read(t, path+"-shm")
	wal := []byte(read(t, path+"-wal"))
	end := 32 + int(binary.NativeEndian.Uint32([]byte(index[16:])))*(24+4096)
	noise := make([]byte, 1+draw.IntN(9000))
	for i := range noise {
		noise[i] = byte(draw.Uint32())
	}
	if err := os.WriteFile(path+"-wal", append(wal[:min(end, len(wal))], noise...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + "-shm"); err != nil {
		t.Fatal(err)
	}
}
