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

// change is something that was changed mid-run.
type change struct {
	Number           string // on the charts; "" for what is not marked there, or faintly
	Time             string
	After            string // since the start, without interruptions; "" is not known
	Cycle            string
	What, Old, New   string
	Who, Why         string
	Inexact, Machine bool // Machine: no person did it
}

// byMachine reports whether the run itself changed something: a governor, a pacer, the breaker.
func byMachine(c *engine.ChangeRow) bool {
	switch c.Who {
	case "pacer", "breaker", "clock":
		return true
	}
	return slices.ContainsFunc(engine.Governors, func(g engine.Governing) bool { return g.Name == c.Who })
}

// numbers are those that changes have on the charts: all that are more than a governor's move of the limit.
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

// changes tells what was changed mid-run. Of very many only those by hand are told.
func (p *page) changes(r *engine.RunRecord, x *axis, all []engine.ChangeRow) {
	of := numbers(all)
	few := len(all) <= shownChanges
	for i := range all {
		if (few || of[i] != "") && len(p.Changes) < shownChanges {
			p.Changes = append(p.Changes, newChange(&all[i], of[i], x))
		}
	}
	if left := len(all) - len(p.Changes); left > 0 {
		p.Moves = fmt.Sprintf("Left out are %s changes that Throng itself made, for they are many: throngctl export %s --what changes has all.", engine.FormatCount(int64(left)), r.ID)
	}
}

func newChange(c *engine.ChangeRow, number string, x *axis) change {
	out := change{
		Number: number, Time: stamp(c.At), Cycle: strconv.Itoa(c.Cycle), What: c.What, Old: c.Old, New: c.New, Who: c.Who, Why: c.Why,
		Inexact: c.Inexact != nil, Machine: number == "",
	}
	if since, ok := x.since(c.At); ok {
		out.After = shortDuration(since.Round(time.Second))
	}
	switch c.What {
	case engine.RetireChange, engine.RequeueChange: // New is for the engine
		out.New = ""
	case engine.InjectChange:
		if said := saidIn(c); said != "" {
			out.Old, out.New = "", ""
			out.Why = strings.TrimPrefix(out.Why+"; told "+c.Old+": "+said, "; ")
		}
	}
	return out
}

// saidIn is the text of a message that a person told agents; "" is that it cannot be read.
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

// marksOf are the changes where the charts have room for them: of those that fall on the same spot the first one.
func marksOf(x *axis, changes []engine.ChangeRow) (all []markView) {
	of := numbers(changes)
	for _, faint := range []bool{true, false} {
		last := -1.0
		for i := range changes {
			c := &changes[i]
			since, ok := x.since(c.At)
			if !ok || faint != (of[i] == "") {
				continue
			}
			at := 100 * x.share(since)
			apart := 1.6 // a number's width
			if faint {
				apart = 0.3
			}
			if last >= 0 && at-last < apart {
				continue
			}
			last = at
			text := c.What
			if c.What != engine.InjectChange && c.What != engine.RetireChange && c.What != engine.RequeueChange {
				text += " " + c.Old + " → " + c.New
			}
			all = append(all, markView{at, of[i], text + ", by " + c.Who, faint})
		}
	}
	return all
}
