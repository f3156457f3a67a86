package audit

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
)

// manifest is the audited part of run.json.
type manifest struct {
	Run    string `json:"run"`
	Totals struct {
		Sessions    int64              `json:"sessions"`
		Outcomes    map[string]int64   `json:"outcomes"`
		Errors      map[string]int64   `json:"errors"`
		Acted       int64              `json:"acted"`
		Steps       int64              `json:"steps"`
		Requests    int64              `json:"requests"`
		Retries     int64              `json:"retries"`
		RateLimited int64              `json:"rate_limited"`
		Events      int64              `json:"events"`
		Labels      map[string]int64   `json:"labels"`
		Latency     map[string]float64 `json:"latency_ms"`
		Service     map[string]float64 `json:"service_ms"`
		Held        map[string]float64 `json:"throttled_ms"`
		Queue       map[string]float64 `json:"queued_ms"`
		Models      struct {
			Calls  int64 `json:"calls"`
			Input  int64 `json:"input_tokens"`
			Cached int64 `json:"cached_input_tokens"`
			Output int64 `json:"output_tokens"`
			Hits   int64 `json:"cache_hits"`
		} `json:"models"`
	} `json:"totals"`
}

const inFiles = "files"

// Files audits the folder of an exported run from its files alone: it recomputes the totals in run.json from the rows of sessions.csv,
// events.csv, timings.csv and metrics.csv. These contain only the last take of a session that was requeued by hand, and no requests of
// the run itself, so that requests may be more in run.json. Files ignores totals that no file contains.
func Files(files fs.FS) (*Report, error) {
	data, err := fs.ReadFile(files, "run.json")
	if err != nil {
		return nil, fmt.Errorf("audit an export: %w", err)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("audit an export: run.json: %w", err)
	}
	if err := engine.RunID(m.Run).Check(); err != nil {
		return nil, fmt.Errorf("audit an export: run.json: %w", err)
	}
	f := &exported{report: &Report{Run: engine.RunID(m.Run)}, files: files, m: &m, room: &room{mostValues}}
	for _, step := range []func() error{f.sessions, f.events, f.timings, f.metrics} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("audit an export: %w", err)
		}
	}
	return f.report, nil
}

// exported is an audit of files in progress.
type exported struct {
	report         *Report
	files          fs.FS
	m              *manifest
	room           *room
	rows, again    int64 // of sessions.csv; of these, further takes
	emitted, steps int64
}

// each calls row for every row of a file, with a function that returns the cell of a column.
func (f *exported) each(name string, row func(cell func(column string) string) error) (err error) {
	file, err := f.files.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r := csv.NewReader(file)
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	at := map[string]int{}
	for i, column := range header {
		at[column] = i
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		missing := ""
		err = row(func(column string) string {
			i, ok := at[column]
			if !ok {
				missing = column
				return ""
			}
			return record[i]
		})
		if missing != "" {
			return fmt.Errorf("%s has no column %s", name, missing)
		}
		if err != nil {
			line, _ := r.FieldPos(0)
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
}

// numbers parses cells that are whole numbers, and keeps the first error.
type numbers struct{ err error }

func (n *numbers) of(cell string) int64 {
	v, err := strconv.ParseInt(cell, 10, 64)
	if err != nil && n.err == nil {
		n.err = err
	}
	return v
}

// duration parses milliseconds; an empty cell is 0.
func (n *numbers) duration(cell string) time.Duration {
	if cell == "" {
		return 0
	}
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil && n.err == nil {
		n.err = err
	}
	return time.Duration(math.Round(v * float64(time.Millisecond)))
}

func (f *exported) sessions() error {
	outcomes, classes := map[string]int64{}, map[string]int64{}
	var acted, cycle, agent int64
	cycle = -1
	err := f.each("sessions.csv", func(cell func(string) string) error {
		var n numbers
		f.rows++
		outcomes[cell("outcome")]++
		if class := cell("class"); class != "" {
			classes[class]++
		}
		if cell("acted") == "true" {
			acted++
		}
		f.steps += n.of(cell("steps"))
		f.emitted += n.of(cell("events"))
		c, a := n.of(cell("cycle")), n.of(cell("agent_index"))
		if c < cycle || c == cycle && a <= agent {
			f.report.Check(inFiles, "sessions in order", fmt.Sprintf("cycle %d, agent %d", c, a), false, "out of order", "in order")
		}
		cycle, agent = c, a
		return n.err
	})
	if err != nil {
		return err
	}
	t, r := &f.m.Totals, f.report
	equal(r, inFiles, "sessions", "", t.Sessions, f.rows)
	counted := func(name string, recorded, mine map[string]int64) {
		drop := func(_ string, n int64) bool { return n == 0 }
		a, b := maps.Clone(recorded), maps.Clone(mine)
		maps.DeleteFunc(a, drop)
		maps.DeleteFunc(b, drop)
		for _, key := range slices.Sorted(maps.Keys(b)) {
			equal(r, inFiles, name+" "+key, "", a[key], b[key])
			delete(a, key)
		}
		for _, key := range slices.Sorted(maps.Keys(a)) {
			equal(r, inFiles, name+" "+key, "", a[key], 0)
		}
	}
	counted("sessions", t.Outcomes, outcomes)
	counted("errors", t.Errors, classes)
	equal(r, inFiles, "acted", "", t.Acted, acted)
	equal(r, inFiles, "events of the sessions", "", t.Events, f.emitted)
	return nil
}

func (f *exported) events() error {
	var rows int64
	err := f.each("events.csv", func(func(string) string) error { rows++; return nil })
	if err == nil {
		equal(f.report, inFiles, "events", "", f.m.Totals.Events, rows)
	}
	return err
}

func (f *exported) timings() error {
	v := func() values { return values{room: f.room} }
	latency, service, held, queue := v(), v(), v(), v()
	sums := map[string]int64{}
	columns := []string{"requests", "retries", "rate_limited", "replayed", "resent", "confirmed", "not_repeated", "unconfirmed", "model_calls", "input_tokens", "cached_input_tokens", "output_tokens", "cache_hits"}
	var rows int64
	err := f.each("timings.csv", func(cell func(string) string) error {
		var n numbers
		rows++
		if n.of(cell("take")) > 0 {
			f.again++
		}
		for _, c := range columns {
			sums[c] += n.of(cell(c))
		}
		latency.add(n.duration(cell("latency_ms")))
		service.add(n.duration(cell("service_ms")))
		held.add(n.duration(cell("throttled_ms")))
		queue.add(n.duration(cell("queued_ms")))
		return n.err
	})
	if err != nil {
		return err
	}
	t, r := &f.m.Totals, f.report
	equal(r, inFiles, "rows of timings.csv", "", rows, f.rows)
	if f.again > 0 { // the times and requests of earlier takes are in no file
		return nil
	}
	equal(r, inFiles, "steps", "", t.Steps, f.steps)
	for i, recorded := range []int64{
		t.Requests, t.Retries, t.RateLimited, t.Labels["replayed"], t.Labels["resent"], t.Labels["confirmed"], t.Labels["not_repeated"], t.Labels["unconfirmed"], t.Models.Calls, t.Models.Input, t.Models.Cached, t.Models.Output,
	} {
		mine := sums[columns[i]]
		r.Check(inFiles, columns[i], "", recorded >= mine, recorded, mine)
		r.figure(inFiles, columns[i]).Bound = "or more: no file contains the requests of the run itself"
	}
	for _, d := range []struct {
		name     string
		recorded map[string]float64
		v        *values
	}{{"latency", t.Latency, &latency}, {"service time", t.Service, &service}, {"held time", t.Held, &held}, {"queued", t.Queue, &queue}} {
		f.quantiles(d.name, d.recorded, d.v)
	}
	return nil
}

// quantiles compares those of run.json with those of the rows, whose cells are whole microseconds.
func (f *exported) quantiles(name string, recorded map[string]float64, v *values) {
	of := func(key string) time.Duration { return time.Duration(recorded[key] * float64(time.Millisecond)) }
	if v.count == 0 {
		return
	}
	mean := v.sum / time.Duration(v.count)
	off := of("mean") - mean
	f.report.Check(inFiles, name+" mean", "", max(off, -off) <= 2*grain, of("mean"), mean)
	d := v.digest()
	for i, q := range quantiles {
		f.report.near(inFiles, name+" "+q.name, "", of(q.name), d.low[i]-grain, d.high[i]+grain)
	}
	f.report.near(inFiles, name+" longest", "", of("max"), d.longest-grain, d.longest+grain)
}

func (f *exported) metrics() error {
	var last, acted int64
	rows := 0
	err := f.each("metrics.csv", func(cell func(string) string) error {
		var n numbers
		rows++
		last, acted = n.of(cell("agents_processed")), n.of(cell("agents_shopped"))
		return n.err
	})
	if err != nil || rows == 0 {
		return err
	}
	f.report.Check(inFiles, "agents processed, in the last second", "", last <= f.m.Totals.Sessions, last, f.m.Totals.Sessions)
	f.report.Check(inFiles, "agents that acted, in the last second", "", acted <= f.m.Totals.Acted, acted, f.m.Totals.Acted)
	return nil
}

// SameFile compares a file of an export with one that was made of the store now, line by line.
func (r *Report) SameFile(name string, there, here []byte) {
	group := "files against the store"
	theirs, ours := bytes.Split(there, []byte("\n")), bytes.Split(here, []byte("\n"))
	for i := range max(len(theirs), len(ours)) {
		line := func(all [][]byte) string {
			if i >= len(all) {
				return "no such line"
			}
			return string(all[i][:min(len(all[i]), 120)])
		}
		same := i < len(theirs) && i < len(ours) && bytes.Equal(theirs[i], ours[i])
		where := ""
		if !same {
			where = fmt.Sprintf("line %d", i+1)
		}
		r.Check(group, name, where, same, line(theirs), line(ours))
	}
}
