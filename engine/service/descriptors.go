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

// errDescriptors means that a request was not sent because the process has no file descriptors left. The attempt does not count.
var errDescriptors = errors.New("too many open files")

const (
	// descriptorPause is how long a call waits for a file descriptor.
	descriptorPause = 200 * time.Millisecond
	// descriptorQuiet is the time without such waits after which the next one is reported again.
	descriptorQuiet = time.Minute
)

// noDescriptor reports whether the process or the machine cannot open another connection. That is not the service's failure.
func noDescriptor(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// descriptors tracks the waits of a service's calls for file descriptors. The zero value is ready to use. It is safe for concurrent
// use.
type descriptors struct {
	mu    sync.Mutex
	last  time.Time // time of the last wait
	moves []engine.ChangeRow
}

// wait throttles a call until it may try again.
func (d *descriptors) wait(ctx context.Context, call *Call, service string) error {
	d.report(service, time.Now())
	return call.sleep(ctx, engine.ThrottledByFiles, descriptorPause)
}

// report reports the first of many waits.
func (d *descriptors) report(service string, now time.Time) {
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

// descriptorWhy returns what happened and what to do.
func descriptorWhy() string {
	limit := ""
	if n := descriptorLimit(); n > 0 {
		limit = fmt.Sprintf(" (the limit is %d)", n)
	}
	return "too many open files" + limit + ": requests wait. Raise the limit, for example `ulimit -n 4096`, or lower the concurrency limit"
}

// taken returns the changes to journal, once.
func (d *descriptors) taken() []engine.ChangeRow {
	d.mu.Lock()
	defer d.mu.Unlock()
	moves := d.moves
	d.moves = nil
	return moves
}
