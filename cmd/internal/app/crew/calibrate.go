package crew

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
)

// Counts returns the numbers of workers that a text such as local:1,2,4 names, in ascending order. 0 is one process without workers.
func Counts(text string) (all []int, err error) {
	list, ok := strings.CutPrefix(text, localPrefix)
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if ok = ok && err == nil && n >= 0 && n <= mostLocal; !ok {
			return nil, &engine.FieldError{Field: "fleet", Problem: text + " names no numbers of workers", Hint: fmt.Sprintf("such as local:1,2,4, each at most %d; 0 is one process", mostLocal)}
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Sweeps runs a sweep for each number of workers, which are processes of this machine. report receives the number and the progress of all
// sweeps. It returns the results so far with an error.
func Sweeps(ctx context.Context, cfg Config, counts []int, s app.Sweep, report func(workers int, p calibrate.Progress)) (all []calibration.Record, err error) {
	if err := CheckLaunch(&s.Launch, slices.Max(counts)); err != nil && slices.Max(counts) > 0 {
		return nil, err
	}
	for i, n := range counts {
		s.Report = func(p calibrate.Progress) {
			here := p.Total - p.Done
			p.Done, p.Total = p.Done+i*p.Total, len(counts)*p.Total
			if here > 0 {
				p.Left = p.Left / time.Duration(here) * time.Duration(p.Total-p.Done)
			}
			report(n, p)
		}
		found, err := sweep(ctx, cfg, n, s)
		if len(found.Result.Levels) > 0 {
			all = append(all, found)
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// sweep runs a sweep over a number of workers.
func sweep(ctx context.Context, cfg Config, count int, s app.Sweep) (found calibration.Record, err error) {
	if s.Workers = count; count > 0 {
		cfg.Where, cfg.Workers = LocalFleet(count), count
		team, err := Open(ctx, cfg)
		if err != nil {
			return found, err
		}
		defer func() { err = errors.Join(err, team.Close()) }()
		if err := team.Await(ctx, count); err != nil {
			return found, err
		}
		s.Launch.Crew = team
	}
	return s.Run(ctx)
}
