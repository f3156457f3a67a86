package prove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// Fleet says which trials are spread over workers, which are processes of this machine. The zero value spreads none.
type Fleet struct {
	Workers int
	Always  bool // all trials; otherwise every fourth
}

// everyTrial is how many trials there are for one that is spread. A spread trial takes four times as long as another one: its processes
// need longer to start, and a killed worker's sessions wait until its lease has lapsed.
const everyTrial = 4

// spreads reports whether a trial is spread. The second one is, so that short proofs have one.
func (f Fleet) spreads(trial int) bool {
	return f.Workers > 0 && (f.Always || trial%everyTrial == 2)
}

// Kill is the death of one process.
type Kill struct {
	Worker int // from 1; 0 is the process that owns the run
	Point
}

func (k Kill) String() string {
	if k.Worker == 0 {
		return k.Point.String()
	}
	return fmt.Sprintf("%s of worker %d", k.Point, k.Worker)
}

// encoded returns the value of workersEnv.
func encoded(workers [][]string) string {
	text, err := json.Marshal(workers)
	if err != nil { // lists of strings have a form
		panic(err)
	}
	return string(text)
}

// countsOf is the file with the counts of a worker.
func countsOf(dir string, round, worker int) string {
	return filepath.Join(dir, fmt.Sprintf("counts-%d-%d", round, worker))
}

// doom has the processes of a round kill themselves.
func (r *round) doom(ch *child, number int) {
	for _, k := range r.kills {
		if k.Worker == 0 {
			ch.point = k.Point
			continue
		}
		ch.workers = append(ch.workers, make([][]string, max(k.Worker-len(ch.workers), 0))...)
		ch.workers[k.Worker-1] = []string{KillEnv + "=" + k.Point.String(), CountEnv + "=" + countsOf(ch.dir, number, k.Worker)}
	}
}

// happened returns the kills of a round that happened; killed says whether its own process was.
func (r *round) happened(dir string, number int, killed bool) (all []Kill) {
	for _, k := range r.kills {
		if k.Worker == 0 {
			if killed {
				all = append(all, k)
			}
			continue
		}
		counts, err := ReadCounts(countsOf(dir, number, k.Worker))
		if err == nil && counts[k.Moment] >= k.N { // without a file, it was ended before it reached the point
			all = append(all, k)
		}
	}
	return all
}

// undisturbedSpread runs the scenario over workers. It returns the counts of the process that owns the run, and of one worker on average,
// and the difference from the result of one process.
func (c *Config) undisturbedSpread(ctx context.Context, parent string, alone *result) (owner, worker Counts, d Difference, err error) {
	dir, err := c.folder(parent, "undisturbed-workers")
	if err != nil {
		return owner, worker, d, err
	}
	defer func() { err = errors.Join(err, c.clear(ctx, dir)) }()
	ch := child{dir: dir, args: c.run(false, true, settings{limit: c.limit()}), counts: filepath.Join(dir, "counts")}
	for i := range c.Fleet.Workers {
		ch.workers = append(ch.workers, []string{CountEnv + "=" + countsOf(dir, 0, i+1)})
	}
	r, err := c.whole(ctx, ch)
	if err != nil {
		return owner, worker, d, fmt.Errorf("the undisturbed run over %d workers: %w", c.Fleet.Workers, err)
	}
	if owner, err = ReadCounts(ch.counts); err != nil {
		return owner, worker, d, err
	}
	for i := range c.Fleet.Workers {
		counts, err := ReadCounts(countsOf(dir, 0, i+1))
		if errors.Is(err, fs.ErrNotExist) { // it was slow to end
			continue
		}
		if err != nil {
			return owner, worker, d, err
		}
		for m, n := range counts {
			worker[m] += n
		}
	}
	for m := range worker {
		worker[m] /= int64(c.Fleet.Workers)
	}
	return owner, worker, r.differs(alone), nil
}

// anySpread reports whether a plan is spread over workers.
func anySpread(plans []plan) bool {
	return slices.ContainsFunc(plans, func(p plan) bool { return p.spread })
}
