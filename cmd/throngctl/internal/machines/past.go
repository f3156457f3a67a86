package machines

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/storage/sqlite"
)

// past prints what the workers of a run did that is not in progress.
func (t *Terminal) past(ctx context.Context, name string) error {
	return t.With(ctx, name, func(store *sqlite.Store, r engine.RunRecord) error {
		var p tally
		for row, err := range store.Metrics(ctx, r.ID, time.Time{}) {
			if err != nil {
				return err
			}
			p.add(row.At, row.Workers)
		}
		all := p.workers()
		if t.JSON {
			return answer.Print(t.Out, answer.PastFleet{Run: r.ID, State: r.State(), Workers: all})
		}
		fmt.Fprintf(t.Out, "run %s is not in progress: %s\n", r.ID, r.State())
		if len(all) == 0 {
			_, err := fmt.Fprintln(t.Out, "Its record has no workers: no fleet executed it, or its metrics are off.")
			return err
		}
		fmt.Fprintln(t.Out, "Its workers, by its record:")
		w := show.NewTable(t.Out)
		fmt.Fprintln(w, "NAME\tFROM\tTO\tMOST IN FLIGHT\tMEAN SESSIONS/S\tMEAN CPU")
		for i := range all {
			one := &all[i]
			name := one.Name
			if name == "" {
				name = "others"
			}
			show.Row(w, "%s\t%s\t%s\t%d\t%.1f\t%.0f%%\n", name, show.Time(one.From), show.Time(one.To), one.MostInFlight, one.PerSecond, one.CPU)
		}
		return w.Flush()
	})
}

// tally sums up the samples of workers.
type tally map[string]*sums

type sums struct {
	answer.PastWorker
	samples float64
}

func (t *tally) add(at time.Time, samples []workers.Sample) {
	if *t == nil {
		*t = tally{}
	}
	for _, s := range samples {
		one := (*t)[s.Name]
		if one == nil {
			one = &sums{PastWorker: answer.PastWorker{Name: s.Name, From: at.UTC()}}
			(*t)[s.Name] = one
		}
		one.To, one.MostInFlight = at.UTC(), max(one.MostInFlight, s.InFlight)
		one.PerSecond, one.CPU, one.samples = one.PerSecond+s.PerSecond, one.CPU+s.CPU, one.samples+1
	}
}

// workers returns them by name, with means in place of sums.
func (t *tally) workers() []answer.PastWorker {
	all := []answer.PastWorker{}
	for _, one := range *t {
		one.PerSecond, one.CPU = one.PerSecond/one.samples, one.CPU/one.samples
		all = append(all, one.PastWorker)
	}
	slices.SortFunc(all, func(a, b answer.PastWorker) int { return strings.Compare(a.Name, b.Name) })
	return all
}
