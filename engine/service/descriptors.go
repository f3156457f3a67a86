package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"github.com/throng-sim/throng/engine"
)

// errDescriptors says that an attempt did not leave since this process has no more file descriptors. It counts as none.
var errDescriptors = errors.New("too many open files")

const (
	// descriptorPause is how long a call waits for a descriptor before it tries again.
	descriptorPause = 200 * time.Millisecond
	// descriptorQuiet is how long no call may have waited until that is told again.
	descriptorQuiet = time.Minute
)

// noDescriptor reports whether an error says that this process, or this machine, cannot open another connection: that is
// not the service's failure.
func noDescriptor(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// descriptors are the waits of a service's calls for file descriptors. The zero value is ready and safe for concurrent use.
type descriptors struct {
	mu    sync.Mutex
	last  time.Time // that a call waited
	moves []engine.ChangeRow
}

// wait has a call wait, throttled, until it may try again.
func (d *descriptors) wait(ctx context.Context, call *Call, service string) error {
	d.tell(service, time.Now())
	return call.sleep(ctx, engine.FilesGate, descriptorPause)
}

// tell notes the first wait of many.
func (d *descriptors) tell(service string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.last
	if d.last = now; now.Sub(was) < descriptorQuiet {
		return
	}
	why := descriptorWhy()
	slog.Warn(why, "service", service)
	d.moves = append(d.moves, engine.ChangeRow{At: now, What: service + " files", New: "throttled", Who: "system", Why: why})
}

// descriptorWhy says what to do about it.
func descriptorWhy() string {
	limit := ""
	if n := descriptorLimit(); n > 0 {
		limit = fmt.Sprintf(" (the limit is %d)", n)
	}
	return "too many open files" + limit + ": requests wait. Raise the limit, for example `ulimit -n 4096`, or lower the concurrency limit"
}

// taken returns what is to be journaled, once.
func (d *descriptors) taken() []engine.ChangeRow {
	d.mu.Lock()
	defer d.mu.Unlock()
	moves := d.moves
	d.moves = nil
	return moves
}
