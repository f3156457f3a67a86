package show

import (
	"fmt"
	"io"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
)

// Measuring describes the progress of a calibration in one line.
func Measuring(p calibrate.Progress) string {
	text := fmt.Sprintf("measured %d/%d", p.Done, p.Total)
	if p.Measuring {
		text += fmt.Sprintf("  now limit %d, round %d", p.Level, p.Round)
	}
	if r := &p.Result; r.Level > 0 {
		text += fmt.Sprintf("  best so far %d", r.Level)
	}
	if p.Left > 0 {
		text += "  about " + engine.FormatDuration(p.Left.Round(time.Second)) + " left"
	}
	return text
}

// Calibration prints the result of a calibration.
func Calibration(out io.Writer, c *calibration.Record) {
	fmt.Fprintf(out, "\n%s, %s agents, on %s\n", c.Title, engine.FormatCount(int64(c.Agents)), c.Machine)
	w := NewTable(out)
	fmt.Fprintln(w, "  LIMIT"+levelHead)
	levels(w, "  ", c)
	_ = w.Flush() // output to a terminal
	if law := c.Result.Law(); law != "" {
		fmt.Fprintln(out, law)
	}
	fmt.Fprintln(out, c.Result.String())
}

// FleetCalibration prints calibrations with different numbers of workers, and the best one of them.
func FleetCalibration(out io.Writer, all []calibration.Record, best calibrate.Choice) {
	fmt.Fprintf(out, "\n%s, %s agents, on %s\n", all[0].Title, engine.FormatCount(int64(all[0].Agents)), all[0].Machine)
	w := NewTable(out)
	fmt.Fprintln(w, "  WORKERS\tLIMIT"+levelHead)
	for i := range all {
		levels(w, fmt.Sprintf("  %d\t", all[i].Workers), &all[i])
	}
	_ = w.Flush() // output to a terminal
	for i := range all {
		fmt.Fprintf(out, "%s: %s\n", calibrate.WorkersText(all[i].Workers), all[i].Result.String())
	}
	fmt.Fprintln(out, best.Why)
}

// levelHead are the titles of the figures of a level.
const levelHead = "\tSESSIONS/S\tP95\tCPU\tMEMORY\tERRORS\tNOTE"

// levels prints a line for each level, after the start.
func levels(w io.Writer, start string, c *calibration.Record) {
	for i := range c.Result.Levels {
		l := &c.Result.Levels[i]
		if len(l.Samples) == 0 {
			Row(w, start+"%d\t–\t–\t–\t–\t–\t%s\n", l.Level, l.Note)
			continue
		}
		rate := "–"
		if l.PerSecond > 0 {
			rate = calibrate.Figure(l.PerSecond)
		}
		if l.Spread > 0 { // measured more than once
			rate += " ± " + calibrate.Figure(l.Spread)
		}
		Row(w, start+"%d\t%s\t%s\t%s\t%s\t%.1f%%\t%s\n", l.Level, rate, latency(l.P95), percent(l.CPU), percent(100*l.Memory), 100*l.Errors, l.Note)
	}
}

// latency formats a duration; 0 means unknown.
func latency(d time.Duration) string {
	if d == 0 {
		return "?"
	}
	return engine.FormatDuration(d)
}

// percent formats a percentage; a negative value means unknown.
func percent(v float64) string {
	if v < 0 {
		return "?"
	}
	return fmt.Sprintf("%.0f%%", v)
}

// Calibrations lists calibrations.
func Calibrations(out io.Writer, all []calibration.Record) error {
	w := NewTable(out)
	fmt.Fprintln(w, "WHEN\tSCENARIO\tAGENTS\tWORKERS\tLIMIT\tMACHINE\tFOUND")
	for i := range all {
		c := &all[i]
		Row(w, "%s\t%s\t%s\t%d\t%d\t%s\t%s\n", Time(c.At), c.Title, engine.FormatCount(int64(c.Agents)), c.Workers, c.Result.Level, c.Machine, c.Result.String())
	}
	return w.Flush()
}

// Presets lists starting points for the limit and marks the one for this machine.
func Presets(out io.Writer, machine string, own engine.Preset) error {
	fmt.Fprintln(out, own.Suits(machine))
	w := NewTable(out)
	for _, table := range []struct {
		title, what string
		presets     []engine.Preset
	}{
		{"SYSTEM", "SESSIONS IN FLIGHT", engine.Systems}, {"USE", "SESSIONS IN FLIGHT", engine.Uses}, {"DEPLOYMENT", "MODEL CALLS IN FLIGHT", engine.Deployments},
	} {
		Row(w, "%s\tMATCHES\t%s\n", table.title, table.what)
		for _, p := range table.presets {
			mark := ""
			if p == own {
				mark = "  this machine"
			}
			Row(w, "%s\t%s\t%s%s\n", p.Name, p.Matches, p.Span(), mark)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, rule := range engine.RulesOfThumb {
		fmt.Fprintf(out, "- %s\n", rule)
	}
	return nil
}
