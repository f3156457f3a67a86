package show

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/cleanup"
	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage"
)

// Checkpoints lists checkpoints.
func Checkpoints(out io.Writer, all []engine.CheckpointRecord) error {
	w := NewTable(out)
	fmt.Fprintln(w, "NUMBER\tTIME\tCYCLE\tDONE\tKIND\tREASON\tSIZE\tTOOK")
	for _, cp := range all {
		Row(w, "%d\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", cp.Number, Time(cp.At), cp.Cycle, Done(cp.Done, cp.Total),
			cp.Kind(), cp.Reason, engine.FormatBytes(cp.SizeBytes), tookOf(&cp))
	}
	return w.Flush()
}

// tookOf returns how long a checkpoint took.
func tookOf(cp *engine.CheckpointRecord) string {
	if cp.Took == 0 {
		return "not known"
	}
	return engine.FormatDuration(cp.Took)
}

// Trash lists the trash.
func Trash(out io.Writer, all []storage.Trashed) error {
	w := NewTable(out)
	fmt.Fprintln(w, "RUN\tWHAT\tDELETED\tGOES IN\tSIZE\tTITLE")
	var bytes int64
	for i := range all {
		b := &all[i]
		what := "run"
		if b.Checkpoint > 0 {
			what = fmt.Sprintf("checkpoint %d", b.Checkpoint)
		}
		days := b.DaysLeft(time.Now())
		Row(w, "%s\t%s\t%s\t%d %s\t%s\t%s\n", b.Run.ID, what, Time(b.At), days, Plural(days, "day", "days"), engine.FormatBytes(b.Bytes), b.Run.Title)
		bytes += b.Bytes
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "about %s in total\n", engine.FormatBytes(bytes))
	return nil
}

// TrashDays is how long the trash keeps its items.
var TrashDays = fmt.Sprintf("%d days", int(storage.TrashTime.Hours()/24))

// Pruned lists what will be deleted.
func Pruned(out io.Writer, all []retention.Removal) error {
	w := NewTable(out)
	fmt.Fprintln(w, "RUN\tSTARTED\tTITLE\tGOES\tSIZE")
	var bytes int64
	for _, g := range all {
		what := "all: " + engine.FormatCount(g.Doomed.Sessions) + " sessions, " +
			engine.FormatCount(int64(g.Doomed.Checkpoints)) + Plural(g.Doomed.Checkpoints, " checkpoint", " checkpoints")
		if n := g.Unsent(); n > 0 {
			what += ", " + engine.FormatCount(n) + " unsent rows"
		}
		if !g.Whole {
			what = Plural(len(g.Checkpoints), "checkpoint ", "checkpoints ") + strings.Trim(strings.ReplaceAll(fmt.Sprint(g.Checkpoints), " ", ", "), "[]")
		}
		Row(w, "%s\t%s\t%s\t%s\t%s\n", g.Run.ID, Time(g.Run.Created), g.Run.Title, what, engine.FormatBytes(g.Bytes))
		bytes += g.Bytes
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "About %s in total; rows in Postgres stay.\n", engine.FormatBytes(bytes))
	return nil
}

// Cleanup prints what a cleanup removes, and where.
func Cleanup(out io.Writer, plan *cleanup.Plan) {
	fmt.Fprintf(out, "run %s: %s\n", plan.Run.ID, plan.Run.Title)
	for i := range plan.Run.Cleaned {
		fmt.Fprintf(out, "  %s\n", plan.Run.Cleaned[i].Sentence(plan.Run.ID, Time))
	}
	if plan.Agents == 0 && plan.Resume == "" {
		fmt.Fprintln(out, "  nothing left to remove")
		return
	}
	if plan.Resume != "" {
		fmt.Fprintf(out, "  resume cleanup run %s\n", plan.Resume)
	}
	fmt.Fprintf(out, "  to remove: what %s made in %s\n", engine.Counted(int64(plan.Agents), "agent", "agents"), engine.Counted(plan.Sessions, "session", "sessions"))
	if counted := plan.Counted(); counted != "" {
		fmt.Fprintf(out, "  events: %s\n", counted)
	}
	fmt.Fprintf(out, "  sends: %s\n", plan.Requests)
	for _, h := range plan.Hosts {
		fmt.Fprintf(out, "  requests go to %s at %s\n", h.Service, h.Address)
	}
}

// named returns the name of a run in a list, with its star and its state of cleanup.
func named(r *engine.RunRecord) string {
	name := r.DisplayName()
	if r.Star {
		name = "★ " + name
	}
	if state := r.CleanedState(); state != "" {
		name += " (" + state + ")"
	}
	return name
}

// changed returns the parent of a fork, and how a run differs from its scenario.
func changed(r *engine.RunRecord) string {
	differences := view.DifferencesText(r)
	if r.Parent != "" && len(view.Differences(r)) == 0 {
		differences = ""
	}
	return cmp.Or(Join(", ", view.Origin(r, ""), differences), "-")
}

// RemoteRuns lists the runs of a database.
func RemoteRuns(out io.Writer, runs []storage.RemoteRun) error {
	w := NewTable(out)
	fmt.Fprintln(w, "RUN\tMACHINE\tSTARTED\tSTATE\tCYCLES\tDONE\tCHECKPOINTS\tTITLE")
	for i := range runs {
		r := &runs[i]
		state := "not ended"
		switch {
		case r.Damage != "":
			state = "damaged"
		case r.Ending != engine.NotEnded:
			state = r.Ending.String()
		}
		Row(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", r.ID, cmp.Or(r.Machine, "not known"), Time(r.Created), state, ofCycles(r.Cycle, r.Cycles), Done(r.Done, r.Total), r.Checkpoints, r.Title)
	}
	return w.Flush()
}

// ofCycles returns the number of completed cycles and, if the run has a last one, of all.
func ofCycles(cycle, cycles int) string {
	if cycles > 0 {
		return fmt.Sprintf("%d/%d", cycle, cycles)
	}
	return strconv.Itoa(cycle)
}

// Runs lists runs of the store with the bytes that they use, then their cleanups.
func Runs(out io.Writer, runs []engine.RunRecord, sizes map[engine.RunID]int64) error {
	w := NewTable(out)
	fmt.Fprintln(w, "RUN\tNAME\tTAGS\tSTARTED\tSTATE\tCYCLES\tDONE\tOUTCOME\tCHANGED\tSIZE\tNOTE")
	for i := range runs {
		r, cycles := &runs[i], ofCycles(runs[i].Cycle, runs[i].Cycles)
		if view.IsSurvey(r) {
			cycles = "-"
		}
		Row(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, named(r), cmp.Or(strings.Join(r.Tags, " "), "-"), Time(r.Created), r.State(), cycles, view.DoneOf(r).Brief(),
			cmp.Or(view.Outcome(r), "-"), changed(r), engine.FormatBytes(sizes[r.ID]), Note(r.Note))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range runs {
		for j := range runs[i].Cleaned {
			fmt.Fprintf(out, "%s: %s\n", runs[i].ID, runs[i].Cleaned[j].Sentence(runs[i].ID, Time))
		}
	}
	return nil
}
