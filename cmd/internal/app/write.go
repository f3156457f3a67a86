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

// WrittenPopulation summarizes the personas that a model wrote for a launch.
type WrittenPopulation struct {
	By   string // the service
	Kept int    // personas written earlier
	New  int
	Took engine.Outlay
}

// String describes the population in one line.
func (w *WrittenPopulation) String() string {
	text := fmt.Sprintf("%s personas written by %s", engine.FormatCount(int64(w.Kept+w.New)), w.By)
	if w.New == 0 {
		return text + ", all of them earlier"
	}
	if w.Kept > 0 {
		text += fmt.Sprintf(", %s of them earlier", engine.FormatCount(int64(w.Kept)))
	}
	text += fmt.Sprintf("; %s requests, %s tokens", engine.FormatCount(w.Took.Requests), engine.FormatCount(w.Took.Amount().Tokens))
	if cost := storage.Dollars(&w.Took.Usage); cost != "" {
		return text + ", $" + cost
	}
	return text + ", cost unknown"
}

// UnwrittenError says that personas are missing. The finished ones are stored.
type UnwrittenError struct {
	Done, Total int
	Failed      []MissingPersona // by their index
	Cause       error            // why the others were not requested; nil if all were
	Took        engine.Outlay
	Larger      string // flag for a larger budget; "" if the budget is not used up
}

// MissingPersona is a persona that could not be written.
type MissingPersona struct {
	Index int
	Err   error
}

// maxListedMissing bounds the missing personas that an error lists.
const maxListedMissing = 5

func (e *UnwrittenError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d personas are written and stored; launch the scenario again to write the others", e.Done, e.Total)
	for i, f := range e.Failed {
		if i == maxListedMissing {
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
		fmt.Fprintf(&b, "; the other %d were not requested: %s", left, why)
	}
	if e.Took.Requests > 0 {
		fmt.Fprintf(&b, "; used %s requests and %s", engine.FormatCount(e.Took.Requests), engine.FormatCost(&e.Took.Usage))
	}
	if e.Larger != "" {
		fmt.Fprintf(&b, "; to write the rest: %s", e.Larger)
	}
	return b.String()
}

func (e *UnwrittenError) Unwrap() error { return e.Cause }

// write lets a model write the missing personas, if the scenario has a written population. It runs before the run is
// created.
func (l Population) write(ctx context.Context, j *Job, bearers map[string]string) (err error) {
	w := l.Scenario.Writing(l.Settings.Seed)
	if w == nil {
		return nil
	}
	kept, err := openPersonas(ctx, personasFile(l.Data, l.Scenario), l.Waiting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.close()) }()
	requests, personas, err := kept.find(w, l.address)
	if err != nil {
		return err
	}
	a := &personaWriter{Population: l, work: w, kept: kept, requests: requests, personas: personas, ledger: j.ledger, began: time.Now()}
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

// personaWriter requests the missing personas.
type personaWriter struct {
	Population
	work     *scenario.Writing
	requests []string
	missing  []int // indexes
	ledger   *engine.Ledger
	began    time.Time

	mu       sync.Mutex // guards the fields below
	kept     *keptPersonas
	personas [][]byte
	failed   []MissingPersona
	report   WrittenPopulation
	records  []engine.StepRecord // of the calls
	next     int                 // index into missing
}

// maxFailures is the number of failed personas after which no others are requested: the cause is not in one persona.
const maxFailures = 5

var errTooMany = errors.New("too many failed")

// write connects the services, requests the personas, and closes the services.
func (a *personaWriter) write(ctx context.Context, bearers map[string]string) (err error) {
	services := &Job{}
	defer func() { err = errors.Join(err, services.Close()) }()
	l := a.Services
	l.Settings.Breaker = noBreaker // the user waits, and sees each failure
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
	a.reportProgress()
	var working sync.WaitGroup
	calls := max(a.Settings.MaxLLMCalls, 1)
	if a.Settings.SequentialPersonas {
		calls = 1
	}
	for range min(len(a.missing), calls) {
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
	slices.SortFunc(a.failed, func(x, y MissingPersona) int { return x.Index - y.Index })
	e := &UnwrittenError{Done: done, Total: len(a.personas), Failed: a.failed, Cause: context.Cause(ctx), Took: a.report.Took}
	if errors.Is(e.Cause, engine.ErrCut) {
		e.Larger = a.ledger.Larger(time.Since(a.began))
	}
	return e
}

// take returns the index of the next missing persona; -1 if there is no other to request.
func (a *personaWriter) take(ctx context.Context) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil || a.next == len(a.missing) {
		return -1
	}
	a.next++
	return a.missing[a.next-1]
}

// settle stores a finished persona, or notes why it failed.
func (a *personaWriter) settle(ctx context.Context, stop context.CancelCauseFunc, i int, text []byte, took *engine.StepRecord, err error) {
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
		if ctx.Err() != nil { // canceled
			return
		}
		if a.failed = append(a.failed, MissingPersona{i, err}); len(a.failed) == maxFailures {
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
	a.reportProgress()
}

func (a *personaWriter) reportProgress() {
	if a.Writing != nil {
		a.Writing(a.report.Kept+a.report.New, len(a.personas))
	}
}
