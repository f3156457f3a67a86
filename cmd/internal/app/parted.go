package app

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/service"
)

// mockBytes is how many bytes the log of the mock shop has; 0 where there is none.
func (j *Job) mockBytes() int64 {
	if j.Shop == nil {
		return 0
	}
	now, _ := j.Shop.LogBytes()
	return now
}

// parted says how the store of a resumed run and the log of its mock shop differ; "" if they do not. They differ where the
// data folder was copied in the middle of the run, or where a file lost its end.
func (l assembly) parted(ctx context.Context, j *Job, res *engine.Resumption) (string, error) {
	if l.Resume == "" || res == nil {
		return "", nil
	}
	if res.Lost > 0 {
		return fmt.Sprintf("the store lacks %s of closed cycles: it was copied while the run was in progress, or is damaged", count(res.Lost, "session")), nil
	}
	if j.Shop == nil {
		return "", nil
	}
	found := j.Shop.Found()
	_, size := j.Shop.LogBytes()
	switch {
	case found < 0 && (res.Cycle > j.Record.ForkCycle || len(res.Done) > 0):
		return "the mock has no log of this run: its shop knows nothing of what was done before", nil
	case found > res.Cycle:
		return fmt.Sprintf("the mock knows of cycle %d, and the store of none after cycle %d: it is an older copy, or lost its end, and what was done since is done twice", found, res.Cycle), nil
	case size < res.Mock:
		return "the log of the mock shop lacks changes of closed cycles: it is an older copy, or lost its end", nil
	}
	d, err := l.compareMock(ctx, j, res.Cycle, size)
	switch {
	case err != nil:
		return "", err
	case d.Unknown > 0:
		return fmt.Sprintf("the mock shop carried out %s of cycle %d of which the journal knows nothing: the store is an older copy, or lost its end",
			count(int64(d.Unknown), "request"), res.Cycle), nil
	case d.Missing > 0:
		return fmt.Sprintf("the log of the mock shop lacks %s of cycle %d that the journal holds: it is an older copy, or lost its end",
			count(int64(d.Missing), "request"), res.Cycle), nil
	}
	return "", nil
}

// compareMock compares the changing requests of the open cycle in the journal and in the log of the mock shop.
func (l assembly) compareMock(ctx context.Context, j *Job, cycle int, size int64) (mock.Difference, error) {
	mocked := map[string]bool{} // steps that change something at the mock shop
	for _, step := range l.Scenario.Chain.Asking() {
		if step.Writes && step.Service.Kind == "http" && l.Services().mocks(step.Service) {
			mocked[step.Path] = true
		}
	}
	run := j.Record.ID
	return mock.CompareLog(config.ShopLog(l.Services().shopFolder(), run), size, cycle, func(yield func(mock.Sent)) error {
		return l.Store.OpenRequests(ctx, run, cycle, func(p engine.Place, e *engine.Entry) {
			n := len(e.Statuses)
			yield(mock.Sent{
				Key:  service.IdempotencyKey(run, p.Cycle, p.Agent, e.Path, e.Hash),
				Done: mocked[engine.StepName(e.Path)] && e.Status == engine.StepOK && n > 0 && e.Statuses[n-1]/100 == 2,
			})
		})
	})
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return engine.FormatCount(n) + " " + what + "s"
}

// inexactBecause says why a run's result depends on timing from the start; "" when it does not.
func inexactBecause(j *Job, r engine.Mock) string {
	switch {
	case j.Shop != nil && r.Scarcity:
		return "agents share the stock of the mock, so who comes first decides"
	case (j.Shop != nil || j.Model != nil) && r.Faults["outage"] != "":
		return "the mock has an outage by wall time"
	}
	return ""
}
