package forecast

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// advise returns warnings about what will not fit, with remedies. It does not warn about unknown figures.
func advise(o *Order, s *Session, m *Machine, f *engine.Forecast) []string {
	var all []string
	say := func(text string) {
		if text != "" {
			all = append(all, text)
		}
	}
	say(behind(o, f))
	say(crowded(s, m, f))
	say(tooMuch(o.before(f.Cost, float64(o.Writing.Cost)/1e9), o.Budget.Dollars, "cost", dollars))
	say(tooMuch(o.before(f.Input.Plus(f.Output), float64(o.Writing.Tokens)), float64(o.Budget.Tokens), "take", func(v float64) string { return count(v) + " tokens" }))
	say(tooMuch(o.before(f.Requests, float64(o.Writing.Requests)), float64(o.Budget.Requests), "make", func(v float64) string { return count(v) + " requests" }))
	say(tooMuch(f.Length, o.Budget.Wall.Seconds(), "take", seconds))
	if free := float64(m.Available); free > 0 && f.Memory.High > free {
		say(fmt.Sprintf("%s take %s of memory, and the system has %s left: lower the highest limit, or use fewer agents.", may(f.Memory, free), bytes(f.Memory.High), bytes(free)))
	}
	if free := float64(m.DiskFree); free > 0 && f.Disk.High > free {
		say(fmt.Sprintf("%s take %s of disk, and %s is free: choose another data folder, or a shorter run.", may(f.Disk, free), bytes(f.Disk.High), bytes(free)))
	}
	return all
}

// may tells whether an estimate is above a bound or only may be.
func may(e engine.Estimate, bound float64) string {
	if e.Low > bound {
		return "It will"
	}
	return "It may"
}

// behind warns if a cycle takes longer than its schedule allows.
func behind(o *Order, f *engine.Forecast) string {
	every := o.Every.Seconds()
	if every == 0 || !f.Cycle.Known() || f.Cycle.High <= every {
		return ""
	}
	scale := o.Scale * every / f.Cycle.High
	return fmt.Sprintf("A cycle %s take %s, but at this time scale one starts every %s, so the run falls behind. It keeps up at a time scale of %s.",
		map[bool]string{true: "will", false: "may"}[f.Cycle.Low > every], seconds(f.Cycle.High), seconds(every), rounded(scale))
}

// rounded formats f with two significant digits, rounded down.
func rounded(f float64) string {
	if f <= 0 || math.IsInf(f, 0) {
		return "0"
	}
	places := math.Floor(math.Log10(f)) - 1
	unit := math.Pow(10, places)
	return strings.TrimSuffix(strconv.FormatFloat(math.Floor(f/unit)*unit, 'f', int(max(-places, 0)), 64), ".0")
}

// crowded warns if the database server lacks connections for the writes.
func crowded(s *Session, m *Machine, f *engine.Forecast) string {
	outside := false
	for i := range s.Services {
		v := &s.Services[i]
		outside = outside || !v.Inside && v.Writes.High > 0
	}
	if !outside || m.Database.Max <= 0 || !f.Connections.Known() {
		return ""
	}
	others := max(m.Database.Server, 0)
	free := float64(m.Database.Max - others)
	if math.Ceil(f.Connections.High-1e-9) <= free {
		return ""
	}
	return fmt.Sprintf("The writes need up to %s connections of the database, and of its %d others use %d: lower the highest limit, or use a pooler.",
		count(math.Ceil(f.Connections.High-1e-9)), m.Database.Max, others)
}

// before adds the amount that is spent before the run starts, which is a guess.
func (o *Order) before(e engine.Estimate, v float64) engine.Estimate {
	if v == 0 {
		return e
	}
	return e.Plus(engine.Exactly(v, engine.Guessed))
}

// tooMuch warns if an estimate exceeds a budget; a budget of 0 is unlimited.
func tooMuch(e engine.Estimate, budget float64, verb string, show func(float64) string) string {
	if budget <= 0 || !e.Known() || e.High <= budget {
		return ""
	}
	return fmt.Sprintf("%s %s %s, above the budget of %s: the run would stop at the budget, and can be resumed with a larger one.",
		may(e, budget), verb, show(e.High), show(budget))
}

func count(v float64) string   { return engine.FormatCount(int64(min(v, 1e18))) }
func bytes(v float64) string   { return engine.FormatBytes(int64(min(v, 1e18))) }
func dollars(v float64) string { return engine.FormatDollars(int64(min(v, 1e9) * 1e9)) }
func seconds(v float64) string {
	return engine.FormatDuration(time.Duration(min(v, 1e9) * float64(time.Second)))
}
