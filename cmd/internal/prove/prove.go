// Package prove shows that a run does not notice when it is killed: it runs a scenario once undisturbed, then again and
// again in processes that kill themselves at seeded commits and requests and are resumed, and compares what they gave.
package prove

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
)

// DefaultSeed is that of proofs for which nobody chose one.
const DefaultSeed uint64 = 2

// Config says what is to be proved.
type Config struct {
	Program     string            // throngctl
	Env         []string          // for it, beside that of this process
	Run, Resume []string          // arguments after these words: the scenario and flags, but for those that the trials draw
	Given       map[string]string // the settings among them, which no trial draws
	Limit       int               // sessions in flight at most; 0 is 50
	Data        string            // folder whose settings, prices, connectors and written populations hold
	Database    config.Database
	Kills       int
	Seed        uint64 // of the kills
	Only        int    // carry out this trial only; 0 is all
	AtOnce      int    // trials; 0 is one
	Keep        bool   // folders and rows in the database
	// Tell hears how far it is; one call at a time. It may be nil.
	Tell func(Progress)
	// Between, if set, is called with the data folder after each kill: tests break something there.
	Between func(dir string) error
}

func (c *Config) limit() int {
	if c.Limit > 0 {
		return c.Limit
	}
	return slices.Max(limits)
}

// Progress is how far a proof is.
type Progress struct {
	Undisturbed     bool // the undisturbed run is at work
	Kills, Of       int
	Resumes, Differ int
}

// Report is what a proof found.
type Report struct {
	Sessions int64 // of the undisturbed run
	Counts   Counts
	Trials   []Trial
	Folder   string // that was kept; "" is none
	Took     time.Duration
}

// ErrInexact says that a result depends on timing.
var ErrInexact = errors.New("its result depends on timing, so that there is nothing to compare with")

// reference is the undisturbed run.
type reference struct {
	*result
	counts Counts
}

// Prove carries out a proof. When ctx ends, so do the processes, and the folders go.
func Prove(ctx context.Context, c Config) (report *Report, err error) {
	start := time.Now()
	parent, err := os.MkdirTemp("", "throng-prove-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		if c.Keep && report != nil {
			report.Folder = parent
			return
		}
		err = errors.Join(err, os.RemoveAll(parent))
	}()
	if c.Tell == nil {
		c.Tell = func(Progress) {}
	}
	c.Tell(Progress{Undisturbed: true, Of: c.Kills})
	undisturbed, err := c.undisturbed(ctx, parent)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("the undisturbed run: %w", err)
	}
	report = &Report{Sessions: undisturbed.record.Done, Counts: undisturbed.counts}
	err = c.all(ctx, parent, undisturbed, report)
	report.Took = time.Since(start)
	return report, err
}

// undisturbed runs the scenario once, with as many sessions at once as any trial has: that makes the fewest commits.
func (c *Config) undisturbed(ctx context.Context, parent string) (ref *reference, err error) {
	dir, err := c.folder(parent, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.clear(ctx, dir)) }()
	counts := filepath.Join(dir, "counts")
	if _, err := c.start(ctx, child{dir: dir, args: c.run(false, settings{limit: c.limit()}), counts: counts}); err != nil {
		return nil, err
	}
	s, record, err := look(ctx, dir)
	switch {
	case err != nil:
		return nil, err
	case s != over || record.Ending != engine.EndFinished:
		return nil, fmt.Errorf("it is to come to its end: it is %s: %s", record.State(), record.Reason)
	}
	if err := c.push(ctx, dir, record.ID); err != nil {
		return nil, err
	}
	ref = &reference{}
	if ref.result, err = c.read(ctx, dir); err != nil {
		return nil, err
	}
	if ref.record.Inexact != nil {
		return nil, fmt.Errorf("%w: %s", ErrInexact, ref.record.Inexact)
	}
	ref.counts, err = ReadCounts(counts)
	return ref, err
}

// all carries out the trials, some at once, and more of them where kills were planned for moments that did not come.
func (c *Config) all(ctx context.Context, parent string, undisturbed *reference, report *Report) error {
	plans := c.trials(&undisturbed.counts)
	if c.Only > 0 {
		if c.Only > len(plans) {
			plans = append(plans[:0], c.planOf(c.Only, &undisturbed.counts))
		} else {
			plans = plans[c.Only-1 : c.Only]
		}
		return c.some(ctx, parent, plans, undisturbed, report)
	}
	next := len(plans) + 1
	for {
		if err := c.some(ctx, parent, plans, undisturbed, report); err != nil {
			return err
		}
		left := c.Kills - report.Kills()
		if left <= 0 {
			return nil
		}
		if next > 4*c.Kills+mostKills {
			return fmt.Errorf("only %d of %d kills came about: the run is too short for more", report.Kills(), c.Kills)
		}
		more := c.planOf(next, &undisturbed.counts)
		more.deaths = more.deaths[:min(left, len(more.deaths))]
		plans, next = []plan{more}, next+1
	}
}

// some carries out trials, in any order. The first error ends the others.
func (c *Config) some(ctx context.Context, parent string, plans []plan, undisturbed *reference, report *Report) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan *plan)
	var mu sync.Mutex // holds the report, and Tell
	var working sync.WaitGroup
	for range max(1, c.AtOnce) {
		working.Go(func() {
			for p := range todo {
				t, err := c.try(ctx, parent, p, undisturbed)
				if err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				report.Trials = append(report.Trials, t)
				c.Tell(report.progress(c.Kills))
				mu.Unlock()
			}
		})
	}
	for i := range plans {
		select {
		case todo <- &plans[i]:
		case <-ctx.Done():
		}
	}
	close(todo)
	working.Wait()
	slices.SortFunc(report.Trials, func(a, b Trial) int { return a.Number - b.Number })
	return context.Cause(ctx)
}

func (r *Report) progress(of int) Progress {
	p := Progress{Kills: r.Kills(), Of: of}
	for i := range r.Trials {
		p.Resumes += r.Trials[i].Resumes
		if r.Trials[i].First != "" {
			p.Differ++
		}
	}
	return p
}

// Sum is what the trials of a proof come to.
type Sum struct {
	Commits int // kills at commits
	Resumes int
	Difference
	Replayed, SentAgain, Confirmed int64
}

// Sum adds the trials up.
func (r *Report) Sum() (s Sum) {
	for i := range r.Trials {
		t := &r.Trials[i]
		for _, p := range t.Points {
			if p.Moment == Commit {
				s.Commits++
			}
		}
		s.Resumes += t.Resumes
		s.Lost += t.Lost
		s.Doubled += t.Doubled
		s.Replayed += t.Replayed
		s.SentAgain += t.SentAgain
		s.Confirmed += t.Confirmed
	}
	return s
}

// Kills is how many there were.
func (r *Report) Kills() (n int) {
	for i := range r.Trials {
		n += len(r.Trials[i].Points)
	}
	return n
}

// Failed returns the first trial that differs; nil is that none does.
func (r *Report) Failed() *Trial {
	for i := range r.Trials {
		if r.Trials[i].First != "" {
			return &r.Trials[i]
		}
	}
	return nil
}
