package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
)

// linear is the maximum cost of a unit at ten times the number, relative to few. Measurements vary by less.
const linear = 1.1

// scaleRows measure growth with many agents, cycles, rows and steps: the cost of a unit among many, divided by the cost
// among few.
func scaleRows() []row {
	all := []row{crowdRow(), waitingCrowdRow(), wavesRow(), requestsRow(), planRow(), stepsRow(), peopleRow(), exportRow(), soakRow(), recallRow()}
	for i := range all {
		all[i].scale = true
	}
	return all
}

// growth compares a figure of the side of many, the second, with that of few.
func growth(figure string, must float64) ratio {
	return ratio{name: figure + ", of many over few", must: must, less: true, of: over(1, figure, 0, figure)}
}

// sized are the sides of few and of many.
func sized(unit string, few, many int, run func(ctx context.Context, e env, n int) (figures, error)) []side {
	of := func(n int) side {
		return side{name: figure(float64(n)) + " " + unit, run: func(ctx context.Context, e env) (figures, error) { return run(ctx, e, n) }}
	}
	return []side{of(few), of(many)}
}

func crowdRow() row {
	return row{
		name:  "S1",
		what:  "A million agents, journaled, stopped in the last cycle and resumed",
		sides: sized("cycles", 1, 10, crowd),
		shown: []string{"µs/session", "CPU µs/session", "bytes/session", "peak MB", "checkpoint ms", "stop ms", "resume ms", "picture ms"},
		ratios: []ratio{
			growth("CPU µs/session", linear), growth("bytes/session", linear), growth("peak MB", linear), growth("resume ms", 2),
		},
		note: "The picture is that of what each of the million agents is doing, which the window asks for four times a second while it is shown.",
	}
}

// crowd runs sessions that do nothing. Late in its last cycle the run is looked at, stopped and resumed.
func crowd(ctx context.Context, e env, cycles int) (figures, error) {
	const agents = 1_000_000
	t := trial{dir: e.dir, cycles: cycles, text: `
title: Crowd
population: {count: 1000000}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}
chain c:
  step s: {kind: stop, because: nothing to do}
`}
	job, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	began, used := time.Now(), ownTime()
	late := int64(agents*(cycles-1) + agents/2)
	f := figures{}
	if err := until(job.Run, func(s *engine.Snapshot) bool { return s.Ended >= late }); err != nil {
		return nil, err
	}
	f["picture ms"] = milliseconds(func() error { job.Run.Crowd(nil); return nil }, &err)
	f["checkpoint ms"] = milliseconds(func() error { return job.Run.Checkpoint(ctx, "measured") }, &err)
	f["stop ms"] = milliseconds(func() error {
		err := job.Run.Stop("bench", "")
		job.Run.Wait()
		return err
	}, &err)
	if err != nil {
		return nil, err
	}
	ended := float64(job.Run.Snapshot().Ended)
	f["µs/session"] = time.Since(began).Seconds() * 1e6 / ended
	f["CPU µs/session"] = (ownTime() - used).Seconds() * 1e6 / ended
	if err := t.end(job); err != nil {
		return nil, err
	}
	f["resume ms"] = milliseconds(func() error {
		if job, err = t.start(ctx); err != nil {
			return err
		}
		return until(job.Run, func(s *engine.Snapshot) bool { return s.Ended > int64(ended) })
	}, &err)
	if err != nil {
		return nil, err
	}
	if err := t.finish(job, int64(agents*cycles)); err != nil {
		return nil, err
	}
	bytes, err := t.bytes(ctx)
	f["bytes/session"] = bytes / float64(agents*cycles)
	f["peak MB"] = ownPeak()
	return f, err
}

func planRow() row {
	return row{
		name: "S3",
		what: "The full plan: 372 shoppers, 144 cycles, one every half second",
		sides: []side{{name: "Throng", run: func(ctx context.Context, e env) (figures, error) {
			const cycles = 144
			return soak(ctx, trial{
				dir: e.dir, file: "shopping", cycles: cycles,
				with: func(s *engine.Settings) { s.TimeScale = 7200 },
			}, 372*cycles)
		}}},
		shown: []string{"lag ms", "slowest cycle ms", "MB", "peak MB", "memory growth %", "KB/cycle", "CPU ms/cycle", "CPU growth %"},
		ratios: []ratio{
			{name: "ms behind its schedule, maximum", must: 500, less: true, of: plain("lag ms")},
			{name: "% more CPU a cycle at the end", must: 10, less: true, of: plain("CPU growth %")},
		},
		note: "The plan's own pace, time scale 24, is a cycle every 150 s; this is 300 times that, with the same work in a cycle. " +
			"The shop is in the same process and keeps the orders of its users, a hundred of each.",
	}
}

func stepsRow() row {
	return row{
		name:  "S4",
		what:  "A chain of many steps that compute",
		sides: sized("steps", 100, 1000, steps),
		shown: []string{"load µs/step", "CPU µs/step", "bytes/step", "peak MB"},
		ratios: []ratio{
			growth("load µs/step", 1.25), growth("CPU µs/step", linear), growth("bytes/step", linear),
		},
		note: "Each step depends on the one before it and on one far above; a step's figures are of each of 2,000 sessions. " +
			"Loading a hundred steps is a few milliseconds, which vary by more than the rest.",
	}
}

// steps loads and runs chains of n steps.
func steps(ctx context.Context, e env, n int) (figures, error) {
	const agents = 2000
	t := trial{dir: e.dir, cycles: 1, text: chainOf(n, agents)}
	var err error
	const loads = 5
	used := ownTime()
	for range loads {
		if _, err = t.load(); err != nil {
			return nil, err
		}
	}
	f := figures{"load µs/step": (ownTime() - used).Seconds() * 1e6 / float64(loads*n)}
	job, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	used = ownTime()
	job.Run.Wait()
	f["CPU µs/step"] = (ownTime() - used).Seconds() * 1e6 / float64(n*agents)
	if err := t.finish(job, agents); err != nil {
		return nil, err
	}
	bytes, err := t.bytes(ctx)
	f["bytes/step"] = bytes / float64(n*agents)
	f["peak MB"] = ownPeak()
	return f, err
}

// chainOf is a scenario of that many steps.
func chainOf(n, agents int) string {
	text := fmt.Appendf(nil, "title: Steps\npopulation: {count: %d}\nclock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}\nchain c:\n", agents)
	for i := range n {
		text = fmt.Appendf(text, "  step s%d: {kind: python, call: \"agent.index + %d\", parallel: true", i, i)
		switch {
		case i > 2:
			text = fmt.Appendf(text, ", depends_on: [s%d, s%d]", i-1, i/2)
		case i > 0:
			text = fmt.Appendf(text, ", depends_on: [s%d]", i-1)
		}
		text = append(text, "}\n"...)
	}
	return string(text)
}

func peopleRow() row {
	few, many := 100_000, 1_000_000
	of := func(kind string, n int) side {
		return side{name: figure(float64(n)) + " in " + kind, run: func(ctx context.Context, e env) (figures, error) { return people(ctx, e, kind, n) }}
	}
	const load = "CPU µs/row"
	return row{
		name:  "S5",
		what:  "A population out of a file, until the first cycle has ended",
		sides: []side{of("csv", few), of("csv", many), of("jsonl", few), of("jsonl", many)},
		shown: []string{"load ms", load, "peak MB", "MB beyond the program"},
		ratios: []ratio{
			growth(load, linear),
			{name: load + " of jsonl, of many over few", must: linear, less: true, of: over(3, load, 2, load)},
			{name: "MB for a row, of many over few", must: linear, less: true, of: perRow(1, 0, float64(many/few))},
			{name: "MB for a row of jsonl, of many over few", must: linear, less: true, of: perRow(3, 2, float64(many/few))},
		},
	}
}

// perRow compares the memory that rows take, where one side has so many times as many as the other.
func perRow(many, few int, times float64) func([]figures) (float64, bool) {
	of := over(many, "MB beyond the program", few, "MB beyond the program")
	return func(all []figures) (float64, bool) {
		v, ok := of(all)
		return v / times, ok
	}
}

// people loads a population of n rows and runs a cycle of it.
func people(ctx context.Context, e env, kind string, n int) (figures, error) {
	bare := resident()
	if err := writePeople(e.dir+"/people."+kind, kind, n); err != nil {
		return nil, err
	}
	t := trial{dir: e.dir, cycles: 1, text: `
title: People
population: {from: people.` + kind + `}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}
chain c:
  step s: {kind: emit, event: seen, data: "${agent.age}"}
`}
	var err error
	f := figures{}
	used := ownTime()
	f["load ms"] = milliseconds(func() error { _, err := t.load(); return err }, &err)
	if err != nil {
		return nil, err
	}
	f["CPU µs/row"] = (ownTime() - used).Seconds() * 1e6 / float64(n)
	job, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.finish(job, int64(n)); err != nil {
		return nil, err
	}
	f["peak MB"] = ownPeak()
	f["MB beyond the program"] = f["peak MB"] - bare
	return f, nil
}

// writePeople writes rows of 30 to 60 bytes.
func writePeople(path, kind string, n int) error {
	row := func(b []byte, i int) []byte { return fmt.Appendf(b, "p%d,%d,City %d,%d.5\n", i, i%90, i%100, i%5000) }
	text := []byte("id,age,city,income\n")
	if kind == "jsonl" {
		text = nil
		row = func(b []byte, i int) []byte {
			return fmt.Appendf(b, "{\"id\":\"p%d\",\"age\":%d,\"city\":\"City %d\",\"income\":%d.5}\n", i, i%90, i%100, i%5000)
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	for i := range n {
		if text = row(text, i); len(text) > 1<<16 || i == n-1 {
			if _, err := file.Write(text); err != nil {
				return err
			}
			text = text[:0]
		}
	}
	return file.Close()
}

func exportRow() row {
	return row{
		name:  "S7",
		what:  "Export and audit of a run",
		sides: sized("sessions", 100_000, 1_000_000, export),
		shown: []string{"CPU µs/session", "audit CPU µs/session", "export MB", "audit MB", "bytes/session"},
		ratios: []ratio{
			growth("CPU µs/session", linear), growth("audit CPU µs/session", linear),
			growth("export MB", 1.5), growth("audit MB", 2),
		},
		note: "Of 10,000 agents, so that more sessions are more cycles. Memory is what the export and the audit took beyond what the process had before them; " +
			"an audit keeps up to a bound every time that it has to sort.",
	}
}

func soakRow() row {
	cycles := 3000
	if n, err := strconv.Atoi(os.Getenv("SOAK_CYCLES")); err == nil && n > 0 {
		cycles = n
	}
	return row{
		name: "13",
		what: fmt.Sprintf("A soak: 372 agents, %s cycles", figure(float64(cycles))),
		sides: []side{{name: "Throng", run: func(ctx context.Context, e env) (figures, error) {
			shop, err := e.startPart(ctx, "13/shop")
			if err != nil {
				return nil, err
			}
			f, err := soak(ctx, trial{
				dir: e.dir, cycles: cycles, text: journeyOf(shop.said),
				with: func(s *engine.Settings) { s.CheckpointEvery = 5 * time.Second },
			}, int64(372*cycles))
			return f, errors.Join(err, shop.end())
		}}},
		parts: []side{{name: "shop", run: serveShop}},
		shown: []string{"MB", "memory growth %", "live MB", "live growth %", "KB/cycle", "KB growth %", "CPU ms/cycle", "CPU growth %", "files", "goroutines", "µs/session"},
		ratios: []ratio{
			{name: "% more memory at the end", must: 5, aim: 0.5, less: true, of: plain("memory growth %")},
			{name: "% more bytes a cycle at the end", must: 10, less: true, of: plain("KB growth %")},
			{name: "% more CPU a cycle at the end", must: 10, less: true, of: plain("CPU growth %")},
		},
		note: "Each agent asks the shop, which is another process, remembers, notes and emits in every cycle, and a checkpoint is taken every 5 seconds. Those, and metrics, come by the second, so a slower cycle has more of them. The end is the last tenth of the " +
			"cycles, and is compared with the second tenth. `SOAK_CYCLES=10000 make scale` runs the full length.",
	}
}

// percent is how much more the second is than the first.
func percent(before, after float64) float64 {
	if before == 0 {
		return math.NaN()
	}
	return (after/before - 1) * 100
}
