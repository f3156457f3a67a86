// Package openfiles tracks the waits of requests for file descriptors, which the process or the machine may run out of. That is not
// the service's failure.
package openfiles

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"github.com/throng-sim/throng/engine"
)

// ErrTooMany means that a request was not sent because the process has no file descriptors left. The attempt does not count.
var ErrTooMany = errors.New("too many open files")

const (
	// Pause is how long a call waits for a file descriptor.
	Pause = 200 * time.Millisecond
	// quiet is the time without such waits after which the next one is reported again.
	quiet = time.Minute
)

// Caused reports whether an error of a connection says that no file can be opened.
func Caused(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Waits are the waits of a service's calls. The zero value is ready to use. It is safe for concurrent use.
type Waits struct {
	mu    sync.Mutex
	last  time.Time // time of the last wait
	moves []engine.ChangeRow
}

// Report reports the first of many waits.
func (w *Waits) Report(service string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.last
	if w.last = now; now.Sub(was) < quiet {
		return
	}
	text := why()
	slog.Warn(text, "service", service)
	w.moves = append(w.moves, engine.ChangeRow{At: now, What: service + " files", New: "throttled", Who: "system", Why: text})
}

// why returns what happened and what to do.
func why() string {
	known := ""
	if n := limit(); n > 0 {
		known = fmt.Sprintf(" (the limit is %d)", n)
	}
	return "too many open files" + known + ": requests wait. Raise the limit, for example `ulimit -n 4096`, or lower the concurrency limit"
}

// Taken returns the changes to journal, once.
func (w *Waits) Taken() []engine.ChangeRow {
	w.mu.Lock()
	defer w.mu.Unlock()
	moves := w.moves
	w.moves = nil
	return moves
}
