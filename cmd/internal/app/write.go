package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
)

// Written is how a launch came by a population that a model writes.
type Written struct {
	By   string // the service
	Kept int    // personas that were there from before
	New  int
	Took engine.Outlay
}

// String says it in words.
func (w *Written) String() string {
	text := fmt.Sprintf("%s personas written by %s", engine.FormatCount(int64(w.Kept+w.New)), w.By)
	if w.New == 0 {
		return text + ", all kept from before"
	}
	if w.Kept > 0 {
		text += fmt.Sprintf(", %s of them kept from before", engine.FormatCount(int64(w.Kept)))
	}
	text += fmt.Sprintf("; %s requests, %s tokens", engine.FormatCount(w.Took.Requests), engine.FormatCount(w.Took.Amount().Tokens))
	if cost := storage.Dollars(&w.Took.Usage); cost != "" {
		return text + ", $" + cost
	}
	return text + ", cost unknown"
}

// UnwrittenError says that personas are missing. Those that came are kept.
type UnwrittenError struct {
	Done, Total int
	Failed      []Missing // by their index
	Cause       error     // why the others were given up; nil if none was
	Took        engine.Outlay
	Larger      string // the flag with which it goes on, where the budget is used up; "" is that it is not
}

// Missing is a persona that could not be written.
type Missing struct {
	Index int
	Err   error
}

// mostMissing is how many of them an error tells.
const mostMissing = 5

func (e *UnwrittenError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d personas are written and kept; launch it again to go on there", e.Done, e.Total)
	for i, f := range e.Failed {
		if i == mostMissing {
			fmt.Fprintf(&b, "; and %d more", len(e.Failed)-i)
			break
		}
		fmt.Fprintf(&b, "; persona %d: %v", f.Index+1, f.Err)
	}
	if left := e.Total - e.Done - len(e.Failed); left > 0 && e.Cause != nil {
		why := e.Cause.Error()
		if errors.Is(e.Cause, context.Canceled) {
			why = "it was stopped"
		}
		fmt.Fprintf(&b, "; the other %d were given up: %s", left, why)
	}
	if e.Took.Requests > 0 {
		fmt.Fprintf(&b, "; it took %s requests and %s", engine.FormatCount(e.Took.Requests), engine.FormatCost(&e.Took.Usage))
	}
	if e.Larger != "" {
		fmt.Fprintf(&b, "; to write the rest: %s", e.Larger)
	}
	return b.String()
}

func (e *UnwrittenError) Unwrap() error { return e.Cause }

// write has a model write the population, if it is to, before anything else is made: those who are missing in what is
// kept.
func (l Population) write(ctx context.Context, j *Job, bearers map[string]string) (err error) {
	w := l.Scenario.Writing(l.Settings.Seed)
	if w == nil {
		return nil
	}
	kept, err := openPersonas(ctx, PersonasFile(l.Data, l.Scenario), l.Waiting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.close()) }()
	requests, personas, err := kept.find(w, l.address)
	if err != nil {
		return err
	}
	a := &authors{Population: l, work: w, kept: kept, requests: requests, personas: personas, ledger: j.ledger, began: time.Now()}
	for i, p := range personas {
		if p == nil {
			a.missing = append(a.missing, i)
		}
	}
	a.report.By, a.report.Kept = w.Services()[0].Name, w.Count()-len(a.missing)
	if len(a.missing) > 0 {
		if err := a.write(ctx, bearers); err != nil {
			return err
		}
	}
	j.Written, j.writing, j.records = &a.report, time.Since(a.began), a.records
	return w.Settle(personas)
}

// authors have the personas written that are missing.
type authors struct {
	Population
	work     *scenario.Writing
	requests []string
	missing  []int // indexes
	ledger   *engine.Ledger
	began    time.Time

	mu       sync.Mutex // guards what is below
	kept     *keptPersonas
	personas [][]byte
	failed   []Missing
	report   Written
	records  []engine.StepRecord // of the calls
	next     int                 // of missing
}

// mostFailures is how many personas may fail before no other is asked for: it is not their fault.
const mostFailures = 5

var errTooMany = errors.New("too many failed")

// write connects the services, asks, and takes the services apart.
func (a *authors) write(ctx context.Context, bearers map[string]string) (err error) {
	services := &Job{}
	defer func() { err = errors.Join(err, services.Close()) }()
	l := a.Services
	l.Settings.Breaker = noBreaker // a person waits for the run to begin, and is told what fails
	if err := l.connect(services, bearers, a.work.Services()); err != nil {
		return err
	}
	if b := a.Settings.Budget; b.Wall > 0 {
		var over context.CancelFunc
		ctx, over = context.WithTimeoutCause(ctx, b.Wall, b.TimeOver())
		defer over()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a.tell()
	var working sync.WaitGroup
	atOnce := max(a.Settings.MaxLLMCalls, 1)
	if a.Settings.SequentialPersonas {
		atOnce = 1
	}
	for range min(len(a.missing), atOnce) {
		working.Go(func() {
			for i := a.take(ctx); i >= 0; i = a.take(ctx) {
				text, took, err := a.work.Ask(ctx, i, &a.Settings, a.ledger)
				a.settle(ctx, stop, i, text, &took, err)
			}
		})
	}
	working.Wait()
	a.report.Took = a.ledger.Spent()
	done := a.report.Kept + a.report.New
	if done == len(a.personas) {
		return nil
	}
	slices.SortFunc(a.failed, func(x, y Missing) int { return x.Index - y.Index })
	e := &UnwrittenError{Done: done, Total: len(a.personas), Failed: a.failed, Cause: context.Cause(ctx), Took: a.report.Took}
	if errors.Is(e.Cause, engine.ErrCut) {
		e.Larger = a.ledger.Larger(time.Since(a.began))
	}
	return e
}

// take returns the next who is missing; -1 is that nobody is to be asked for.
func (a *authors) take(ctx context.Context) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil || a.next == len(a.missing) {
		return -1
	}
	a.next++
	return a.missing[a.next-1]
}

// settle keeps a persona that came, or notes why not.
func (a *authors) settle(ctx context.Context, stop context.CancelCauseFunc, i int, text []byte, took *engine.StepRecord, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if took.Attempts > 0 {
		took.Path = "population"
		a.records = append(a.records, *took)
	}
	if err != nil {
		if errors.Is(err, engine.ErrCut) { // the budget has no room for it
			stop(err)
		}
		if ctx.Err() != nil { // it was given up
			return
		}
		if a.failed = append(a.failed, Missing{i, err}); len(a.failed) == mostFailures {
			stop(errTooMany)
		}
		return
	}
	if err := a.kept.add(keptPersona{a.requests[i], i, text}); err != nil {
		stop(err)
		return
	}
	a.personas[i] = text
	a.report.New++
	a.tell()
}

func (a *authors) tell() {
	if a.Writing != nil {
		a.Writing(a.report.Kept+a.report.New, len(a.personas))
	}
}
