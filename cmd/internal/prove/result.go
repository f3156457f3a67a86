package prove

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/sqlite"
)

// result is the result of a run, in lines that do not depend on timing.
type result struct {
	record engine.RunRecord
	labels engine.Labels
	parts  []part
}

// part is one part of a result.
type part struct {
	name  string
	lines []string
}

// state is the state of the run in a folder.
type state uint8

const (
	absent state = iota // killed before it was stored: nothing was done
	begun
	over
)

// open calls f with the store of a folder.
func open(dir string, f func(*sqlite.Store) error) (err error) {
	store, err := sqlite.Open(dir, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if notice := store.Notice(); notice != "" {
		return errors.New(notice)
	}
	return f(store)
}

// look returns the state of the run in a folder.
func look(ctx context.Context, dir string) (s state, record engine.RunRecord, err error) {
	if !sqlite.Exists(dir) {
		return absent, record, nil
	}
	err = open(dir, func(store *sqlite.Store) (err error) {
		record, err = store.Newest(ctx)
		return err
	})
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return absent, record, nil
	case err != nil:
		return absent, record, err
	case record.Ending == engine.NotEnded:
		return begun, record, nil
	}
	return over, record, nil
}

// read collects the result of the run in a folder.
func (c *Config) read(ctx context.Context, dir string) (*result, error) {
	r := &result{}
	err := open(dir, func(store *sqlite.Store) error { return r.read(ctx, store) })
	if err != nil {
		return nil, err
	}
	shop, err := Changes(config.ShopLog(dir, r.record.ID), r.settle)
	if err != nil {
		return nil, err
	}
	r.parts = append(r.parts, part{"changes of the shop", shop})
	if c.Database.URL != "" {
		rows, err := postgres.Arrived(ctx, c.database(), r.record.ID)
		if err != nil {
			return nil, err
		}
		r.parts = append(r.parts, part{"rows in Postgres", rows})
	}
	return r, nil
}

// settle removes the IDs of sessions, which differ between runs, from a text.
func (r *result) settle(text string) string {
	return string(engine.Settle([]byte(text), r.record.Settings.Seed, []engine.RunID{r.record.ID}))
}

func (c *Config) database() postgres.Config {
	return postgres.Config{URL: c.Database.URL, Password: c.Database.Password}
}

func (r *result) read(ctx context.Context, store *sqlite.Store) (err error) {
	if r.record, err = store.Newest(ctx); err != nil {
		return err
	}
	totals, err := store.Totals(ctx, r.record.ID)
	if err != nil {
		return err
	}
	asked := totals.AllRequests()
	r.labels = asked.Labels
	if r.record.Inexact == nil {
		r.record.Inexact = totals.Inexact
	}
	names, err := review.Names(ctx, store, r.record.ID)
	if err != nil {
		return err
	}
	for _, file := range storage.Exact {
		var text bytes.Buffer
		if err := file.Write(ctx, &text, store, r.record.ID, names); err != nil {
			return err
		}
		r.parts = append(r.parts, part{file.Name, slices.Collect(strings.Lines(r.settle(text.String())))})
	}
	if names.Personas == nil {
		return nil
	}
	var text bytes.Buffer
	err = names.Personas(&text)
	r.parts = append(r.parts, part{scenario.PersonasName, slices.Collect(strings.Lines(text.String()))})
	return err
}

// Changes returns the changes of a mock shop, whose log may be missing, as sorted lines: concurrent steps may come in any order. A
// change with a repeated key is marked. settle removes what differs between runs, such as the IDs of sessions.
func Changes(log string, settle func(string) string) (lines []string, err error) {
	all, err := mock.Mutations(log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, m := range all {
		line := fmt.Sprintf("%s in cycle %d: %s", m.User, m.Cycle, settle(m.Description))
		if m.Key != "" && known[m.User+m.Key] {
			line += ", with a key that was there before"
		}
		known[m.User+m.Key] = true
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines, nil
}

// Difference is the difference between a result and that of the undisturbed run.
type Difference struct {
	Lost, Doubled int      // missing lines, and excess lines; a changed line counts in both
	First         string   // the first difference, or ""
	Parts         []string // the parts that differ
}

// differs compares a result with the undisturbed one.
func (r *result) differs(from *result) (d Difference) {
	say := func(format string, args ...any) {
		if d.First == "" {
			d.First = fmt.Sprintf(format, args...)
		}
	}
	for i, want := range from.parts {
		got := r.parts[i]
		if slices.Equal(got.lines, want.lines) {
			continue
		}
		lost, doubled := Missing(want.lines, got.lines), Missing(got.lines, want.lines)
		d.Lost, d.Doubled, d.Parts = d.Lost+lost, d.Doubled+doubled, append(d.Parts, want.name)
		n := 0
		for n < len(want.lines) && n < len(got.lines) && want.lines[n] == got.lines[n] {
			n++
		}
		say("%s, line %d\n  undisturbed: %s\n  killed:      %s", want.name, n+1, line(want.lines, n), line(got.lines, n))
	}
	if r.record.Inexact != nil {
		say("it became inexact, unlike the undisturbed run: %s", r.record.Inexact)
	}
	if r.record.Ending != from.record.Ending {
		say("it ended as %s: %s; the undisturbed run as %s", r.record.Ending, r.record.Reason, from.record.Ending)
	}
	return d
}

func line(lines []string, n int) string {
	if n >= len(lines) {
		return "(no more lines)"
	}
	return strings.TrimRight(lines[n], "\n")
}

// Missing counts the lines that the other list has less often.
func Missing(lines, in []string) (n int) {
	there := map[string]int{}
	for _, l := range in {
		there[l]++
	}
	for _, l := range lines {
		if there[l]--; there[l] < 0 {
			n++
		}
	}
	return n
}
