package run

import (
	"slices"

	"github.com/throng-sim/throng/engine"
)

// maxShownChanges is how many changes a snapshot lists.
const maxShownChanges = 256

// changeLog journals changes to the run and keeps the newest for snapshots.
type changeLog struct {
	core   *core
	newest []engine.ChangeRow // shared with snapshots
}

// add journals a change that happens now. Its row has no ticket.
func (l *changeLog) add(what, old, next, who, why string) {
	l.record(engine.ChangeRow{What: what, Old: old, New: next, Who: who, Why: why})
}

// record journals a change that happens now and shows it in snapshots.
func (l *changeLog) record(row engine.ChangeRow) {
	row = l.stamp(row)
	l.core.append(row)
	l.show(row)
}

// stamp sets the time and the cycle of a change. If the change makes the run inexact, stamp records that.
func (l *changeLog) stamp(row engine.ChangeRow) engine.ChangeRow {
	row.At, row.Cycle = l.core.in.At, l.core.cycles.number
	if row.Inexact != nil {
		l.core.tally.totals.InexactSince(*row.Inexact)
	}
	return row
}

// show shows a change in snapshots.
func (l *changeLog) show(row engine.ChangeRow) {
	kept := l.newest[max(0, len(l.newest)-maxShownChanges+1):]
	l.newest = append(slices.Clip(kept), row) // clipped, so that lists in older snapshots stay unchanged
}
