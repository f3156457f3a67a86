package app

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/mocks"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/service"
)

// mockBytes returns the size of the mock shop's log in bytes; 0 without a mock shop.
func (j *Job) mockBytes() int64 {
	if j.Shop == nil {
		return 0
	}
	now, _ := j.Shop.LogBytes()
	return now
}

// storeMismatch describes how the store of a resumed run and the log of its mock shop differ; "" if they agree. They differ
// if the data folder was copied during the run, or if a file lost its end.
func (l assembly) storeMismatch(ctx context.Context, j *Job, res *engine.Resumption) (string, error) {
	if l.Resume == "" || res == nil {
		return "", nil
	}
	if res.Lost > 0 {
		return fmt.Sprintf("the store lacks %s of completed cycles: it was copied during the run, or is damaged", plural(res.Lost, "session", "sessions")), nil
	}
	if j.Shop == nil {
		return "", nil
	}
	found := j.Shop.Found()
	_, size := j.Shop.LogBytes()
	switch {
	case found < 0 && (res.Cycle > j.Record.ForkCycle || len(res.Done) > 0):
		return "the mock shop has no log of this run, so it lacks all earlier changes", nil
	case found > res.Cycle:
		return fmt.Sprintf("the mock shop's log reaches cycle %d, but the store only cycle %d: the store is an older copy, or lost its end, and later requests are repeated", found, res.Cycle), nil
	case size < res.Mock:
		return "the mock shop's log lacks changes of completed cycles: it is an older copy, or lost its end", nil
	}
	d, err := l.compareMock(ctx, j, res.Cycle, size)
	switch {
	case err != nil:
		return "", err
	case d.Unknown > 0:
		return fmt.Sprintf("the mock shop executed %s of cycle %d that the journal lacks: the store is an older copy, or lost its end",
			plural(int64(d.Unknown), "request", "requests"), res.Cycle), nil
	case d.Missing > 0:
		return fmt.Sprintf("the mock shop's log lacks %s of cycle %d that the journal holds: it is an older copy, or lost its end",
			plural(int64(d.Missing), "request", "requests"), res.Cycle), nil
	}
	return "", nil
}

// compareMock compares the changing requests of the current cycle in the journal with those in the mock shop's log.
func (l assembly) compareMock(ctx context.Context, j *Job, cycle int, size int64) (mock.Difference, error) {
	mocked := map[string]bool{} // steps that change the mock shop
	for _, step := range l.Scenario.Chain.Asking() {
		if step.Writes && step.Service.Kind == "http" && l.address(step.Service) == mocks.Shop {
			mocked[step.Path] = true
		}
	}
	run := j.Record.ID
	return mock.CompareLog(config.ShopLog(l.shopFolder(), run), size, cycle, func(yield func(mock.Sent)) error {
		return l.Store.OpenRequests(ctx, run, cycle, func(p engine.Place, e *engine.Entry) {
			n := len(e.Statuses)
			yield(mock.Sent{
				Key:  service.IdempotencyKey(run, p.Cycle, p.Agent, e.Path, e.Hash),
				Done: mocked[engine.StepName(e.Path)] && e.Status == engine.StepOK && n > 0 && e.Statuses[n-1]/100 == 2,
			})
		})
	})
}

// inexactBecause says why the result of a run depends on timing from the start; "" if it does not.
func inexactBecause(j *Job, r engine.Mock) string {
	switch {
	case j.Shop != nil && r.Scarcity:
		return "agents share the mock's stock, so their order matters"
	case (j.Shop != nil || j.Model != nil || len(j.APIs) > 0) && r.Faults["outage"] != "":
		return "the mock has an outage that depends on wall time"
	}
	return ""
}
