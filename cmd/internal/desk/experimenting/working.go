package experimenting

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	screen "github.com/throng-sim/throng/ui/experiments"
)

// executions returns a copy of what the process of a desk executes, by file.
func executions(d *Desk) map[string]*execution {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.running)
}

// Working returns the experiments that this process executes or has queued, by title.
func (d *Desk) Working() []screen.Work {
	var all []screen.Work
	for file, e := range executions(d) { // an execution calls the desk under its own lock, so the lock of the desk is free here
		title := e.Experiment().Title
		d.mu.Lock()
		all = append(all, screen.Work{Path: file, Title: title, Queued: e.began.IsZero()})
		d.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b screen.Work) int { return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.Path, b.Path)) })
	return all
}

// Of returns the title of the experiment of this process that executes a run; "" if none does.
func (d *Desk) Of(run engine.RunID) string {
	for _, e := range executions(d) {
		if e.Executes(run) {
			return e.Experiment().Title
		}
	}
	return ""
}

// Here leaves out the process from the description of what has the turn in the store, if it is this one.
func Here(holder string) string {
	what, _, _ := strings.Cut(holder, fmt.Sprintf(" in process %d (", os.Getpid()))
	return what
}
