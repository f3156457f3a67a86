// Package experiments is the screen "Experiments": many runs of a scenario, what differs between them, and how sure that is.
package experiments

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/view"
)

// Desk is what the screen needs from the application. An experiment is named by the path of its file, a run by its identity. Methods with a
// context may take long; the others do not wait.
type Desk interface {
	// List returns the experiments that were opened on this machine or have runs in the store, newest first.
	List(ctx context.Context) ([]Entry, error)
	// Open reads an experiment and adds it to the list. A file with mistakes is not an error: Details.Mistakes lists them.
	Open(ctx context.Context, path string) (*Details, error)
	// Findings returns the runs with their measures. The screen does not change the table.
	Findings(ctx context.Context, path string) (*findings.Table, error)
	// Working returns the experiments that this process executes or has queued. It does not wait.
	Working() []Work
	// Changed returns a number that increases with each change of an experiment that this process executes or watches.
	Changed() uint64

	Orders
	Files
}

// Orders are what the user asks of experiments.
type Orders interface {
	// Unallowed returns the addresses that the scenario calls and that the user has not allowed yet.
	Unallowed(ctx context.Context, path string) ([]engine.Destination, error)
	// Run starts or continues the missing runs, and allows the addresses. It returns when the experiment is queued or in progress.
	Run(ctx context.Context, path string, allow []string) error
	// Pause lets the runs in progress end and starts no other one until Continue.
	Pause(ctx context.Context, path string) error
	// Continue undoes Pause.
	Continue(ctx context.Context, path string) error
	// Stop stops the runs in progress after a checkpoint, and ends the execution. Run continues them later.
	Stop(ctx context.Context, path string) error
	// MoreSeeds adds n seeds to every point, in the file.
	MoreSeeds(ctx context.Context, path string, n int) error
	// Skip leaves a run out, or takes it back in.
	Skip(ctx context.Context, path, run string, undo bool) error
	// First has a waiting run begin before all others.
	First(ctx context.Context, path, run string) error
}

// Files reads and writes files for experiments.
type Files interface {
	// Report writes the HTML report to a file.
	Report(ctx context.Context, path, to string) error
	// Export writes the tables of runs and of effects into a new folder inside dir, and returns its path.
	Export(ctx context.Context, path, dir string) (string, error)
	// Forget removes an experiment from the list. Its file and its runs stay.
	Forget(ctx context.Context, path string) error
}

// Work is an experiment that this process executes, or that waits for its turn.
type Work struct {
	Path, Title string
	Queued      bool
}

// Executing returns the first experiment that does not wait for its turn; false if there is none.
func Executing(all []Work) (Work, bool) {
	for _, w := range all {
		if !w.Queued {
			return w, true
		}
	}
	return Work{}, false
}

// State is what an experiment does.
type State uint8

// The states of an experiment.
const (
	Ready    State = iota // it has no runs yet
	Queued                // it waits for other runs of the store
	Running               // runs are in progress
	Paused                // no run begins until it continues
	Stopping              // it waits for the runs in progress
	Partial               // some runs are missing, and nothing executes it
	Complete              // all runs have ended
	Broken                // its file has mistakes or cannot be read
)

// Entry is an experiment in the list.
type Entry struct {
	Path, Title string
	State       State
	Done, Total int // runs that have ended, and all of them; Total is 0 if unknown
	Failed      int // of those that have ended
	Skipped     int // of all; they have not ended
	Used        time.Time
	Left        time.Duration // until all runs have ended; 0 if unknown
	Waits       string        // the work that a queued one waits for; "" if unknown
	Elsewhere   bool          // another process executes it
	Problem     string        // why it is broken or ended early; "" if neither
}

// Details describes an experiment.
type Details struct {
	Path, Title string
	Scenario    string
	Design      string // in words, such as "grid: 6 points"
	Factors     []Factor
	Pairing     []string // what weakens pairing by seeds, a sentence each
	Replicates  string   // in words
	Budget      string   // in words; "" if it is unlimited
	Forecast    string   // a sentence on the missing runs; "" if there are none
	Command     string   // that executes it in a terminal
	Mistakes    []view.Problem
	// Continues is set if the file has mistakes, but is executed as it was before. The details are then the earlier ones.
	Continues bool
}

// Factor is what an experiment varies.
type Factor struct{ Name, Levels string }
