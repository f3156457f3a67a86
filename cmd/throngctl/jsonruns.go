package main

import (
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// runJSON is a run in a list.
type runJSON struct {
	Run     engine.RunID     `json:"run"`
	Title   string           `json:"title"`
	State   string           `json:"state"`
	Reason  string           `json:"reason,omitempty"`
	Machine string           `json:"machine,omitempty"` // of a run in a database
	Created time.Time        `json:"created"`
	Ended   time.Time        `json:"ended,omitzero"`
	Cycle   int              `json:"cycle"`
	Cycles  int              `json:"cycles,omitempty"`
	Done    int64            `json:"done"`
	Total   int64            `json:"total,omitempty"`
	Exact   *bool            `json:"exact,omitempty"`
	Passed  *bool            `json:"passed,omitempty"` // its criteria
	Seed    *uint64          `json:"seed,omitempty"`
	Parent  engine.RunID     `json:"parent,omitempty"`
	Fork    int              `json:"fork_cycle,omitempty"`
	Note    string           `json:"note,omitempty"`
	Cleaned []engine.Cleaned `json:"cleaned,omitempty"`
	Saved   int              `json:"checkpoints,omitempty"` // in a database
}

func newRunJSON(r *engine.RunRecord) runJSON {
	exact := r.Inexact == nil
	j := runJSON{
		Run: r.ID, Title: r.Title, State: r.State(), Reason: r.Reason, Created: utc(r.Created), Ended: utc(r.Ended), Cycle: r.Cycle, Cycles: r.Cycles,
		Done: r.Done, Total: r.Total, Exact: &exact, Seed: &r.Settings.Seed, Parent: r.Parent, Fork: r.ForkCycle, Note: r.Note, Cleaned: r.Cleaned,
	}
	if r.Ending != engine.NotEnded && len(r.Verdict) > 0 {
		passed := true
		for _, v := range r.Verdict {
			passed = passed && (v.Passed || v.Unknown)
		}
		j.Passed = &passed
	}
	return j
}

func newRemoteRun(r *storage.RemoteRun) runJSON {
	state := "not ended"
	if r.Ending != engine.NotEnded {
		state = r.Ending.String()
	}
	return runJSON{
		Run: r.ID, Title: r.Title, State: state, Machine: r.Machine, Created: utc(r.Created), Cycle: r.Cycle, Cycles: r.Cycles, Done: r.Done, Total: r.Total,
		Saved: r.Checkpoints,
	}
}

// checkpointsJSON are those of a run.
type checkpointsJSON struct {
	Run         engine.RunID     `json:"run"`
	Checkpoints []checkpointJSON `json:"checkpoints"`
}

type checkpointJSON struct {
	Number int       `json:"number"`
	At     time.Time `json:"at"`
	Cycle  int       `json:"cycle"`
	Done   int64     `json:"done"`
	Total  int64     `json:"total,omitempty"`
	Kind   string    `json:"kind"`
	Reason string    `json:"reason"`
	Bytes  int64     `json:"bytes"`
	Took   float64   `json:"took_seconds,omitempty"`
	Limit  int       `json:"limit,omitempty"`  // of one that is shown
	Memory *int      `json:"memory,omitempty"` // agents with memory, of one that is shown
}

func newCheckpoint(c *engine.CheckpointRecord) checkpointJSON {
	return checkpointJSON{
		Number: c.Number, At: utc(c.At), Cycle: c.Cycle, Done: c.Done, Total: c.Total, Kind: c.Kind(), Reason: c.Reason, Bytes: c.SizeBytes, Took: c.Took.Seconds(),
	}
}

func newCheckpoints(run engine.RunID, all []engine.CheckpointRecord) checkpointsJSON {
	j := checkpointsJSON{Run: run, Checkpoints: []checkpointJSON{}}
	for i := range all {
		j.Checkpoints = append(j.Checkpoints, newCheckpoint(&all[i]))
	}
	return j
}

// agentsJSON are the agents of a run by how they ended a cycle, or those who ended it in one way.
type agentsJSON struct {
	Run       engine.RunID   `json:"run"`
	Cycle     int            `json:"cycle"`
	Agents    int            `json:"agents"`
	Outcomes  map[string]int `json:"outcomes"`
	NoSession int            `json:"no_session"`
	State     string         `json:"state,omitempty"`
	Who       []string       `json:"who,omitempty"`
}

// agentsFoundJSON lists the agents that match an expression.
type agentsFoundJSON struct {
	Run    engine.RunID `json:"run"`
	Agents int          `json:"agents"` // of the run
	Who    []string     `json:"who"`
}

// trashedJSON is something in the trash.
type trashedJSON struct {
	Run        engine.RunID `json:"run"`
	Title      string       `json:"title"`
	Checkpoint int          `json:"checkpoint,omitempty"` // 0 is the whole run
	Deleted    time.Time    `json:"deleted"`
	Until      time.Time    `json:"until"`
	Bytes      int64        `json:"bytes"`
}

// trashJSON is what is in the trash, and how much of it was deleted for good.
type trashJSON struct {
	Trash   []trashedJSON `json:"bin"`
	Deleted int           `json:"deleted"`
}

func newTrash(all []storage.Trashed) trashJSON {
	j := trashJSON{Trash: []trashedJSON{}}
	for i := range all {
		b := &all[i]
		j.Trash = append(j.Trash, trashedJSON{b.Run.ID, b.Run.Title, b.Checkpoint, utc(b.At), utc(b.Until()), b.Bytes})
	}
	return j
}

// goingJSON is what would go of a run, or of its checkpoints.
type goingJSON struct {
	Run         engine.RunID `json:"run"`
	Title       string       `json:"title"`
	Whole       bool         `json:"whole"`
	Sessions    int64        `json:"sessions,omitempty"`
	Events      int64        `json:"events,omitempty"`
	Checkpoints []int        `json:"checkpoints,omitempty"` // of one that stays
	Unsent      int64        `json:"unsent_rows,omitempty"`
	Bytes       int64        `json:"bytes"`
}

// prunedJSON is what goes, and how much of it went.
type prunedJSON struct {
	Going   []goingJSON `json:"going"`
	Deleted int         `json:"deleted"`
	Trash   bool        `json:"in_bin"` // it can be restored
}

func newPruned(all []retention.Removal, now bool) prunedJSON {
	j := prunedJSON{Going: []goingJSON{}, Trash: !now}
	for i := range all {
		g := &all[i]
		j.Going = append(j.Going, goingJSON{g.Run.ID, g.Run.Title, g.Whole, g.Doomed.Sessions, g.Doomed.Events, g.Checkpoints, g.Unsent(), g.Bytes})
	}
	return j
}
