package storetest

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// testMarks checks that names, tags and stars are stored and change nothing else.
func testMarks(t *testing.T, open Open) {
	r := record("r")
	r.Source.Baseline = engine.Baseline{Parameters: map[string]string{"shops": "2"}, Settings: map[string]string{"cycles": "24"}, Acted: "order"}
	f := newFixture(t, open, r)
	before, err := f.Run(t.Context(), f.run)
	must(t, err)
	if !reflect.DeepEqual(before.Source.Baseline, r.Source.Baseline) {
		t.Errorf("the baseline is %+v, want %+v", before.Source.Baseline, r.Source.Baseline)
	}
	must(t, f.Rename(t.Context(), f.run, " Friday, new prices "))
	must(t, f.Star(t.Context(), f.run, true))
	_, err = f.Tag(t.Context(), f.run, []string{"Prices", "b2b", "old"}, nil)
	must(t, err)
	if tags, err := f.Tag(t.Context(), f.run, []string{"b2b"}, []string{"old", "unknown"}); err != nil || !slices.Equal(tags, []string{"b2b", "prices"}) {
		t.Errorf("the tags are %q, %v", tags, err)
	}
	f.commit(engine.SessionRows{session(0, 1, engine.OK)})
	f.reopen()
	want := before
	want.Marks, want.Done, want.Tally = engine.Marks{Name: "Friday, new prices", Tags: []string{"b2b", "prices"}, Star: true}, 1, engine.Tally{}
	if all, err := f.Runs(t.Context()); err != nil || !reflect.DeepEqual(all[0].Marks, want.Marks) {
		t.Errorf("listed is %+v, %v, want %+v", all[0].Marks, err, want.Marks)
	}
	got, err := f.Run(t.Context(), f.run)
	must(t, err)
	got.InProgress, got.Tally = want.InProgress, engine.Tally{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the run is\n%+v, want\n%+v", got, want)
	}
	must(t, f.Rename(t.Context(), f.run, ""))
	must(t, f.Star(t.Context(), f.run, false))
	_, err = f.Tag(t.Context(), f.run, nil, []string{"b2b", "prices"})
	must(t, err)
	if r, err := f.Run(t.Context(), f.run); err != nil || r.DisplayName() != "a run" || r.Star || len(r.Tags) > 0 {
		t.Errorf("without marks it is %+v, %v", r.Marks, err)
	}
	_, wrongTag := f.Tag(t.Context(), f.run, []string{"two words"}, nil)
	for what, err := range map[string]error{"tag": wrongTag, "name": f.Rename(t.Context(), f.run, strings.Repeat("long ", 100))} {
		if _, ok := errors.AsType[*engine.FieldError](err); !ok {
			t.Errorf("a wrong %s: got %v, want a *engine.FieldError", what, err)
		}
	}
	_, tag := f.Tag(t.Context(), "unknown", []string{"x"}, nil)
	for what, err := range map[string]error{"tag": tag, "name": f.Rename(t.Context(), "unknown", "x"), "star": f.Star(t.Context(), "unknown", true)} {
		if !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%s of an unknown run: got %v, want ErrNotFound", what, err)
		}
	}
}

// testNames checks that a run is found by a name that only it has, after IDs and their beginnings.
func testNames(t *testing.T, open Open) {
	f := newFixture(t, open, record("first"))
	must(t, f.Create(t.Context(), record("second")))
	find := func(name string, want engine.RunID) {
		t.Helper()
		switch r, err := f.Run(t.Context(), engine.RunID(name)); {
		case want == "" && !errors.Is(err, engine.ErrNotFound):
			t.Errorf("%q: got %s, %v, want ErrNotFound", name, r.ID, err)
		case want != "" && (err != nil || r.ID != want):
			t.Errorf("%q: got %s, %v, want %s", name, r.ID, err, want)
		}
	}
	find("a run", "") // both
	must(t, f.Rename(t.Context(), "second", "Fi"))
	find("A RUN", "first") // by the title of its scenario
	find("fi", "first")    // the beginning of an ID
	find("FI", "second")
	find("Fi", "second")
	find("nothing", "")
	must(t, f.Rename(t.Context(), "first", "fi"))
	find("FI", "")
	must(t, f.Trash(t.Context(), "second"))
	find("FI", "first")
}

// testAmbiguous checks that the error for a text that several runs match lists the newest of them.
func testAmbiguous(t *testing.T, open Open) {
	f := newFixture(t, open, record("run-0"))
	for i := range 4 {
		r := record(engine.RunID("run-" + strconv.Itoa(i+1)))
		r.Created = r.Created.Add(time.Duration(i+1) * time.Hour)
		must(t, f.Create(t.Context(), r))
	}
	refused := func(what string, err error, words ...string) {
		t.Helper()
		if many, ok := errors.AsType[*storage.AmbiguousError](err); !ok || !errors.Is(err, engine.ErrNotFound) || len(many.Runs) > 3 {
			t.Errorf("%s: got %v, want a *storage.AmbiguousError with at most 3 runs", what, err)
			return
		}
		for _, word := range words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: no %q in %v", what, word, err)
			}
		}
	}
	_, err := f.Run(t.Context(), "run")
	refused("the beginning of IDs", err, `the ID "run" is ambiguous, 5 runs begin with it: run-4 (a run), run-3 (a run), run-2 (a run) and 2 more; use more of the ID`)
	_, err = f.Run(t.Context(), "A Run")
	refused("a name", err, `5 runs have the name "A Run": run-4 (started `, "and 2 more; use an ID")
	must(t, f.Trash(t.Context(), "run-1"))
	must(t, f.Trash(t.Context(), "run-2"))
	_, err = f.Run(t.Context(), "run")
	refused("without those in the trash", err, "run-4 (a run), run-3 (a run) and run-0 (a run); use")
	_, err = f.TrashedRun(t.Context(), "run")
	refused("in the trash", err, "2 runs in the trash begin with it: run-2 (a run) and run-1 (a run)")
}

// testTally checks that a run counts sessions that acted or failed, once each, and that its size is known.
func testTally(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	tally := func(want engine.Tally) {
		t.Helper()
		if r, err := f.Run(t.Context(), f.run); err != nil || r.Tally != want {
			t.Errorf("the run counts %+v, %v, want %+v", r.Tally, err, want)
		}
	}
	acted, again := session(0, 1, engine.OK), session(0, 3, engine.OK)
	acted.Acted, again.Acted, again.Take = true, true, 1
	f.commit(engine.SessionRows{acted, session(0, 2, engine.TimedOut), session(0, 3, engine.Failed)})
	tally(engine.Tally{Acted: 1, Failed: 2})
	f.commit(engine.SessionRows{again})
	tally(engine.Tally{Acted: 2, Failed: 1})
	f.commit(engine.SessionRows{session(1, 1, engine.Failed)}, engine.EndRow{At: at(9), Ending: engine.EndFinished, Totals: engine.Totals{Acted: 3, Outcomes: [engine.Cut]int64{engine.Failed: 1}}})
	tally(engine.Tally{Acted: 3, Failed: 1})
	if sizes, err := f.Sizes(t.Context()); err != nil || len(sizes) != 1 || sizes[f.run] <= 0 {
		t.Errorf("the sizes are %v, %v", sizes, err)
	}
}
