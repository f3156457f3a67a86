// Package crashes records what a program is doing, and reports crashes of earlier processes.
package crashes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/crash"
	"github.com/throng-sim/throng/cmd/internal/logs"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Names of the programs in logs and reports.
const (
	WindowName   = "throng"
	TerminalName = "throngctl"
)

// reportLines is the number of log lines in a report.
const reportLines = 40

// Reports returns the new crash reports of a program, or of all programs for "". Reports that the user has seen are left
// out.
func Reports(data, program string) ([]crash.Report, error) {
	left, err := crash.Left(data, func(name string, until time.Time) []string {
		name, _, _ = strings.Cut(name, " ")
		return logs.Last(logs.FileIn(data, name), reportLines, until)
	})
	var all []crash.Report
	for _, r := range left {
		if strings.HasPrefix(r.Program, program) {
			all = append(all, r)
		}
	}
	return all, err
}

// Crashes describes crashes of earlier throngctl processes: where the reports are, and which run can be resumed. It returns
// each crash once, and "" if there is none.
func Crashes(ctx context.Context, store *sqlite.Store, data string) (string, error) {
	left, err := Reports(data, TerminalName+" ")
	if err != nil || len(left) == 0 {
		return "", err
	}
	for i := range left {
		if left[i].Path, err = crash.Told(left[i].Path); err != nil {
			return "", err
		}
	}
	return crash.Words(left, resumable(ctx, store)), nil
}

// resumable returns the newest run if its process died; "" if not.
func resumable(ctx context.Context, store *sqlite.Store) string {
	if r, err := store.Newest(ctx); err == nil && r.Ending == engine.NotEnded && !r.InProgress && r.Queued == "" {
		return string(r.ID)
	}
	return ""
}

// doingEvery is the interval between notes of a run's state.
const doingEvery = 2 * time.Second

// Doing notes the state of a run in a crash box until the run ends.
func Doing(box *crash.Box, run *run.Run, title string, size int) {
	agents := engine.FormatCount(int64(size))
	note := func() {
		s := run.Snapshot()
		cycles := ""
		if s.Cycles > 0 {
			cycles = fmt.Sprintf(" of %d", s.Cycles)
		}
		box.Doing(fmt.Sprintf("run %s (%s): %s, cycle %d%s, %s sessions of %s agents, limit %d, %d in flight, %s in memory",
			s.Run, title, s.Phase, s.Cycle, cycles, engine.FormatCount(s.Ended), agents, s.Limit, s.InFlight, engine.FormatBytes(int64(s.Metrics.Host.Memory))))
	}
	note()
	go func() {
		tick := time.NewTicker(doingEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				note()
			case <-run.Done():
				box.Doing("")
				return
			}
		}
	}()
}
