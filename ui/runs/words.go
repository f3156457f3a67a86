package runs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

var runColumns = []widgets.Column{
	{Title: "Started", Sample: "2026-12-28 00:00:00"},
	{Title: "Title", Sample: "A day of shoppers", Weight: 1},
	{Title: "State", Sample: "mmout of budget"},
	{Title: "Cycles", Sample: "1000/1000", Align: fyne.TextAlignTrailing, Drop: 2},
	{Title: "Done", Sample: "100,000 (100%)", Align: fyne.TextAlignTrailing},
	{Title: "Result", Sample: "inexact", Drop: 3},
	{Title: "Note", Sample: "slow since the prices", Weight: 1, Drop: 1},
	{Title: "Checkpoints", Sample: "1000 kB", Align: fyne.TextAlignTrailing, Drop: 4},
	{Title: "Run", Sample: "20261228-000000-mmmm", Drop: 5},
}

func runRows(runs []engine.RunRecord) []widgets.Row {
	rows := make([]widgets.Row, len(runs))
	for i := range runs {
		r := &runs[i]
		word, tone := words.State(r)
		exact := widgets.Cell{Text: "exact", Tone: widgets.Quiet}
		if r.Inexact != nil {
			exact = widgets.Cell{Text: "inexact", Tone: widgets.Warning}
		}
		size := ""
		if r.SizeBytes > 0 {
			size = engine.FormatBytes(r.SizeBytes)
		}
		rows[i] = widgets.Row{Key: string(r.ID), Cells: []widgets.Cell{
			{Text: words.Stamp(r.Created)},
			{Text: titled(r)},
			{Text: word, Tone: tone, Badge: true, Icon: words.Glyph(r)},
			{Text: cycles(r)},
			{Text: share(r.Done, r.Total, 0)},
			exact,
			{Text: r.Note, Tone: widgets.Quiet},
			{Text: size},
			{Text: string(r.ID), Tone: widgets.Quiet},
		}}
	}
	return rows
}

// titled returns the title of a run, with its parent if it is a fork, and its state of pruning.
func titled(r *engine.RunRecord) string {
	title := r.Title
	if r.Parent != "" {
		title = fmt.Sprintf("%s, fork of %s at cycle %d", r.Title, r.Parent, r.ForkCycle)
	}
	if state := r.CleanedState(); state != "" {
		title += " (" + state + ")"
	}
	return title
}

var checkpointColumns = []widgets.Column{
	{Title: "Checkpoint", Sample: "10 newest"},
	{Title: "Time", Sample: "2026-12-28 00:00:00"},
	{Title: "Cycle", Sample: "1000", Align: fyne.TextAlignTrailing},
	{Title: "Done", Sample: "100,000 (10.0%)", Align: fyne.TextAlignTrailing},
	{Title: "Kind", Sample: "at a pause", Drop: 1},
	{Title: "Reason", Sample: "interval", Weight: 1, Drop: 2},
	{Title: "Size", Sample: "1000 kB", Align: fyne.TextAlignTrailing, Drop: 3},
	{Title: "Took", Sample: "1000ms", Align: fyne.TextAlignTrailing, Drop: 4},
}

func checkpointRows(all []engine.CheckpointRecord) []widgets.Row {
	rows := make([]widgets.Row, len(all))
	for i := range all {
		c := &all[i]
		number := widgets.Cell{Text: strconv.Itoa(c.Number)}
		if c.Newest {
			number = widgets.Cell{Text: number.Text + " newest", Tone: widgets.Accent, Badge: true}
		}
		kind, took := widgets.Cell{Text: c.Kind()}, ""
		if c.Emergency() {
			kind.Tone = widgets.Warning
		}
		if c.Took > 0 {
			took = engine.FormatDuration(c.Took)
		}
		rows[i] = widgets.Row{Key: strconv.Itoa(c.Number), Cells: []widgets.Cell{
			number,
			{Text: words.Stamp(c.At)},
			{Text: strconv.Itoa(c.Cycle)},
			{Text: share(c.Done, c.Total, 1)},
			kind,
			{Text: c.Reason},
			{Text: engine.FormatBytes(c.SizeBytes)},
			{Text: took},
		}}
	}
	return rows
}

// cycles returns the number of completed cycles and the total.
func cycles(r *engine.RunRecord) string {
	if r.Cycles == 0 {
		return strconv.Itoa(r.Cycle)
	}
	return fmt.Sprintf("%d/%d", r.Cycle, r.Cycles)
}

// share returns a count and, if the total is known, its percentage.
func share(done, total int64, decimals int) string {
	if total <= 0 {
		return engine.FormatCount(done)
	}
	return fmt.Sprintf("%s (%.*f%%)", engine.FormatCount(done), decimals, 100*float64(done)/float64(total))
}

// fact is a fact of a run.
type fact struct {
	name, value string
	tone        widgets.Tone
}

// facts returns what a run was made from and how it went.
func facts(r *engine.RunRecord) []fact {
	all := []fact{{name: "Run", value: string(r.ID)}, {name: "Started", value: words.Stamp(r.Created)}}
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
	if r.Parent != "" {
		add("Forked from", fmt.Sprintf("%s, at cycle %d", r.Parent, r.ForkCycle))
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
	add("Length", length(s))
	add("Time scale", pace(s.TimeScale))
	if s.Remote && r.Fetched == nil {
		add("Results", "also sent to the database")
	}
	return all
}

// because explains why a run ended, and why it is inexact; "" if there is nothing to explain.
func because(r *engine.RunRecord) string {
	var lines []string
	if r.Damage != "" {
		lines = append(lines, "Damaged: "+r.Damage)
	}
	if why := r.Why(); why != "" {
		lines = append(lines, "Ended: "+why)
	}
	if r.Inexact != nil {
		lines = append(lines, "The result is "+r.Inexact.String())
	}
	for i := range r.Cleaned {
		lines = append(lines, r.Cleaned[i].Sentence(r.ID, words.Stamp))
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

// resuming explains what resuming a run would do or why it is not possible. c is the chosen checkpoint, or nil; busy is the run that this
// process works on.
func resuming(r *engine.RunRecord, c *engine.CheckpointRecord, busy engine.RunID) (text string, possible bool) {
	switch {
	case r.Damage != "":
		return "The stored data of this run is damaged. It can only be deleted.", false
	case r.Fetched != nil:
		return "This run belongs to another machine. Here you can fork its checkpoints. Its results are in " + r.Fetched.Database + ".", false
	case busy == r.ID:
		return "This run is in progress. See Live.", false
	case r.InProgress:
		return "Another process works on this run. Here it is read-only.", false
	case r.Ending == engine.EndFinished && !r.AllDone():
		text = "This run is complete: " + r.Reason + "."
		if c != nil {
			text += " Fork starts another run at one of its checkpoints."
		}
		return text, false
	case busy != "":
		return "Run " + string(busy) + " is in progress. Resume this one when that has ended.", false
	case c != nil && !c.Newest:
		return "Resume continues from the end of the run, not from this checkpoint. Fork starts another run at the start of this checkpoint's cycle and does not change this run.", false
	}
	if r.AllDone() {
		return "This run is complete. To continue with its next cycle, enter a new length and resume it.", true
	}
	if r.Ending == engine.EndHopeless {
		return "Correct the error first. New runs and forks use the corrected file. Resume uses the scenario stored with the run: " +
			"resume after a wrong secret, address or service. Failed sessions stay failed.", true
	}
	const where = "Resume continues with the first step that is not done"
	since, begin := r.Done, "the start of the run"
	if c != nil {
		since, begin = r.Done-c.Done, "this checkpoint"
	}
	switch {
	case since <= 0:
		return where + ".", true
	case since == 1:
		return where + ". The session completed since " + begin + " is not run again.", true
	default:
		return where + ". The " + engine.FormatCount(since) + " sessions completed since " + begin + " are not run again.", true
	}
}

// undeletable explains why a run cannot be deleted; "" if it can.
func undeletable(r *engine.RunRecord, busy engine.RunID) string {
	switch {
	case busy == r.ID:
		return "A run in progress cannot be deleted. Stop it first."
	case r.InProgress:
		return "A run in progress cannot be deleted."
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
