// Package crashes keeps what a program was doing, and reports how earlier processes crashed.
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

// What the programs call themselves in their logs and reports.
const (
	WindowName   = "throng"
	TerminalName = "throngctl"
)

// reportLines is how much of what was logged last is in a report.
const reportLines = 40

// Reports are those of programs that ended unexpectedly and that no person knows of yet; only of one of them, or of all
// for "".
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

// Crashes says, once, how earlier processes of the terminal ended unexpectedly, where their text is, and what can be
// resumed; "" is nothing.
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

// resumable is the newest run, if its process died; "" if not.
func resumable(ctx context.Context, store *sqlite.Store) string {
	if r, err := store.Newest(ctx); err == nil && r.Ending == engine.NotEnded && !r.InProgress {
		return string(r.ID)
	}
	return ""
}

// doingEvery is how often it is noted what a program does.
const doingEvery = 2 * time.Second

// Doing has a box know what a run is at, until that has ended.
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
