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
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

var runColumns = []widgets.Column{
	{Title: "Started", Sample: "2026-12-28 00:00:00"},
	{Title: "Title", Sample: "Shoppers of a day", Weight: 1},
	{Title: "State", Sample: "mmout of budget"},
	{Title: "Cycles", Sample: "1000/1000", Align: fyne.TextAlignTrailing, Drop: 2},
	{Title: "Done", Sample: "100,000 (100 %)", Align: fyne.TextAlignTrailing},
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

// titled is the title of a run, with what it is a fork of and how far it is cleaned up.
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
	{Title: "Done", Sample: "100,000 (10.0 %)", Align: fyne.TextAlignTrailing},
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

// cycles is how many are done of how many.
func cycles(r *engine.RunRecord) string {
	if r.Cycles == 0 {
		return strconv.Itoa(r.Cycle)
	}
	return fmt.Sprintf("%d/%d", r.Cycle, r.Cycles)
}

// share is a count with its percentage of a whole, if that is known.
func share(done, total int64, decimals int) string {
	if total <= 0 {
		return engine.FormatCount(done)
	}
	return fmt.Sprintf("%s (%.*f %%)", engine.FormatCount(done), decimals, 100*float64(done)/float64(total))
}

// fact is a line of what is known of a run.
type fact struct {
	name, value string
	tone        widgets.Tone
}

// facts lists what a run was made from and how it went.
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
		add("Made on", f.Machine)
		add("Database", f.Database)
		add("Results", "are in that database, not here")
	}
	if r.Parent != "" {
		add("Forked from", fmt.Sprintf("%s, at the start of cycle %d", r.Parent, r.ForkCycle))
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
		add("Parameters", "as the scenario has them")
	}
	s := &r.Settings
	add("Seed", strconv.FormatUint(s.Seed, 10))
	add("Limit", fmt.Sprintf("%s at the start; %s to %s", engine.FormatCount(int64(s.Limit)), engine.FormatCount(int64(s.Floor)), engine.FormatCount(int64(s.Ceiling))))
	add("Length", length(s))
	add("Time scale", pace(s.TimeScale))
	if s.Remote && r.Fetched == nil {
		add("Results", "go to the database too")
	}
	return all
}

// because says why a run ended, and since when and why it is not exact; "" where there is nothing to say.
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
		lines = append(lines, r.Cleaned[i].Says(r.ID, words.Stamp))
	}
	return strings.Join(lines, "\n")
}

// plain is a JSON text as a person writes it.
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
	return fmt.Sprintf("%g, simulated time per wall time", scale)
}

// resuming says what resuming a run would do or why it cannot be, given its chosen checkpoint, if it has one, and the
// run that this process works on.
func resuming(r *engine.RunRecord, c *engine.CheckpointRecord, busy engine.RunID) (text string, possible bool) {
	switch {
	case r.Damage != "":
		return "What the store keeps of this run cannot be read whole: it can be deleted, and no more.", false
	case r.Fetched != nil:
		return "This run is another machine's and goes on there: here its checkpoints can be forked. Its results are in " + r.Fetched.Database + ".", false
	case busy == r.ID:
		return "This run is in progress: Live shows it.", false
	case r.InProgress:
		return "Another process has this run in progress: it may be looked at, not touched.", false
	case r.Ending == engine.EndFinished && !r.AllDone():
		text = "There is nothing left of this run to do: " + r.Reason + "."
		if c != nil {
			text += " Fork begins another at a checkpoint of it."
		}
		return text, false
	case busy != "":
		return "Run " + string(busy) + " is in progress, and one run is at a time. This one can be resumed when that has ended.", false
	case c != nil && !c.Newest:
		return "Resume goes on from the newest checkpoint. Fork begins another run at this one, at the start of its cycle; this run stays as it is.", false
	}
	if r.AllDone() {
		return "This run has done all of its length. Write a greater one, and Resume goes on with its next cycle.", true
	}
	if r.Ending == engine.EndHopeless {
		return "Correct what the reason names. A new run, or a fork with the corrected file, uses the correction. Resume uses the scenario as it was: " +
			"it is for a secret, an address or a service that was wrong. Sessions that failed stay failed.", true
	}
	const where = "Resume goes on at the step after the last one that was done; "
	since, begin := r.Done, "the run began"
	if c != nil {
		since, begin = r.Done-c.Done, "this checkpoint"
	}
	switch {
	case since <= 0:
		return where + "nothing was done since " + begin + ".", true
	case since == 1:
		return where + "1 session since " + begin + " is not run again.", true
	default:
		return where + engine.FormatCount(since) + " sessions since " + begin + " are not run again.", true
	}
}

// undeletable says why a run cannot be deleted; "" if it can.
func undeletable(r *engine.RunRecord, busy engine.RunID) string {
	switch {
	case busy == r.ID:
		return "It cannot be deleted while it is in progress; stop it first."
	case r.InProgress:
		return "It cannot be deleted while it is in progress."
	default:
		return ""
	}
}

// doomedText says what goes with a run.
func doomedText(run engine.RunID, d Doomed) string {
	return fmt.Sprintf("%s, %s, %s, about %s of run %s.\nIt stays in the trash for %d days, and can be restored until then.",
		count(d.Sessions, "session"), count(d.Events, "event"), count(int64(d.Checkpoints), "checkpoint"), engine.FormatBytes(d.Bytes), run, trashDays)
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return engine.FormatCount(n) + " " + what + "s"
}
