package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/cmd/internal/crash"
	"github.com/throng-sim/throng/cmd/internal/dash"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
)

// board is the dashboard of a run in this process, or nil.
type board struct {
	dash *dash.Dash
	stop chan struct{} // q was typed
	end  func()
}

// close removes the dashboard.
func (b *board) close() {
	if b != nil {
		b.end()
	}
}

// say shows a line on the dashboard. It reports false if there is no dashboard.
func (b *board) say(text string) bool {
	if b != nil {
		b.dash.Say(text)
	}
	return b != nil
}

// stops receives a value each time the user asks to stop the run.
func (b *board) stops() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.stop
}

// screens holds the dashboard on the terminal, so that a crash can remove it.
type screens struct {
	mu  sync.Mutex
	now *dash.Dash
}

func (s *screens) set(d *dash.Dash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = d
}

// taken reports whether a dashboard is on the terminal.
func (s *screens) taken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now != nil
}

// clear removes the dashboard from the terminal, if there is one.
func (s *screens) clear() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		s.now.Close()
	}
}

// files returns the files of the terminal if they can show a dashboard.
func (t *terminal) files() (in, out *os.File, ok bool) {
	in, typed := t.in.(*os.File)
	out, seen := show.Raw(t.out).(*os.File)
	return in, out, typed && seen && dash.Usable(in, out, os.Getenv)
}

// openBoard shows the dashboard of a run if the terminal supports it and lines are not requested.
func openBoard(t *terminal, box *crash.Box, job *app.Job, lines bool) *board {
	in, out, ok := t.files()
	if !ok || lines {
		return nil
	}
	local := control.NewLocal(job.Orders)
	b := &board{stop: make(chan struct{}, 4)}
	var err error
	b.dash, err = dash.Open(dash.Config{
		In: in, Out: out, Look: dash.LookOf(os.Getenv), Watch: local.Client(), Order: local.Client(), Own: true,
		Stop: func() {
			select {
			case b.stop <- struct{}{}:
			default: // enough presses are waiting
			}
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	b.end = sync.OnceFunc(func() {
		cancel()
		b.dash.Close()
		<-done
		t.screens.set(nil)
		if err := errors.Join(err, local.Close()); err != nil {
			fmt.Fprintf(t.err, "The dashboard stopped: %v\n", err)
		}
	})
	if err != nil {
		close(done)
		b.end()
		return nil
	}
	t.screens.set(b.dash)
	go func() {
		defer close(done)
		guarded(t, box, job.Run, func() { err = b.dash.Run(ctx) })
	}()
	return b
}
