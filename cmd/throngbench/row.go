package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
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
	for _, r := range [][]row{engineRows(), storeRows(), httpRows(), chainRows(), windowRows(), scaleRows()} {
		all = append(all, r...)
	}
	return all
}

// find returns the side, or the part, that "row/side" names.
func find(name string) (row, side, bool) {
	of, at, _ := strings.Cut(name, "/")
	for _, r := range rows() {
		for _, s := range slices.Concat(r.sides, r.parts) {
			if r.name == of && s.name == at {
				return r, s, true
			}
		}
	}
	return row{}, side{}, false
}

// line is a row that was measured.
type line struct {
	row
	versions []string
	missing  []error
	rounds   [][]figures // by round and side
}

// row measures all sides of a row in turn, round by round.
func (e env) row(ctx context.Context, r row, rounds int) (line, error) {
	l := line{row: r, versions: make([]string, len(r.sides)), missing: make([]error, len(r.sides))}
	for i, s := range r.sides {
		if s.prepare == nil {
			continue
		}
		var err error
		l.versions[i], err = s.prepare(ctx, e)
		var m missingError
		switch {
		case errors.As(err, &m):
			l.missing[i] = m
		case err != nil:
			return l, fmt.Errorf("row %s, %s: %w", r.name, s.name, err)
		}
	}
	for n := range rounds {
		all := make([]figures, len(r.sides))
		for i, s := range r.sides {
			if l.missing[i] != nil {
				continue
			}
			fmt.Fprintf(os.Stderr, "row %s, round %d of %d: %s\n", r.name, n+1, rounds, s.name)
			f, err := e.child(ctx, r.name+"/"+s.name)
			if err != nil {
				return l, err
			}
			all[i] = f
		}
		l.rounds = append(l.rounds, all)
	}
	return l, nil
}

// child measures a side in a process of its own.
func (e env) child(ctx context.Context, name string) (f figures, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	c := exec.CommandContext(ctx, self, "-tools", e.tools, "-child", name)
	c.Stdout, c.Stderr = &out, os.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, json.Unmarshal(out.Bytes(), &f)
}
