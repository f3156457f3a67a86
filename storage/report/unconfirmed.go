package report

import (
	"context"
	"strconv"

	"github.com/throng-sim/throng/engine"
)

// mostUnconfirmed is the number of unconfirmed requests on the page.
const mostUnconfirmed = 100

// unconfirmed are the changing requests that may have been executed twice.
type unconfirmed struct {
	Says, Advice string // "" if there are none
	Table        table
	More         string
}

func unconfirmedOf(ctx context.Context, src Source, run engine.RunID, name func(int) (string, error)) (d unconfirmed, err error) {
	all, err := src.Unconfirmed(ctx, run, mostUnconfirmed)
	if err != nil || all.All == 0 {
		return d, err
	}
	if name != nil {
		if err := all.Call(name); err != nil {
			return d, err
		}
	}
	d.Says, d.Advice = all.Sentence()+".", engine.UnconfirmedAdvice+"."
	d.Table.Head = []string{"Agent", "Cycle", "Step", "Request", "Time (UTC)"}
	for i := range all.First {
		r := &all.First[i]
		d.Table.Rows = append(d.Table.Rows, []string{r.AgentName(), strconv.Itoa(r.Cycle), r.Path, r.Request, r.At.UTC().Format("2006-01-02 15:04:05")})
	}
	if more := all.All - int64(len(all.First)); more > 0 {
		d.More = engine.FormatCount(more) + " more are listed in run.json, which `throngctl export` writes."
	}
	return d, nil
}
