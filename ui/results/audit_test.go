package results

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestAudit(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()}
	q, s := start(t, desk)
	for _, c := range []struct {
		audited string
		err     error
		want    string
	}{
		{"312 figures recomputed, all equal; 14 recorded only", nil, "Audited: 312 figures recomputed, all equal; 14 recorded only."},
		{"312 figures recomputed, 2 of them differ; 14 recorded only", nil, "Audited: 312 figures recomputed, 2 of them differ; 14 recorded only. For details run: throngctl audit r"},
		{"", engine.ErrNotFound, "The audit failed. It is not there any more: it was deleted, perhaps in another window. Not found."},
	} {
		desk.set(func() { desk.audited, desk.auditErr = c.audited, c.err })
		q.Tap(s.Content(), "Audit")
		wait(q, s)
		if got := s.said.Text(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	desk.set(func() { desk.runs[0].InProgress, desk.runs[0].Done = true, 5 })
	s.load()
	wait(q, s)
	if n := desk.times("audit r"); n != 3 || !s.audit.Disabled() {
		t.Errorf("%d audits; a run in progress can be audited: %v", n, !s.audit.Disabled())
	}
}
