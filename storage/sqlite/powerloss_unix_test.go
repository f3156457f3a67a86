//go:build unix

package sqlite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// The layout of the write-ahead log. https://www.sqlite.org/fileformat2.html#the_write_ahead_log
const (
	walHead   = 32
	walSalt   = 16 // in the header
	frameHead = 24
	pageBytes = 4096
)

// TestPowerLoss freezes a writing process at random instants and modifies its files like a power failure. The frozen files
// are the contents of the system's cache. In the log, everything after the last frame that was synced for a reported commit
// is truncated at a random byte or overwritten with noise. In the database, pages with a synced copy in the log are
// overwritten, as if they were being moved there. The index of the log, which is never synced, is removed. After that, all
// reported commits must exist and the file must be valid. The test does not simulate drives that report a sync too early.
func TestPowerLoss(t *testing.T) {
	const seed, cuts = 20261123, 12
	draw := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	newRun(t, s, "r")
	closeStore(t, s)
	p := startHelper(t, "frames", dir)
	defer p.kill(t)
	var torn, noisy, garbled, restarted int
	for cut := range cuts {
		var said acknowledged
		for range 60 + draw.IntN(240) {
			if _, err := fmt.Sscan(p.says(t), &said.agent, &said.frames, &said.salt); err != nil {
				t.Fatal(err)
			}
		}
		freeze(t, p)
		left := t.TempDir()
		copyFiles(t, dir, left)
		if err := p.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(left, file.Name)
		if err := os.Remove(path + "-shm"); err != nil {
			t.Fatal(err)
		}
		wal := readFile(t, path+"-wal")
		synced := said.synced(wal)
		if synced == 0 {
			restarted++
		}
		lost := draw.IntN(max(len(wal)-synced, 0) + 1)
		if cut%2 == 0 {
			wal, torn = wal[:len(wal)-lost], torn+1
		} else {
			for i := len(wal) - lost; i < len(wal); i++ {
				wal[i] = byte(draw.Uint32())
			}
			noisy++
		}
		write(t, path+"-wal", wal)
		garbled += garble(t, draw, path, wal[:synced])
		checkAfterLoss(t, left, said.agent)
	}
	if torn == 0 || noisy == 0 || garbled == 0 {
		t.Errorf("%d torn logs, %d with noise, %d pages: too few for a test", torn, noisy, garbled)
	}
	t.Logf("%d torn logs, %d with noise, %d pages of the database overwritten, %d right after a restart of the log", torn, noisy, garbled, restarted)
}

// acknowledged is a process's report about its last commit.
type acknowledged struct {
	agent, frames int
	salt          uint64
}

// synced is the part of the log that was synced for the commit; 0 if the log was restarted since, because all of it was
// synced into the database before.
func (a acknowledged) synced(wal []byte) int {
	if len(wal) < walHead || binary.BigEndian.Uint64(wal[walSalt:]) != a.salt {
		return 0
	}
	return walHead + a.frames*(frameHead+pageBytes)
}

// freeze stops a process and waits until it has stopped.
func freeze(t *testing.T, p *process) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(p.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the process did not stop: %v %v", status, err)
	}
}

// garble overwrites pages of a database that the synced part of its log contains, except the first, which identifies the
// file. It returns the number of pages.
func garble(t *testing.T, draw *rand.Rand, path string, wal []byte) (n int) {
	t.Helper()
	data := readFile(t, path)
	for at := walHead; at+frameHead+pageBytes <= len(wal); at += frameHead + pageBytes {
		page := int(binary.BigEndian.Uint32(wal[at:]))
		if page < 2 || page*pageBytes > len(data) || draw.IntN(2) == 0 {
			continue
		}
		copy(data[(page-1)*pageBytes:], bytes.Repeat([]byte{byte(draw.Uint32())}, pageBytes))
		n++
	}
	write(t, path, data)
	return n
}

// checkAfterLoss opens the remaining files and resumes the run.
func checkAfterLoss(t *testing.T, dir string, last int) {
	t.Helper()
	s := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	if got := ask[string](t, s.file.Reader, `PRAGMA integrity_check`); got != "ok" {
		t.Fatalf("integrity: %s", got)
	}
	res, err := s.Resume(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	for a := range last + 1 {
		if a >= len(res.Done) || res.Done[a] != a {
			t.Fatalf("session %d of %d was committed and is lost", a, last)
		}
		if got := res.Deltas[a]; string(got.Set[0].Value) != fmt.Sprintf("%d/0", a) {
			t.Fatalf("session %d changed memory to %v", a, got)
		}
	}
	if n := len(res.Done); n > last+3 { // the one in flight, and some whose report was not read
		t.Logf("%d sessions whose commit was not reported exist too", n-last-1)
	}
	j, err := s.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	next := engine.SessionRow{Place: engine.Place{Agent: len(res.Done)}, Outcome: engine.OK}
	if err := j.Commit(t.Context(), engine.SessionRows{next}, engine.BarrierRow{}, engine.CheckpointRow{Cycle: 1}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Run(t.Context(), "r"); err != nil || r.Done != int64(len(res.Done)+1) || r.Cycle != 1 {
		t.Errorf("the run resumes with %d sessions at cycle %d, %v", r.Done, r.Cycle, err)
	}
}
