package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// change is a change during the run.
type change struct {
	Number           string // number on the charts; "" without a mark, or with a faint one
	Time             string
	After            string // time since the start, without interruptions; "" if unknown
	Cycle            string
	What, Old, New   string
	Who, Why         string
	Inexact, Machine bool // Machine is set if the run itself made the change
}

// byMachine reports whether the run itself made the change: a governor, a rate limiter or a circuit breaker.
func byMachine(c *engine.ChangeRow) bool {
	if c.What == engine.RestartChange {
		return true
	}
	switch c.Who {
	case "rate limiter", "breaker", "clock":
		return true
	}
	return slices.ContainsFunc(engine.Governors, func(g engine.Governing) bool { return g.Name == c.Who })
}

// numbers returns the numbers of the changes on the charts. Changes of the limit by a governor have none.
func numbers(changes []engine.ChangeRow) []string {
	all := make([]string, len(changes))
	n := 0
	for i := range changes {
		if !byMachine(&changes[i]) {
			n++
			all[i] = strconv.Itoa(n)
		}
	}
	return all
}

// changes adds the changes of the run. If there are too many, only manual changes are listed.
func (p *page) changes(r *engine.RunRecord, x *axis, all []engine.ChangeRow) {
	of := numbers(all)
	few := len(all) <= shownChanges
	for i := range all {
		if (few || of[i] != "") && len(p.Changes) < shownChanges {
			p.Changes = append(p.Changes, newChange(&all[i], of[i], x))
		}
	}
	if left := len(all) - len(p.Changes); left > 0 {
		p.Moves = fmt.Sprintf("%s automatic changes are left out; throngctl export %s --what changes has all of them.", engine.FormatCount(int64(left)), r.ID)
	}
}

func newChange(c *engine.ChangeRow, number string, x *axis) change {
	out := change{
		Number: number, Time: stamp(c.At), Cycle: strconv.Itoa(c.Cycle), What: engine.Subject(c.What), Old: c.Old, New: c.New, Who: c.Who, Why: c.Why,
		Inexact: c.Inexact != nil, Machine: number == "",
	}
	if since, ok := x.since(c.At); ok {
		out.After = shortDuration(since.Round(time.Second))
	}
	switch c.What {
	case engine.RetireChange, engine.RequeueChange: // New is meant for the engine
		out.New = ""
	case engine.InjectChange:
		if said := saidIn(c); said != "" {
			out.Old, out.New = "", ""
			out.Why = strings.TrimPrefix(out.Why+"; told "+c.Old+": "+said, "; ")
		}
	}
	return out
}

// saidIn returns the text of a message to agents; "" if it cannot be read.
func saidIn(c *engine.ChangeRow) string {
	i, ok, err := engine.ReadInjection(c.What, c.New)
	var said struct {
		Text *string
		Data json.RawMessage
	}
	switch {
	case !ok || err != nil || json.Unmarshal(i.Body, &said) != nil:
		return ""
	case said.Text != nil:
		return *said.Text
	default:
		return string(said.Data)
	}
}

// markView is a change on the charts.
type markView struct {
	X      float64 // percent of the width
	Number string
	Text   string
	Faint  bool
}

// Minimum distances from the previous mark for a mark, and for its number, in percent of the width.
const (
	markApart   = 0.3
	numberApart = 4.5
)

// marksOf returns the changes for which the charts have space, with manual changes on top.
func marksOf(x *axis, changes []engine.ChangeRow) (all []markView) {
	of := numbers(changes)
	for _, faint := range []bool{true, false} {
		last, named := -100.0, -100.0
		for i := range changes {
			since, ok := x.since(changes[i].At)
			at := 100 * x.share(since)
			if !ok || changes[i].What == engine.RestartChange || faint != (of[i] == "") || at-last < markApart {
				continue
			}
			last = at
			m := markView{at, of[i], markText(&changes[i], of[i]), faint}
			if at-named < numberApart {
				m.Number = ""
			} else {
				named = at
			}
			all = append(all, m)
		}
	}
	return all
}

// markText returns the tooltip of a change.
func markText(c *engine.ChangeRow, number string) string {
	text := engine.Subject(c.What)
	if number != "" {
		text = number + ": " + text
	}
	switch c.What {
	case engine.InjectChange, engine.RetireChange, engine.RequeueChange:
	default:
		text += " " + c.Old + " → " + c.New
	}
	return text + ", by " + c.Who
}
