package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// core are the benchmarks that the guard compares. N is large enough that the rest of the process, some ten thousand
// instructions more or less each time, is far below 1%, and small enough for a second or so.
var core = []benchmark{
	{pkg: "engine/run", name: "EmptySessions", n: 100_000, counted: true, formerly: "engine.EmptySessions"},
	{pkg: "engine", name: "Claim", n: 300_000, counted: true},
	{pkg: "engine/run", name: "Totals/a_loop_of_ten", n: 50_000, counted: true, formerly: "engine.Totals/a_loop_of_ten"},
	{pkg: "engine/internal/concurrency", name: "AcquireRelease", n: 300_000, counted: true, formerly: "engine/internal/gate.EnterLeave"},
	{pkg: "engine/internal/stats", name: "Record", n: 500_000, counted: true},
	{pkg: "engine/govern", name: "Steer", n: 20_000, counted: true},
	{pkg: "engine/chain", name: "Session/empty", n: 50_000, counted: true},
	{pkg: "engine/chain", name: "Session/five_python", n: 10_000, counted: true},
	{pkg: "engine/chain", name: "Session/five_in_parallel", n: 5_000, formerly: "engine/chain.Session/five_beside_each_other"},
	{pkg: "engine/chain", name: "Session/for_of_ten", n: 5_000, counted: true},
	{pkg: "engine/chain", name: "Asking", n: 300},
	{pkg: "engine/script", name: "Expr/condition", n: 50_000, counted: true},
	{pkg: "engine/script", name: "Expr/function_with_draws", n: 2_000, counted: true},
	{pkg: "engine/script", name: "Template", n: 20_000, counted: true},
	{pkg: "engine/script/value", name: "DecodeJSON/products", n: 50, counted: true, formerly: "engine/script.DecodeJSON/products"},
	{pkg: "engine/script/value", name: "AppendJSON/products", n: 50, counted: true, formerly: "engine/script.AppendJSON/products"},
	{pkg: "engine/scenario", name: "Session/attributes", n: 20_000, counted: true},
	{pkg: "engine/service", name: "Call", n: 10_000, counted: true},
	{pkg: "storage/sqlite", name: "Sessions/shopping", n: 20_480, counted: true},
	{pkg: "storage/sqlite", name: "JournaledRun", n: 100_000},
	{pkg: "ui/internal/chart", name: "Draw/series=3/rows=600/scale=1", n: 50},
	{pkg: "ui/internal/chart", name: "Set", n: 200},
}

// measures are what is compared, and what a benchmark may cost more without being worse: a tenth, and as much as
// changes of itself between two runs of the same program.
var measures = []measure{
	{"instructions", 10},
	{"allocs", 0.5},
	{"bytes", 64},
}

type measure struct {
	name  string
	slack float64
}

// worse says whether so much is more than a tenth and more than the slack.
func (m measure) worse(base, now float64) bool {
	return now-base > max(m.slack, base/10)
}

// guard compares what the core benchmarks of this working tree cost with an older revision, and fails where one costs
// more than a tenth more. Times are not compared: they are another machine's, or another minute's.
func guard(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("throngbench guard", flag.ContinueOnError)
	base := flags.String("base", "", "the `revision` to compare with")
	tags := flags.String("tags", "", "build both with these `tags`")
	pick := flags.String("bench", "", "compare only the benchmarks whose package.name this `pattern` matches")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*pick)
	if err != nil {
		return err
	}
	if *base == "" {
		return errors.New("compare with what? -base takes a revision")
	}
	dir, err := os.MkdirTemp("", "throngbench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	older := filepath.Join(dir, "base")
	if text, err := exec.CommandContext(ctx, "git", "worktree", "add", "--detach", older, *base).CombinedOutput(); err != nil {
		return fmt.Errorf("check %s out: %w\n%s", *base, err, text)
	}
	defer func() { // also where it was interrupted
		_ = exec.CommandContext(context.WithoutCancel(ctx), "git", "worktree", "remove", "--force", older).Run()
	}()

	count, how := counter(ctx, dir)
	fmt.Fprintf(out, "Compared with %s: instructions per operation (%s), allocations and bytes; worse is more than a tenth more.\n\n", *base, how)
	was, is := tree{dir: older, bin: filepath.Join(dir, "was"), tags: *tags}, tree{dir: ".", bin: filepath.Join(dir, "is"), tags: *tags}
	var header strings.Builder
	cells(&header, []string{"Benchmark", "Instructions", "Allocs", "Bytes", ""})
	cells(&header, []string{"---", "---", "---", "---", "---"})
	if _, err := io.WriteString(out, header.String()); err != nil {
		return err
	}
	worse, compared := 0, 0
	for _, b := range core {
		if !pattern.MatchString(b.String()) {
			continue
		}
		say("%s", b)
		before, now, err := b.compare(ctx, was, is, count)
		if err != nil {
			return fmt.Errorf("%s: %w", b, err)
		}
		compared++
		text, bad := b.line(before, now)
		if bad {
			worse++
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	switch {
	case compared == 0:
		return fmt.Errorf("no core benchmark matches %s", *pick)
	case worse > 0:
		return fmt.Errorf("%d of %d benchmarks cost more than a tenth more than at %s", worse, compared, *base)
	}
	return nil
}

// compare runs both revisions in turn, twice, and returns the least of each: what disturbs only adds. Before is nil where
// the benchmark is not in the older revision.
func (b benchmark) compare(ctx context.Context, was, is tree, count countFunc) (before, now figures, err error) {
	former, old, err := b.in(ctx, was)
	if err != nil {
		return nil, nil, fmt.Errorf("the older revision: %w", err)
	}
	this, err := is.build(ctx, b.pkg)
	if err != nil {
		return nil, nil, err
	}
	if this == nil {
		return nil, nil, errors.New("it has no tests here")
	}
	if !b.counted {
		count = nil
	}
	for range 2 {
		if old != nil {
			f, err := former.cost(ctx, old, count)
			if err != nil && !errors.Is(err, errNoBenchmark) {
				return nil, nil, fmt.Errorf("the older revision: %w", err)
			}
			before = before.least(f)
		}
		f, err := b.cost(ctx, this, count)
		if err != nil {
			return nil, nil, err
		}
		now = now.least(f)
	}
	b.perOperation(before)
	b.perOperation(now)
	return before, now, nil
}

// in returns the benchmark as an older revision names it, and the test program there, or nil if the package has no tests.
func (b benchmark) in(ctx context.Context, was tree) (benchmark, *program, error) {
	p, err := was.build(ctx, b.pkg)
	if b.formerly == "" || err != nil {
		return b, p, err
	}
	if p != nil {
		if _, err := b.cost(ctx, p, nil); !errors.Is(err, errNoBenchmark) {
			return b, p, err
		}
	}
	former := b.earlier()
	p, err = was.build(ctx, former.pkg)
	return former, p, err
}

// line is a benchmark in the table, and whether it got worse.
func (b benchmark) line(before, now figures) (text string, worse bool) {
	all, verdict := []string{b.String()}, ""
	if before == nil {
		verdict = "new"
	}
	for _, m := range measures {
		is, counted := now[m.name]
		was, known := before[m.name]
		switch {
		case !counted:
			all = append(all, "")
		case !known:
			all = append(all, figure(is))
		case was == is:
			all = append(all, figure(is)+" =")
		default:
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s → %s %s", figure(was), figure(is), change(was, is))))
			worse = worse || m.worse(was, is)
		}
	}
	if worse {
		verdict = "**worse**"
	}
	var line strings.Builder
	cells(&line, append(all, verdict))
	return line.String(), worse
}

func change(was, is float64) string {
	if was == 0 {
		return ""
	}
	return fmt.Sprintf("(%+.1f%%)", 100*(is/was-1))
}
