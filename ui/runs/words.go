package runs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// fact is a fact of a run.
type fact struct {
	name, value string
	tone        widgets.Tone
}

// facts returns what a run was made from and how it went. parent is the name of the run that a fork continues; "" if it is unknown.
func facts(r *engine.RunRecord, parent string) []fact {
	all := []fact{{name: "Title", value: r.Title}, {name: "Run", value: string(r.ID)}, {name: "Started", value: words.Stamp(r.Created)}}
	add := func(name, value string) {
		if value != "" {
			all = append(all, fact{name: name, value: value})
		}
	}
	if !r.Ended.IsZero() && !r.InProgress {
		add("Ended", words.Stamp(r.Ended))
	}
	if r.Inexact == nil {
		add("Result", "exact")
	} else {
		all = append(all, fact{"Result", fmt.Sprintf("inexact since cycle %d", r.Inexact.Cycle), widgets.Warning})
	}
	if f := r.Fetched; f != nil {
		add("Machine", f.Machine)
		add("Database", f.Database)
		add("Results", "in that database only")
	}
	all = append(all, causes(r)...)
	if view.IsSurvey(r) {
		add("Asks agents of", cmp.Or(parent, "run "+string(r.Parent)))
		add("As they were", view.After(r.ForkCycle))
	} else if origin, ok := strings.CutPrefix(view.Origin(r, parent), "continues "); ok {
		add("Continues", origin)
		add("Kept", count(r.Kept, "session")+fmt.Sprintf(" before cycle %d", r.ForkCycle))
	}
	add("Scenario", r.Source.Name)
	for i, name := range slices.Sorted(maps.Keys(r.Source.Parameters)) {
		title := ""
		if i == 0 {
			title = "Parameters"
		}
		value := plain(r.Source.Parameters[name])
		if value == "" {
			value = "(empty)"
		}
		all = append(all, fact{name: title, value: name + " = " + value})
	}
	if len(r.Source.Parameters) == 0 {
		add("Parameters", "defaults of the scenario")
	}
	s := &r.Settings
	add("Random seed", strconv.FormatUint(s.Seed, 10))
	add("Limit", fmt.Sprintf("%s at the start; %s to %s", engine.FormatCount(int64(s.Limit)), engine.FormatCount(int64(s.Floor)), engine.FormatCount(int64(s.Ceiling))))
	if !view.IsSurvey(r) {
		add("Length", length(s))
	}
	add("Time scale", pace(s.TimeScale))
	if s.Remote && r.Fetched == nil {
		add("Results", "also sent to the database")
	}
	return all
}

// causes explains why a run ended, why it is inexact, and what was cleaned up.
func causes(r *engine.RunRecord) (all []fact) {
	if r.Damage != "" {
		all = append(all, fact{"Damaged", r.Damage, widgets.Bad})
	}
	if why := view.Why(r); why != "" {
		all = append(all, fact{"End reason", why, widgets.Neutral})
	}
	if r.Inexact != nil {
		all = append(all, fact{"Inexact", strings.TrimPrefix(r.Inexact.String(), "inexact "), widgets.Warning})
	}
	for i := range r.Cleaned {
		all = append(all, fact{"Cleanup", r.Cleaned[i].Sentence(r.ID, words.Stamp), widgets.Neutral})
	}
	return all
}

// because is the text of [causes].
func because(r *engine.RunRecord) string {
	var lines []string
	for _, f := range causes(r) {
		lines = append(lines, f.name+": "+f.value)
	}
	return strings.Join(lines, "\n")
}

// plain returns a JSON value as plain text.
func plain(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) == nil {
		return s
	}
	return text
}

func length(s *engine.Settings) string {
	switch {
	case s.Cycles == 1:
		return "1 cycle"
	case s.Cycles > 0:
		return engine.FormatCount(int64(s.Cycles)) + " cycles"
	default:
		return fmt.Sprintf("%g hours of wall time", s.Hours)
	}
}

func pace(scale float64) string {
	if scale == 0 {
		return "0, as fast as possible"
	}
	return fmt.Sprintf("%g (simulated time per wall time)", scale)
}

// way is how a run continues.
type way int

const (
	cannot     way = iota
	fromEnd        // with the first step that is not done
	fromBefore     // as a fork that starts at a checkpoint
)

// resuming explains what resuming a run would do or why it is not possible. c is the chosen checkpoint, or nil; busy is the run that this
// process works on; longer says that the user gave a complete run a new length.
func resuming(r *engine.RunRecord, c *engine.CheckpointRecord, busy engine.RunID, longer bool) (text string, how way) {
	switch {
	case r.Damage != "":
		return "The stored data of this run is damaged. It can only be deleted.", cannot
	case busy == r.ID:
		return "This run is in progress. See Live. Stop it there to resume from a checkpoint.", cannot
	case r.InProgress:
		return "Another process works on this run. Here it is read-only.", cannot
	case r.Queued != "":
		return "This run waits in the queue. Cancel it there, above the list, to continue in another way.", cannot
	case busy != "":
		return "Run " + string(busy) + " is in progress. Resume this one when that has ended.", cannot
	case r.Fetched != nil && c == nil:
		return "This run belongs to another machine, and none of its checkpoints is here. Fetch one with More, From Postgres.", cannot
	case r.Fetched != nil:
		return "This run belongs to another machine. Resume continues from this checkpoint as a run of its own here. The results of this run are in " + r.Fetched.Database + ".", fromBefore
	case c != nil && !c.Newest && r.Cycles > 0 && c.Cycle >= r.Cycles:
		return "This checkpoint is at the end of the run. Choose an earlier one, or the newest one and a new length.", cannot
	case c != nil && !c.Newest:
		return fmt.Sprintf("Resume continues from the start of cycle %d as a new run with the same scenario and settings: %s. This run stays as it is.", c.Cycle, view.Continuing(c, r.Kept)), fromBefore
	case r.Ending == engine.EndFinished && !r.AllDone():
		text = "This run is complete: " + r.Reason + "."
		if c != nil {
			text += " Choose an earlier checkpoint to continue from there."
		}
		return text, cannot
	}
	if r.AllDone() {
		switch {
		case longer:
			return "Resume extends this run: it continues with its next cycle.", fromEnd
		case c != nil && (r.Cycles == 0 || c.Cycle < r.Cycles):
			return fmt.Sprintf("This run is complete. Resume continues from the start of cycle %d as a new run: %s. To extend this run instead, enter a new length.", c.Cycle, view.Continuing(c, r.Kept)), fromBefore
		}
		return "This run is complete. To extend it, enter a new length and resume it, or choose an earlier checkpoint.", fromEnd
	}
	if r.Ending == engine.EndHopeless {
		return "Correct the error first. New runs and forks use the corrected file. Resume uses the scenario stored with the run: " +
			"resume after a wrong secret, address or service. Failed sessions stay failed.", fromEnd
	}
	const where = "Resume continues with the first step that is not done"
	since, begin := r.Done, "the start of the run"
	if c != nil {
		since, begin = r.Done-c.Done, "this checkpoint"
	}
	switch {
	case since <= 0:
		return where + ".", fromEnd
	case since == 1:
		return where + ". The session completed since " + begin + " is not run again.", fromEnd
	default:
		return where + ". The " + engine.FormatCount(since) + " sessions completed since " + begin + " are not run again.", fromEnd
	}
}

// ofExperiment says which experiment of this window executes a run; "" if none does.
func (s *Screen) ofExperiment(r *engine.RunRecord) string {
	if !r.InProgress {
		return ""
	}
	title := s.desk.Experiment(r.ID)
	if title == "" {
		return ""
	}
	return "The experiment “" + title + "” executes this run in this window. Pause it, stop it or skip the run in Experiments."
}

// undeletable explains why a run cannot be deleted; "" if it can.
func undeletable(r *engine.RunRecord, busy engine.RunID) string {
	switch {
	case busy == r.ID:
		return "A run in progress cannot be deleted. Stop it first."
	case r.InProgress:
		return "A run in progress cannot be deleted."
	case r.Queued != "":
		return "A run that waits cannot be deleted."
	default:
		return ""
	}
}

// footprintText describes what the deletion of a run deletes.
func footprintText(run engine.RunID, d view.Footprint) string {
	return fmt.Sprintf("%s, %s, %s, about %s of run %s.\nYou can restore it from the trash for %d days.",
		count(d.Sessions, "session"), count(d.Events, "event"), count(int64(d.Checkpoints), "checkpoint"), engine.FormatBytes(d.Bytes), run, trashDays)
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return engine.FormatCount(n) + " " + what + "s"
}
