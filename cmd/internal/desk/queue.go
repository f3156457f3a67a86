package desk

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/queue"
	"github.com/throng-sim/throng/ui/experiments"
	"github.com/throng-sim/throng/ui/runs"
)

func (d runsDesk) queue() *queue.Queue { return queue.Of(d.data, slog.Default()) }

// lookInterval is how often a launch that waits for this window's own run looks at its entry in the queue.
const lookInterval = 200 * time.Millisecond

// settle waits in the queue until nothing is in progress in this window. It updates the launch's place. While the window's other run
// waits for another program, the launch holds up no other one: both would wait for each other if it had the higher priority.
func (d setupDesk) settle(ctx context.Context, l *app.Launch) error {
	l.Place.Work = cmp.Or(l.Name, l.Scenario.Title)
	place, err := queue.Of(d.data, slog.Default()).Enter(l.Place)
	if err != nil {
		return err
	}
	defer place.Leave()
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for yields := false; ; {
		now, err := place.Entry()
		if err != nil {
			return err
		}
		l.Place.Priority, l.Place.Since = now.Priority, now.Since
		if behind := d.waits(); behind != yields {
			if err := place.Yield(behind); err != nil {
				return err
			}
			yields = behind
		}
		select {
		case <-d.Settled():
			return place.Begin()
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// InProgress says what the next launch waits for; "" if nothing is in progress in this window.
func (d setupDesk) InProgress() string {
	if w, ok := experiments.Executing(d.lab.Working()); ok {
		return "The experiment “" + w.Title + "” is in progress."
	}
	return d.work.InProgress()
}

// Experiment returns the title of the experiment of this window that executes a run; "" if none does.
func (d runsDesk) Experiment(run engine.RunID) string { return d.lab.Of(run) }

// Waiting returns what waits to start in the store.
func (d runsDesk) Waiting(context.Context) ([]runs.Waiting, error) {
	entries, err := d.queue().List()
	all := make([]runs.Waiting, len(entries))
	for i := range entries {
		e := &entries[i]
		all[i] = runs.Waiting{ID: e.ID, Work: e.Work, Start: e.Start, Details: waits(e)}
	}
	return all, err
}

// waits says since when an entry waits and, if they matter, with which priority and in which process.
func waits(e *queue.Entry) string {
	text := "waits since " + e.Since.Local().Format(time.DateTime)
	if e.Priority != 0 {
		text = fmt.Sprintf("priority %d, %s", e.Priority, text)
	}
	if e.Process != os.Getpid() {
		text += fmt.Sprintf(" in process %d (%s)", e.Process, e.Program)
	}
	return text
}

// CancelWaiting cancels something that waits, in this process or another.
func (d runsDesk) CancelWaiting(_ context.Context, id string) error { return d.queue().Cancel(id) }

// StartNext puts an entry at the head of the queue.
func (d runsDesk) StartNext(_ context.Context, id string) error {
	q := d.queue()
	all, err := q.List()
	if err != nil {
		return err
	}
	highest := 0
	for i := range all {
		highest = max(highest, all[i].Priority)
	}
	return q.Prioritize(id, highest+1)
}
