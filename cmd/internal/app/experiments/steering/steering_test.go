package steering_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
)

func orders(t *testing.T, data, file string) *steering.Orders {
	t.Helper()
	o, err := steering.Of(data, file)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func read(t *testing.T, o *steering.Orders) steering.Record {
	t.Helper()
	r, err := o.Read()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestOrders writes orders in one place and reads them in another, which knows the file by another path.
func TestOrders(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("Windows lets only administrators make links: %v", err)
	}
	a, b := orders(t, data, filepath.Join(dir, "a.experiment.yaml")), orders(t, data, filepath.Join(link, "..", filepath.Base(link), "a.experiment.yaml"))
	must(t, a.Pause("window"), a.Pause("terminal"), a.Skip([]string{"x", "y"}, false), a.Skip([]string{"x"}, true), a.First([]string{"r", "s"}), a.First([]string{"t", "r"}), a.Stop("window", "enough", true))
	r := read(t, b)
	if r.Paused == nil || r.Paused.Who != "window" || !slices.Equal(r.Skipped, []string{"y"}) || !slices.Equal(r.First, []string{"t", "r", "s"}) || r.Stops != 1 || r.Stop.Why != "enough" || !r.Stop.Cut {
		t.Errorf("read %+v", r)
	}
	must(t, b.Resume())
	if r := read(t, a); r.Paused != nil {
		t.Errorf("it is still paused: %+v", r.Paused)
	}
	if r := read(t, orders(t, data, filepath.Join(dir, "b.experiment.yaml"))); r.Stops != 0 {
		t.Errorf("another experiment has the orders %+v", r)
	}
}

// TestConcurrentOrders checks that no order is lost when several are given at the same time.
func TestConcurrentOrders(t *testing.T) {
	data := t.TempDir()
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			o, err := steering.Of(data, "a.experiment.yaml")
			if err = errors.Join(err, o.Skip([]string{strconv.Itoa(i)}, false), o.Stop("test", "", false)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if r := read(t, orders(t, data, "a.experiment.yaml")); len(r.Skipped) != 20 || r.Stops != 20 {
		t.Errorf("read %+v", r)
	}
}

// TestDamagedOrders checks that a damaged record is reported once, and kept.
func TestDamagedOrders(t *testing.T) {
	data := t.TempDir()
	o := orders(t, data, "a.experiment.yaml")
	must(t, o.Pause("test"), orders(t, data, "b.experiment.yaml").Use("B"))
	files, err := filepath.Glob(filepath.Join(data, "experiments", "*.json"))
	if err != nil || len(files) != 2 {
		t.Fatalf("the records are %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		if strings.Contains(string(text), "a.experiment.yaml") {
			must(t, os.WriteFile(file, text[:len(text)/2], 0o600))
		}
	}
	all, err := steering.List(data)
	if !errors.Is(err, steering.ErrDamaged) || len(all) != 1 || all[0].Title != "B" {
		t.Errorf("listed %+v, %v", all, err)
	}
	if r := read(t, o); r.Paused != nil {
		t.Errorf("read %+v", r)
	}
	if aside, err := filepath.Glob(filepath.Join(data, "experiments", "*.damaged")); err != nil || len(aside) != 1 {
		t.Errorf("moved aside: %v, %v", aside, err)
	}
}

func TestList(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	file := func(name string) *steering.Orders {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, nil, 0o600))
		return orders(t, data, path)
	}
	running, paused, stopped, complete, missing := file("running"), file("paused"), file("stopped"), file("complete"), orders(t, data, filepath.Join(dir, "missing"))
	must(t, missing.Use("M"), stopped.Use("S"), stopped.Pause("test"), complete.Use("C"), complete.Progress(steering.Progress{All: 4, Done: 2, Failed: 1, Skipped: 1}), paused.Use("P"), paused.Pause("test"))
	must(t, running.Use("R"))
	for _, o := range []*steering.Orders{running, paused} {
		release, err := o.Execute()
		must(t, err)
		defer func() { must(t, release()) }()
	}
	all, err := steering.List(data)
	must(t, err)
	got := map[string]steering.State{}
	for i := range all {
		got[all[i].Title] = all[i].State
		if executed := all[i].Title == "R" || all[i].Title == "P"; executed != (all[i].Executor != nil && all[i].Executor.Process == os.Getpid()) {
			t.Errorf("%s is executed by %+v", all[i].Title, all[i].Executor)
		}
		if i > 0 && all[i].Used.After(all[i-1].Used) {
			t.Errorf("%s is newer than %s", all[i].Title, all[i-1].Title)
		}
	}
	want := map[string]steering.State{"R": steering.Running, "P": steering.Paused, "S": steering.Stopped, "C": steering.Complete, "M": steering.Missing}
	for title, state := range want {
		if got[title] != state {
			t.Errorf("%s is %s, want %s", title, got[title], state)
		}
	}
}

// TestForget forgets an experiment, but not one that is executed.
func TestForget(t *testing.T) {
	data := t.TempDir()
	o := orders(t, data, "a.experiment.yaml")
	release, err := o.Execute()
	must(t, err)
	if second, err := orders(t, data, "a.experiment.yaml").Execute(); err == nil {
		must(t, second())
		t.Error("it is executed twice")
	}
	if err := o.Forget(); err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("forgot it: %v", err)
	}
	must(t, release(), o.Forget())
	if all, err := steering.List(data); len(all) != 0 || err != nil {
		t.Errorf("listed %+v, %v", all, err)
	}
}

// TestLookingIsNoUse checks that opening an experiment again leaves its place in the list, and that executing it does not.
func TestLookingIsNoUse(t *testing.T) {
	o := orders(t, t.TempDir(), filepath.Join(t.TempDir(), "prices.experiment.yaml"))
	read := func() steering.Record {
		r, err := o.Read()
		must(t, err)
		return r
	}
	must(t, o.Use("Prices"))
	if read().Used.IsZero() {
		t.Error("the first time does not count")
	}
	must(t, o.Change(func(r *steering.Record) { r.Used = r.Used.Add(-time.Hour) }))
	was := read().Used
	must(t, o.Use("New prices"))
	if r := read(); r.Title != "New prices" || !r.Used.Equal(was) {
		t.Errorf("the record is %+v, used %v before", r, was)
	}
	release, err := o.Execute()
	must(t, err)
	if r := read(); !r.Used.After(was) {
		t.Errorf("executed: the record is %+v, used %v before", r, was)
	}
	must(t, release())
}

// TestManyLook checks that those who look whether a killed process still executes an experiment do not take each other for it.
func TestManyLook(t *testing.T) {
	o := orders(t, t.TempDir(), "a.experiment.yaml")
	release, err := o.Execute()
	must(t, err)
	var killed steering.Record
	must(t, o.Change(func(r *steering.Record) { killed = *r }), release(), o.Change(func(r *steering.Record) { *r = killed }))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				if by := o.Executing(); by != nil {
					t.Errorf("%+v executes it", by)
					return
				}
			}
		})
	}
	group.Wait()
}
