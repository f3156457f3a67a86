package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/engine"
)

// One run is in progress per store. Its process holds the lock of throng.lock and has put its name into throng.holder;
// a process that dies loses the lock, and what it wrote there means nothing any more. Those who wait have a ticket
// each, a file that they lock; its name says since when.
const (
	lockName     = "throng.lock"
	holderName   = "throng.holder"
	ticketPrefix = "throng.waiting-"

	// lockPoll is how often a process that waits tries again.
	lockPoll = 100 * time.Millisecond
	// lockTries is how often, and lockTry how long apart, a free lock is tried: somebody may just be looking whether
	// it is free.
	lockTries = 5
	lockTry   = 10 * time.Millisecond
)

// holder is who has a run in progress.
type holder struct {
	Run     string    `json:"run"`
	Process int       `json:"process"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
}

func (h holder) String() string {
	if h.Run == "" {
		return "another process has a run in progress"
	}
	return fmt.Sprintf("run %s is in progress in process %d (%s) since %s", h.Run, h.Process, h.Program, h.Since.Local().Format("2006-01-02 15:04:05"))
}

// Claim makes the run the one in progress until release is called or the process ends. If there is one already, its
// error wraps ErrInUse and names that run and its process.
func (s *Store) Claim(ctx context.Context, run engine.RunID) (release func(), err error) {
	release, err = s.claim(ctx, run)
	if err != nil {
		err = fmt.Errorf("claim run %s: %w", run, err)
	}
	return release, err
}

func (s *Store) claim(ctx context.Context, run engine.RunID) (release func(), err error) {
	if s.lookOnly {
		return nil, errLookOnly
	}
	if _, err := s.key(ctx, run); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(s.dir, lockName))
	for try := range lockTries {
		got, err := lock.TryLock()
		if err != nil {
			return nil, noFolder(err)
		}
		if got {
			return s.hold(ctx, run, lock)
		}
		if try+1 < lockTries {
			if err := pause(ctx, lockTry); err != nil {
				return nil, err
			}
		}
	}
	h, _ := s.readHolder()
	return nil, fmt.Errorf("%w: %s", engine.ErrInUse, h)
}

// hold writes down who has the lock. Only then it looks whether the run is still there: see Delete.
func (s *Store) hold(ctx context.Context, run engine.RunID, lock *flock.Flock) (release func(), err error) {
	var once sync.Once
	release = func() {
		once.Do(func() {
			s.mu.Lock()
			s.claimed = ""
			s.mu.Unlock()
			if err := os.Remove(filepath.Join(s.dir, holderName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				s.options.Logger.Warn("holder's file stays", "error", err)
			}
			if err := lock.Close(); err != nil {
				s.options.Logger.Error("release the run", "run", run, "error", err)
			}
		})
	}
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	text, err := json.Marshal(holder{Run: string(run), Process: os.Getpid(), Program: filepath.Base(program), Since: time.Now().UTC()})
	if err == nil {
		err = replaceFile(filepath.Join(s.dir, holderName), text)
	}
	if err == nil {
		s.mu.Lock()
		s.claimed = string(run)
		s.mu.Unlock()
		_, err = s.key(ctx, run)
	} else {
		err = noFolder(err)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// ClaimWait is Claim, but waits in line while another run is in progress. onWait, if set, is told who has it: when the
// waiting begins and whenever that changes.
func (s *Store) ClaimWait(ctx context.Context, run engine.RunID, onWait func(holder string)) (release func(), err error) {
	if s.lookOnly {
		return nil, fmt.Errorf("claim run %s: %w", run, errLookOnly)
	}
	ticket, leave, err := s.queueUp()
	if err != nil {
		return nil, fmt.Errorf("wait to claim run %s: %w", run, err)
	}
	defer leave()
	told := ""
	for {
		if s.firstInLine(ticket) {
			release, err := s.Claim(ctx, run)
			if !errors.Is(err, engine.ErrInUse) {
				return release, err
			}
		}
		if h, err := s.readHolder(); err == nil && h.String() != told && onWait != nil {
			told = h.String()
			onWait(told)
		}
		if err := pause(ctx, lockPoll); err != nil {
			return nil, err
		}
	}
}

// queueUp takes a ticket. Names of tickets sort by age.
func (s *Store) queueUp() (ticket string, leave func(), err error) {
	for range lockTries {
		ticket = fmt.Sprintf("%s%020d-%d", ticketPrefix, time.Now().UnixNano(), os.Getpid())
		path := filepath.Join(s.dir, ticket)
		lock := flock.New(path)
		got, err := lock.TryLock()
		if err != nil {
			return "", nil, noFolder(err)
		}
		if !got || size(path) < 0 { // taken for a dead process's before it was locked
			continue
		}
		return ticket, func() {
			if err := errors.Join(os.Remove(path), lock.Close()); err != nil {
				s.options.Logger.Warn("ticket stays", "error", err)
			}
		}, nil
	}
	return "", nil, engine.ErrInUse
}

// firstInLine reports whether nobody alive has an older ticket. It removes those of the dead.
func (s *Store) firstInLine(ticket string) bool {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return true // the lock itself decides
	}
	for _, e := range entries { // sorted
		if !strings.HasPrefix(e.Name(), ticketPrefix) || e.Name() >= ticket {
			continue
		}
		path := filepath.Join(s.dir, e.Name())
		lock := flock.New(path, flock.SetFlag(os.O_RDWR)) // never makes it anew
		got, err := lock.TryLock()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && got:
			if err := errors.Join(os.Remove(path), lock.Close()); err != nil {
				s.options.Logger.Warn("ticket of a dead process stays", "error", err)
			}
		default:
			return false
		}
	}
	return true
}

// holder returns who has a run in progress now.
func (s *Store) holder() (h holder, held bool) {
	h, err := s.readHolder()
	if err != nil {
		return h, false
	}
	s.mu.Lock()
	mine := s.claimed != "" && s.claimed == h.Run
	s.mu.Unlock()
	if mine {
		return h, true
	}
	lock := flock.New(filepath.Join(s.dir, lockName))
	free, err := lock.TryLock()
	if err != nil || !free {
		return h, err == nil
	}
	// The process died. Without its file nobody has to try the lock again.
	if err := errors.Join(os.Remove(filepath.Join(s.dir, holderName)), lock.Close()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.options.Logger.Warn("holder's file stays", "error", err)
	}
	return holder{}, false
}

func (s *Store) readHolder() (h holder, err error) {
	text, err := os.ReadFile(filepath.Join(s.dir, holderName))
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err == nil {
		err = engine.RunID(h.Run).Check()
	}
	if err != nil {
		return holder{}, err
	}
	return h, nil
}

// replaceFile writes a file at once.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
