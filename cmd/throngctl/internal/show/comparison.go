package show

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/compare"
)

// letter returns the label of a run in tables.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return strconv.Itoa(i + 1)
}

// Comparison prints the comparison of groups of runs, optionally per cycle.
func Comparison(out io.Writer, c *review.Comparison, cycles bool) error {
	fmt.Fprintf(out, "%s (%d to %d), which all runs completed; %.0f%% intervals\n", engine.Counted(int64(c.To-c.From), "cycle", "cycles"), c.From, c.To-1, 100*compare.Level)
	for i := range c.Groups {
		g := &c.Groups[i]
		for k := range g.Runs {
			showRun(out, letter(i), &g.Runs[k], g.Samples[k])
		}
		if i > 0 && len(g.Differences) == 0 {
			fmt.Fprintf(out, "   same settings as A\n")
		}
		for _, d := range g.Differences {
			fmt.Fprintf(out, "   %s\n", d)
		}
	}
	fmt.Fprintln(out)
	w := NewTable(out)
	for i := 1; i < len(c.Groups); i++ {
		if err := showPair(w, c, i); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, c.Method()+"\n")
	if cycles {
		showCycles(w, c)
	}
	if slices.ContainsFunc(c.Groups, func(g review.Group) bool { return slices.ContainsFunc(g.Samples, (*compare.Sample).Dropped) }) {
		fmt.Fprintln(w, "Events hold more numbers than can be compared; the first ones are.")
	}
	return w.Flush()
}

// showRun prints a run of a group.
func showRun(out io.Writer, group string, r *engine.RunRecord, s *compare.Sample) {
	exact := "exact"
	if r.Inexact != nil {
		exact = "inexact since cycle " + strconv.Itoa(r.Inexact.Cycle)
	}
	fmt.Fprintf(out, "%s  %s  %s, seed %d, %s, %s sessions, %s\n", group, r.ID, r.Title, r.Settings.Seed, r.State(), engine.FormatCount(s.Sessions), exact)
}

func showPair(w *tabwriter.Writer, c *review.Comparison, i int) error {
	Row(w, "MEASURE\tA\t%[1]s\t%[1]s - A\tP\t\n", letter(i))
	title := ""
	for k := range c.Rows {
		r := &c.Rows[k]
		if next := r.Kind.Title(); next != title {
			title = next
			fmt.Fprintln(w, title+"\t\t\t\t\t")
		}
		mark := ""
		if r.Against[i-1].Clear() {
			mark = "differs"
		}
		Row(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Value(0), r.Value(i), r.Difference(i-1), r.Chance(i-1), mark)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// showCycles prints the results of each cycle.
func showCycles(w *tabwriter.Writer, c *review.Comparison) {
	fmt.Fprintln(w, "CYCLE\tRUN\tSESSIONS\tCOMPLETED\tACTED\tP50\tP95\tEVENTS")
	for k := range c.To - c.From {
		for i := range c.Groups {
			for _, s := range c.Groups[i].Samples {
				if k < len(s.Cycles) {
					showCycle(w, letter(i), &s.Cycles[k])
				}
			}
		}
	}
	fmt.Fprintln(w)
}

func showCycle(w io.Writer, group string, y *compare.Cycle) {
	var events []string
	for _, name := range slices.Sorted(maps.Keys(y.Events)) {
		events = append(events, fmt.Sprintf("%s %d", name, y.Events[name]))
	}
	Row(w, "%d\t%s\t%d\t%d\t%d\t%s\t%s\t%s\n", y.Cycle, group, y.Sessions, y.Completed, y.Acted, engine.FormatDuration(y.P50), engine.FormatDuration(y.P95), strings.Join(events, ", "))
}

// CyclesCSV writes the results of each cycle: a row per run and cycle.
func CyclesCSV(w io.Writer, c *review.Comparison) error {
	names := c.Events()
	out := csv.NewWriter(w)
	head := []string{"group", "run", "cycle", "sessions", "completed", "acted", "latency_p50_ms", "latency_p95_ms", "cost_usd"}
	for _, name := range names {
		head = append(head, "event_"+name)
	}
	_ = out.Write(head) // Error returns the error
	for i := range c.Groups {
		for k, s := range c.Groups[i].Samples {
			for _, y := range s.Cycles {
				row := []string{letter(i), string(c.Groups[i].Runs[k].ID)}
				for _, n := range []int64{int64(y.Cycle), y.Sessions, y.Completed, y.Acted} {
					row = append(row, strconv.FormatInt(n, 10))
				}
				for _, x := range []float64{float64(y.P50) / 1e6, float64(y.P95) / 1e6, y.Cost} {
					row = append(row, strconv.FormatFloat(x, 'f', -1, 64))
				}
				for _, name := range names {
					row = append(row, strconv.FormatInt(y.Events[name], 10))
				}
				_ = out.Write(row)
			}
		}
	}
	out.Flush()
	return out.Error()
}
