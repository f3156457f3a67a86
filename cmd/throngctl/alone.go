package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
)

// load reads a scenario with what a run adds to it and the connectors of the settings.
func (t *terminal) load(file string, x scenario.Extras) (s *scenario.Scenario, err error) {
	if x.Connectors, err = authoring.Connectors(t.data); err != nil {
		return nil, err
	}
	return authoring.LoadWith(file, x)
}

// reports collects what the sessions of a chain that is run alone gave. Workers write, the terminal reads at the end.
type reports struct {
	mu  sync.Mutex
	all map[int]*chain.Report // by agent
}

func (r *reports) add(one *chain.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[one.Agent] = one
}

// row is the result for a row of a payload, which count from 1.
type row struct {
	Row int `json:"row"`
	*chain.Report
}

// statuses of sessions that ended as they should, and of those that the end of a run may have cut.
var (
	endedWell = []string{"ok", "stopped"}
	committed = []string{"ok", "partial", "stopped"}
)

// runAlone runs a chain once, for one agent or for each row of a payload, and prints its result and nothing else.
func (t *terminal) runAlone(ctx context.Context, l app.Launch, out output, flag databaseFlag) error {
	r := &reports{all: map[int]*chain.Report{}}
	l.Watch = r.add
	if l.Resume != "" && l.Scenario.Rows() {
		fmt.Fprintln(t.err, "Rows that finished earlier are not shown again.")
	}
	quiet := *t
	quiet.out = io.Discard
	err := quiet.carryOut(ctx, l, out, flag)
	var code exitError
	cut := err != nil
	switch {
	case err == nil:
	case !errors.As(err, &code):
		return err
	case code == exitFailed && len(r.all) == l.Scenario.Agents: // every session failed
		cut = false
	case code == exitInterrupted:
		fmt.Fprintln(t.err, "Interrupted. Resume with: throngctl resume")
	default:
		fmt.Fprintln(t.err, "The run did not finish. Show why with: throngctl export --what run")
	}
	shown, printErr := r.print(t.out, l.Scenario.Rows(), cut)
	switch {
	case printErr != nil:
		return printErr
	case err == nil && !shown:
		return exitError(exitFailed)
	}
	return err
}

// print writes one result in full or, for the rows of a payload, a line for each. cut means that the run did not finish:
// what had not succeeded by then runs again. ok reports whether everything succeeded.
func (r *reports) print(w io.Writer, rows, cut bool) (ok bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b bytes.Buffer
	ok = true
	for _, one := range r.sorted() {
		if cut && !slices.Contains(committed, one.Status) {
			continue
		}
		ok = ok && slices.Contains(endedWell, one.Status)
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		var value any = row{one.Agent + 1, one}
		if !rows {
			enc.SetIndent("", "  ")
			value = one
		}
		if err := enc.Encode(value); err != nil {
			return false, err
		}
	}
	_, err = w.Write(b.Bytes())
	return ok, err
}

func (r *reports) sorted() []*chain.Report {
	var all []*chain.Report
	for _, one := range r.all {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *chain.Report) int { return cmp.Compare(a.Agent, b.Agent) })
	return all
}
