package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// env is where a side is measured.
type env struct {
	tools string // where peers are kept, in a folder for each name and version
	dir   string // empty, for the side alone, removed after it
}

// figures are what one measurement of a side gave, by name with unit, such as "sessions/s" or "peak MB".
type figures map[string]float64

// side is one that is measured: Throng, a peer, or a baseline. Each measurement is a process of its own, so that one's
// memory and garbage are not the other's.
type side struct {
	name string
	run  func(ctx context.Context, e env) (figures, error)

	// prepare, which may be nil, gets what the side needs, once, before anything is measured, and returns its version.
	// A missingError says why it cannot be had.
	prepare func(ctx context.Context, e env) (version string, err error)
}

// row is one line of the table.
type row struct {
	name   string // its number in NUMBERS.md, with a letter where one has several lines
	what   string
	sides  []side // the first is ours; sides are measured in turn, and in each round again
	parts  []side // processes that sides start, which are not measured by themselves
	shown  []string
	ratios []ratio
	note   string // what a reader must know to judge it fairly, a sentence
	scale  bool   // whether it is one of scale, which take long and are measured when asked for
}

// ratio is what is compared with an aim. It is taken in each round, so what slows the machine down slows down both.
type ratio struct {
	name      string // such as "times asyncio's speed"
	must, aim float64
	less      bool                                // whether less is better
	of        func(all []figures) (float64, bool) // figures by side, as in the row; false without what it takes
}

// missingError is why a side cannot be measured here.
type missingError string

func (m missingError) Error() string { return string(m) }

// over divides a figure of one side by one of another, which may be the same.
func over(top int, figure string, bottom int, by string) func([]figures) (float64, bool) {
	return func(all []figures) (float64, bool) {
		a, ok := all[top][figure]
		b, also := all[bottom][by]
		return a / b, ok && also && b != 0
	}
}

// plain is a figure of ours that has an aim by itself.
func plain(figure string) func([]figures) (float64, bool) {
	return func(all []figures) (float64, bool) {
		v, ok := all[0][figure]
		return v, ok
	}
}

// rows are all of them, in the order of the table.
func rows() []row {
	var all []row
	for _, r := range [][]row{engineRows(), worldRows(), storeRows(), httpRows(), chainRows(), windowRows(), fleetRows(), studyRows(), scaleRows()} {
		all = append(all, r...)
	}
	return all
}

// find returns the side, or the part, that "row/side" names.
func find(all []row, name string) (side, bool) {
	of, at, _ := strings.Cut(name, "/")
	for _, r := range all {
		for _, s := range slices.Concat(r.sides, r.parts) {
			if r.name == of && s.name == at {
				return s, true
			}
		}
	}
	return side{}, false
}

// line is a row that was measured.
type line struct {
	row
	versions []string
	problems []error     // by side: why it is missing, or failed
	rounds   [][]figures // by round and side
}

// failed counts the sides that are there and could not be measured to the end.
func (l line) failed() int {
	n := 0
	for _, err := range l.problems {
		if err != nil && !errors.As(err, new(missingError)) {
			n++
		}
	}
	return n
}

// row measures all sides of a row in turn, round by round. A side that fails is not measured again.
func (e env) row(ctx context.Context, r row, rounds int) line {
	l := line{row: r, versions: make([]string, len(r.sides)), problems: make([]error, len(r.sides))}
	for i, s := range r.sides {
		if s.prepare != nil {
			l.versions[i], l.problems[i] = s.prepare(ctx, e)
		}
	}
	for n := range rounds {
		all := make([]figures, len(r.sides))
		for i, s := range r.sides {
			if l.problems[i] != nil || ctx.Err() != nil {
				continue
			}
			say("row %s, round %d of %d: %s", r.name, n+1, rounds, s.name)
			all[i], l.problems[i] = e.child(ctx, r.name+"/"+s.name)
			if l.problems[i] != nil {
				say("row %s: %s: %v", r.name, s.name, l.problems[i])
			}
		}
		l.rounds = append(l.rounds, all)
	}
	return l
}

// child measures a side in a process of its own.
func (e env) child(ctx context.Context, name string) (f figures, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var out, problem bytes.Buffer
	c := exec.CommandContext(ctx, self, "-tools", e.tools, "-child", name)
	c.Stdout, c.Stderr = &out, io.MultiWriter(os.Stderr, &problem)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) } // it ends what it started itself
	c.WaitDelay = 10 * time.Second
	if err := c.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(problem.String()), "\n")
		return nil, fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return f, json.Unmarshal(out.Bytes(), &f)
}
