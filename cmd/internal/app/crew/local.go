package crew

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/machine"
)

// Limits of restarts: a worker that lived for less than briefly is restarted this many times in a row.
const (
	briefly      = 10 * time.Second
	mostRestarts = 3
	restartAfter = 300 * time.Millisecond
)

// locals are the workers on this machine. A nil value has none.
type locals struct {
	cfg     *Config
	join    string
	count   int
	changed func()
	ctx     context.Context // ends with the fleet
	stop    context.CancelFunc
	all     sync.WaitGroup

	mu      sync.Mutex
	last    error           // why the last worker that was given up ended
	given   int             // workers that were given up
	removed map[string]bool // workers that were removed by hand
}

func startLocals(cfg *Config, count int, join string, changed func()) *locals {
	l := &locals{cfg: cfg, join: join, count: count, changed: changed, removed: map[string]bool{}}
	l.ctx, l.stop = context.WithCancel(context.Background())
	for i := range count {
		l.all.Go(func() { l.keep(i + 1) })
	}
	return l
}

// close ends the workers.
func (l *locals) close() {
	if l != nil {
		l.stop()
		l.all.Wait()
	}
}

// failure returns why there are fewer workers than wanted and none can come; nil while there may be enough.
func (l *locals) failure(wanted int) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count-l.given-len(l.removed) >= wanted {
		return nil
	}
	return errors.Join(errLocal, l.last)
}

// keep starts a worker, counted from 1, and again if it ends before the fleet does.
func (l *locals) keep(worker int) {
	name := fmt.Sprintf("local-%d", worker)
	for start, failures := 1, 0; ; start++ {
		began := time.Now()
		env := append(os.Environ(), l.cfg.Env...)
		if l.cfg.WorkerEnv != nil {
			env = l.cfg.WorkerEnv(env, worker, start)
		}
		err := l.run(name, env)
		if l.ctx.Err() != nil || l.isRemoved(name) {
			return
		}
		if failures++; time.Since(began) > briefly {
			failures = 1
		}
		if failures > mostRestarts {
			l.mu.Lock()
			l.given, l.last = l.given+1, err
			left := l.count - l.given - len(l.removed)
			l.mu.Unlock()
			l.cfg.Say(fmt.Sprintf("worker %s is not started again, because it ended %d times in a row: %v", name, failures, err))
			if left <= 0 {
				l.cfg.Say("no worker is left on this machine: stop the run, and resume it when the reason is gone")
			}
			l.changed()
			return
		}
		l.cfg.Say(fmt.Sprintf("worker %s ended (%v) and is started again", name, err))
		select {
		case <-time.After(restartAfter):
		case <-l.ctx.Done():
		}
	}
}

// remove has a worker not started again.
func (l *locals) remove(name string) {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.removed[name] = true
	}
}

// restore undoes remove.
func (l *locals) restore(name string) {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.removed, name)
	}
}

// isRemoved reports whether a worker was removed. One that was started again may have joined with a number after its name.
func (l *locals) isRemoved(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for removed := range l.removed {
		if removed == name || strings.HasPrefix(removed, name+"-") {
			return true
		}
	}
	return false
}

// run executes a worker until it ends. At the end of the fleet, it closes the worker's standard input, which ends it.
func (l *locals) run(name string, env []string) error {
	cmd := exec.CommandContext(l.ctx, l.cfg.Program, l.arguments(name)...)
	cmd.Env = append(env, about.JoinEnv+"="+l.join, about.LeashEnv+"=1")
	var said tail
	cmd.Stderr = &said
	leash, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	cmd.Cancel, cmd.WaitDelay = leash.Close, closeTime // and then it is killed
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	err = cmd.Wait()
	switch last := said.last(); {
	case err == nil:
		return errors.New("without an error")
	case last != "":
		return fmt.Errorf("%w: %s", err, last)
	}
	return err
}

// arguments are those of a worker, which gets its part of the machine.
func (l *locals) arguments(name string) []string {
	args := []string{"worker", "--name", name, "--cores", strconv.Itoa(max(runtime.NumCPU()/l.count, 1)), "--data", l.cfg.Data}
	if total := machine.TotalMemory(); total > 0 {
		args = append(args, "--memory", engine.MemoryLimit{Bytes: int64(total) / int64(l.count+1)}.String())
	}
	return args
}

// tail keeps the end of what a process prints.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// tailSize is how many bytes a tail keeps.
const tailSize = 4 << 10

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = bytes.Clone(t.text[max(len(t.text)-tailSize, 0):])
	return len(p), nil
}

// last returns the last line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return lines[len(lines)-1]
}
