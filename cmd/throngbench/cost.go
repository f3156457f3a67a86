package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// benchmark is a benchmark that the guard compares.
type benchmark struct {
	pkg, name string // such as "engine" and "Totals/no_step"
	n         int    // number of operations
	counted   bool   // whether its instruction count is stable: not if goroutines take turns or Fyne runs in parallel

	// formerly is the same benchmark in a revision that has no such package, as "package.Name"; empty if it never moved.
	formerly string
}

// earlier returns the benchmark under its former name.
func (b benchmark) earlier() benchmark {
	if pkg, name, moved := strings.Cut(b.formerly, "."); moved {
		b.pkg, b.name = pkg, name
	}
	return b
}

func (b benchmark) String() string { return b.pkg + "." + b.name }

// pattern matches the benchmark alone.
func (b benchmark) pattern() string {
	parts := strings.Split("Benchmark"+b.name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// errNoBenchmark means that a package has no such benchmark.
var errNoBenchmark = errors.New("there is no such benchmark")

// cost returns the cost of n operations: the minimum allocations of three runs, and the instructions of a process with n
// operations and of one with 2n.
func (b benchmark) cost(ctx context.Context, p *program, count countFunc) (figures, error) {
	out, err := p.command(ctx, b, b.n, "-test.benchmem", "-test.count=3").Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	f := parse(out)
	if f == nil {
		return nil, errNoBenchmark
	}
	if count == nil {
		return f, nil
	}
	for name, times := range map[string]int{"once": 1, "twice": 2} {
		n, err := count(ctx, p.command(ctx, b, times*b.n))
		if err != nil {
			return nil, err
		}
		f[name] = float64(n)
	}
	return f, nil
}

// perOperation adds the instructions of an operation. The difference excludes the rest of the process.
func (b benchmark) perOperation(f figures) {
	if twice, counted := f["twice"]; counted {
		f["instructions"] = (twice - f["once"]) / float64(b.n)
	}
}

var resultLine = regexp.MustCompile(`(?m)^Benchmark.*?\s([0-9]+) B/op\s+([0-9]+) allocs/op`)

// parse returns the minimum of each figure in a benchmark's output, or nil if there are none.
func parse(out []byte) (f figures) {
	for _, m := range resultLine.FindAllSubmatch(out, -1) {
		bytes, _ := strconv.ParseFloat(string(m[1]), 64)
		allocs, _ := strconv.ParseFloat(string(m[2]), 64)
		f = f.least(figures{"bytes": bytes, "allocs": allocs})
	}
	return f
}

// least returns the minimum of each figure; either may be nil.
func (f figures) least(other figures) figures {
	if f == nil {
		return other
	}
	for name, v := range other {
		if old, known := f[name]; !known || v < old {
			f[name] = v
		}
	}
	return f
}

// tree is a revision that is checked out.
type tree struct{ dir, bin, tags string }

// program is the tests of a package, built.
type program struct{ file, dir string }

// build builds the tests of a package once. It returns nil if there is no such package, or it has no tests.
func (t tree) build(ctx context.Context, pkg string) (*program, error) {
	dir := filepath.Join(t.dir, filepath.FromSlash(pkg))
	if tests, err := filepath.Glob(filepath.Join(dir, "*_test.go")); err != nil || tests == nil {
		return nil, err
	}
	file, err := filepath.Abs(filepath.Join(t.bin, strings.ReplaceAll(pkg, "/", "_")+".test"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); err == nil {
		return &program{file, dir}, nil
	}
	c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-tags="+t.tags, "-o", file, "./"+pkg)
	c.Dir = t.dir
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build its tests: %w\n%s", err, out)
	}
	return &program{file, dir}, nil
}

// forCounting are settings of a Go program: no preemption, and no RDTSCP, an instruction that valgrind does not know.
const forCounting = "GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off"

// command runs a benchmark n times, with one thread, no garbage collection and no preemption, so that runs differ little.
func (p *program) command(ctx context.Context, b benchmark, n int, more ...string) *exec.Cmd {
	args := append([]string{"-test.run=^$", "-test.bench=" + b.pattern(), fmt.Sprintf("-test.benchtime=%dx", n)}, more...)
	c := exec.CommandContext(ctx, p.file, args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", forCounting)
	return c
}

// countFunc runs a command and returns its number of instructions in user mode.
type countFunc func(ctx context.Context, c *exec.Cmd) (int64, error)

// counter returns an instruction counter and its name: the processor's counter, which virtual machines often lack, or
// valgrind, which is about thirty times slower. It returns nil if there is neither.
func counter(ctx context.Context, dir string) (count countFunc, how string) {
	file := filepath.Join(dir, "count")
	for _, by := range []struct {
		how    string
		args   []string
		result *regexp.Regexp
	}{
		{"by perf", []string{"perf", "stat", "-x,", "-e", "instructions:u", "-o", file, "--"}, regexp.MustCompile(`(?m)^([0-9]+),[^,]*,instructions:u`)},
		{
			"by valgrind",
			[]string{"valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=" + os.DevNull, "--log-file=" + file},
			regexp.MustCompile(`I\s+refs:\s+([0-9,]+)`),
		},
	} {
		count = func(ctx context.Context, c *exec.Cmd) (int64, error) {
			all := append(by.args[1:len(by.args):len(by.args)], c.Args...)
			counted := exec.CommandContext(ctx, by.args[0], all...)
			counted.Dir, counted.Env = c.Dir, c.Env
			if out, err := counted.CombinedOutput(); err != nil {
				return 0, fmt.Errorf("%s: %w\n%s", by.args[0], err, out)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return 0, err
			}
			m := by.result.FindSubmatch(text)
			if m == nil {
				return 0, fmt.Errorf("%s counted nothing: %s", by.args[0], text)
			}
			return strconv.ParseInt(string(bytes.ReplaceAll(m[1], []byte(","), nil)), 10, 64)
		}
		probe := exec.CommandContext(ctx, "go", "version")
		probe.Env = append(os.Environ(), forCounting)
		if n, err := count(ctx, probe); err == nil && n > 0 {
			return count, by.how
		}
	}
	return nil, "not counted here: perf counts none on this machine and valgrind is not installed"
}
