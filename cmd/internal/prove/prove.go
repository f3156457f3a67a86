// Package prove proves that kills do not change the results of a run: it runs a scenario once undisturbed, then repeatedly in processes
// that kill themselves at seeded commits and requests and are resumed, and compares the results.
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

// DefaultSeed is the seed of proofs without a seed.
const DefaultSeed uint64 = 2

// Config is the configuration of a proof.
type Config struct {
	Program     string            // throngctl
	Env         []string          // for it, in addition to that of this process
	Run, Resume []string          // arguments after these words: the scenario and flags, without those that the trials draw
	Given       map[string]string // the settings among them, which trials do not draw
	Limit       int               // maximum of sessions in flight; 0 is 50
	Data        string            // folder with the settings, prices, connectors and written populations to use
	Database    config.Database
	Kills       int
	Seed        uint64 // of the kills
	Only        int    // run only this trial; 0 is all
	Fleet       Fleet
	AtOnce      int  // concurrent trials; 0 is one
	Keep        bool // folders and rows in the database
	// Tell receives the progress, one call at a time. It may be nil.
	Tell func(Progress)
	// Between, if set, is called with the data folder after each kill: tests cause damage there.
	Between func(dir string) error
}

func (c *Config) limit() int {
	if c.Limit > 0 {
		return c.Limit
	}
	return slices.Max(limits)
}

// Progress is the progress of a proof.
type Progress struct {
	Undisturbed     bool // the undisturbed run is in progress
	Kills, Of       int
	Resumes, Differ int
}

// Report is the result of a proof.
type Report struct {
	Sessions int64 // of the undisturbed run
	Counts   Counts
	Trials   []Trial
	Folder   string // that was kept, or ""
	Took     time.Duration
}

// ErrInexact is returned if a result depends on timing.
var ErrInexact = errors.New("its result depends on timing, so it cannot be compared")

// reference is the undisturbed run.
type reference struct {
	*result
	counts        Counts
	owner, worker Counts // of the run over workers, for its own process and for one worker
}

// Prove runs a proof. When ctx ends, it ends the processes and removes the folders.
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

// undisturbed runs the scenario once, with the highest concurrency of any trial, which makes the fewest commits.
func (c *Config) undisturbed(ctx context.Context, parent string) (ref *reference, err error) {
	dir, err := c.folder(parent, "undisturbed")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.clear(ctx, dir)) }()
	ref = &reference{}
	ch := child{dir: dir, args: c.run(false, false, settings{limit: c.limit()}), counts: filepath.Join(dir, "counts")}
	if ref.result, err = c.whole(ctx, ch); err != nil {
		return nil, err
	}
	if ref.record.Inexact != nil {
		return nil, fmt.Errorf("%w: %s", ErrInexact, ref.record.Inexact)
	}
	ref.counts, err = ReadCounts(ch.counts)
	return ref, err
}

// whole runs the scenario to its end and returns its result.
func (c *Config) whole(ctx context.Context, ch child) (*result, error) {
	if _, err := c.start(ctx, ch); err != nil {
		return nil, err
	}
	s, record, err := look(ctx, ch.dir)
	switch {
	case err != nil:
		return nil, err
	case s != over || record.Ending != engine.EndFinished:
		return nil, fmt.Errorf("it must come to its end, but it is %s: %s", record.State(), record.Reason)
	}
	if err := c.push(ctx, ch.dir, record.ID); err != nil {
		return nil, err
	}
	return c.read(ctx, ch.dir)
}

// all runs the trials, some concurrently, and further ones if planned kills did not happen.
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
			return fmt.Errorf("only %d of %d kills happened: the run is too short for more", report.Kills(), c.Kills)
		}
		more := c.planOf(next, &undisturbed.counts)
		more.deaths = more.deaths[:min(left, len(more.deaths))]
		plans, next = []plan{more}, next+1
	}
}

// some runs trials, in any order. The first error ends the others.
func (c *Config) some(ctx context.Context, parent string, plans []plan, undisturbed *reference, report *Report) error {
	if anySpread(plans) && undisturbed.owner == (Counts{}) {
		t := Trial{Workers: c.Fleet.Workers}
		var err error
		if undisturbed.owner, undisturbed.worker, t.Difference, err = c.undisturbedSpread(ctx, parent, undisturbed.result); err != nil {
			return err
		}
		if t.First != "" {
			report.Trials = append(report.Trials, t)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan *plan)
	var mu sync.Mutex // guards the report and calls of Tell
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

// Sum summarizes the trials of a proof.
type Sum struct {
	Commits, Requests, Messages int // kills by their moment
	Coordinators, Workers       int // kills of processes of spread trials
	Resumes                     int
	Difference
	Replayed, SentAgain, Confirmed int64
}

// Sum adds the trials up.
func (r *Report) Sum() (s Sum) {
	for i := range r.Trials {
		t := &r.Trials[i]
		for _, k := range t.Kills {
			switch k.Moment {
			case Commit:
				s.Commits++
			case Message:
				s.Messages++
			default:
				s.Requests++
			}
			switch {
			case k.Worker > 0:
				s.Workers++
			case t.Workers > 0:
				s.Coordinators++
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

// Kills returns the number of kills.
func (r *Report) Kills() (n int) {
	for i := range r.Trials {
		n += len(r.Trials[i].Kills)
	}
	return n
}

// Failed returns the first trial that differs, or nil.
func (r *Report) Failed() *Trial {
	for i := range r.Trials {
		if r.Trials[i].First != "" {
			return &r.Trials[i]
		}
	}
	return nil
}
