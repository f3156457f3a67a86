package control

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestOrders(t *testing.T) {
	r := newFakeRun()
	data, _ := serve(t, r)
	c := dial(t, data)
	ctx := t.Context()
	for _, step := range []struct {
		give func() error
		want string
	}{
		{func() error { return c.Pause(ctx, "lunch") }, "pause by W because lunch"},
		{func() error { return c.Continue(ctx) }, "resume by W"},
		{func() error { return c.Stop(ctx, false, "") }, "stop by W because "},
		{func() error { return c.Stop(ctx, true, "now") }, "stop by W because now; stop by W because now"},
		{func() error { return c.Checkpoint(ctx, "before the storm") }, "checkpoint because before the storm"},
		{func() error { return c.Checkpoint(ctx, "") }, "checkpoint because by hand"},
		{func() error { return c.Retire(ctx, []string{"bob"}) }, "retire 1 by W"},
		{func() error { return c.Requeue(ctx, []string{"bob", "ann"}) }, "requeue 1 by W; requeue 0 by W"},
		{func() error { return c.Tell(ctx, []string{"ann"}, "hello") }, `tell [ann] "hello" by W`},
		{func() error { return c.Tell(ctx, nil, "two\nlines") }, `tell [] "two\nlines" by W`},
	} {
		if err := step.give(); err != nil {
			t.Errorf("%s: %v", step.want, err)
		}
		if got := r.heard(); got != step.want {
			t.Errorf("asked for %q, want %q", got, step.want)
		}
	}
	r.change(func(s *engine.Snapshot) { s.Phase = engine.Draining })
	if err := c.Stop(ctx, false, "again"); err != nil {
		t.Error(err)
	}
	if got := r.heard(); got != "" {
		t.Errorf("a run that drains is cut by a second stop: %q", got)
	}
	if err := c.Stop(ctx, true, ""); err != nil {
		t.Error(err)
	}
	if got := r.heard(); got != "stop by W because " {
		t.Errorf("a run that drains is cut by %q", got)
	}
}

func TestWhoGivesOrders(t *testing.T) {
	if who := myself(); !strings.HasPrefix(who, "terminal (") || !strings.Contains(who, "@") || clean(who) != who {
		t.Errorf("orders come from %q", who)
	}
	for text, want := range map[string]string{
		"": "", "  ann \n": "ann", "a\x1b[2Jb\x00c": "a [2Jb c", "\xff\xfe": "�", strings.Repeat("é", 300): strings.Repeat("é", 200),
	} {
		if got := clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestTunables(t *testing.T) {
	r := newFakeRun()
	data, _ := serve(t, r)
	got, err := dial(t, data).Tunables(t.Context())
	if err != nil || !slices.Equal(got, r.Tunables()) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestSetIsAllOrNothing: names are looked at first, and what was set before a value that is none is taken back.
func TestSetIsAllOrNothing(t *testing.T) {
	r := newFakeRun()
	data, _ := serve(t, r)
	c := dial(t, data)
	got, err := c.Set(t.Context(), []Setting{{"limit", "30"}, {"model.rate", "5"}}, "a test")
	if err != nil || !slices.Equal(got, []Change{{"limit", "50", "30"}, {"model.rate", "10", "5"}}) {
		t.Errorf("%v, %v", got, err)
	}
	if got := r.heard(); got != "set limit 30 by W because a test; set model.rate 5 by W because a test" {
		t.Error(got)
	}
	for _, step := range []struct {
		settings []Setting
		problems string
		asked    string
	}{
		{
			[]Setting{{"limit", "1"}, {"speed", "1"}, {"colour", "red"}},
			"speed: that cannot be changed while a run is in progress (what can: limit, ceiling, floor, model.rate)\n" +
				"colour: that cannot be changed while a run is in progress (what can: limit, ceiling, floor, model.rate)", "",
		},
		{[]Setting{{"limit", "1"}, {"limit", "2"}}, "limit: it is named twice", ""},
		{nil, "set: nothing is to be changed (name=value)", ""},
		{
			[]Setting{{"limit", "1"}, {"ceiling", "2"}, {"model.rate", "fast"}},
			"model.rate: no number (1 to 9)",
			"set limit 1 by W because ; set ceiling 2 by W because ; " +
				"set limit 30 by W because taken back: not all that was ordered with it could be set; " +
				"set ceiling 100 by W because taken back: not all that was ordered with it could be set",
		},
	} {
		_, err := c.Set(t.Context(), step.settings, "")
		if _, mistake := errors.AsType[*engine.FieldError](err); !mistake || err.Error() != step.problems {
			t.Errorf("%v: %v, want %s", step.settings, err, step.problems)
		}
		if got := r.heard(); got != step.asked {
			t.Errorf("%v: asked for %q, want %q", step.settings, got, step.asked)
		}
		if r.values["limit"] != "30" || r.values["ceiling"] != "100" || r.values["model.rate"] != "5" {
			t.Errorf("%v leaves %v", step.settings, r.values)
		}
	}
}

// TestSetTellsTheCeiling: where a governor moves the limit, another limit is another ceiling too.
func TestSetTellsTheCeiling(t *testing.T) {
	r := newFakeRun()
	r.governed = true
	data, _ := serve(t, r)
	got, err := dial(t, data).Set(t.Context(), []Setting{{"limit", "30"}}, "")
	if err != nil || !slices.Equal(got, []Change{{"limit", "50", "30"}, {"ceiling", "100", "30"}}) {
		t.Errorf("%v, %v", got, err)
	}
	got, err = dial(t, data).Set(t.Context(), []Setting{{"ceiling", "40"}}, "")
	if err != nil || !slices.Equal(got, []Change{{"ceiling", "30", "40"}}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestSetTakesBackWhatMovedAlong: a limit moves the ceiling where a governor moves the limit, and what is refused with it
// leaves neither.
func TestSetTakesBackWhatMovedAlong(t *testing.T) {
	r := newFakeRun()
	r.governed = true
	data, _ := serve(t, r)
	c := dial(t, data)
	for _, order := range [][]Setting{
		{{"limit", "5"}, {"floor", "99"}},
		{{"ceiling", "5"}, {"floor", "99"}},
		{{"limit", "200"}, {"ceiling", "7"}, {"model.rate", "x"}},
	} {
		if _, err := c.Set(t.Context(), order, ""); err == nil {
			t.Errorf("%v was taken", order)
		}
		if r.values["limit"] != "50" || r.values["ceiling"] != "100" || r.values["floor"] != "1" {
			t.Errorf("%v, which was refused, leaves %v", order, r.values)
		}
	}
}

// TestSetFindsAnOrder: a floor that is above the old ceiling and below the new one waits for this.
func TestSetFindsAnOrder(t *testing.T) {
	r := newFakeRun()
	data, _ := serve(t, r)
	c := dial(t, data)
	got, err := c.Set(t.Context(), []Setting{{"floor", "200"}, {"ceiling", "300"}}, "")
	if err != nil || !slices.Equal(got, []Change{{"floor", "1", "200"}, {"ceiling", "100", "300"}}) {
		t.Errorf("%v, %v", got, err)
	}
	r.heard()
	if _, err := c.Set(t.Context(), []Setting{{"floor", "500"}, {"ceiling", "400"}, {"limit", "x"}}, ""); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("a floor above both: %v", err)
	}
	if want := "set ceiling 400 by W because ; set ceiling 300 by W because taken back: not all that was ordered with it could be set"; r.heard() != want {
		t.Error("not all was taken back")
	}
}

func TestErrorsKeepTheirKind(t *testing.T) {
	r := newFakeRun()
	data, _ := serve(t, r)
	c := dial(t, data)
	field := &engine.FieldError{Field: "agents", Problem: "nobody is called eve"}
	if err := c.Retire(t.Context(), []string{"ann", "eve"}); err == nil || err.Error() != field.Error() || r.heard() != "" {
		t.Errorf("an agent who is not there: %v", err)
	}
	if err := c.Requeue(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "none is named") {
		t.Errorf("no agent: %v", err)
	}
	for _, fail := range []error{
		engine.ErrEnded, errors.New("the disk is broken"), &engine.FieldError{Field: "a", Problem: "b", Hint: "c"},
		errors.Join(errors.Join(&engine.FieldError{Field: "a", Problem: "b"}), errors.Join(&engine.FieldError{Field: "c", Problem: "d"})),
	} {
		r.fail = fail
		err := c.Pause(t.Context(), "")
		_, mistake := errors.AsType[*engine.FieldError](err)
		_, wanted := errors.AsType[*engine.FieldError](fail)
		if err == nil || err.Error() != fail.Error() || errors.Is(err, engine.ErrEnded) != errors.Is(fail, engine.ErrEnded) || mistake != wanted {
			t.Errorf("%v comes as %v", fail, err)
		}
	}
	r.fail = engine.ErrEnded
	if err := c.Stop(t.Context(), true, ""); !errors.Is(err, engine.ErrEnded) {
		t.Errorf("a run that is over is cut: %v", err)
	}
	r.heard()
	r.fail = errors.New("busy")
	if err := c.Retire(t.Context(), []string{"ann", "bob"}); err == nil || r.heard() != "retire 0 by W" {
		t.Errorf("the first of two fails: %v", err)
	}
}

func TestSomeAreDone(t *testing.T) {
	s := &server{job: newFakeRun().job(), ctx: t.Context()}
	err := s.each(&request{Agents: []string{"ann", "bob"}}, func(_ context.Context, agent int, _ string) error {
		if agent == 1 {
			return errors.New("it ended well")
		}
		return nil
	})
	if err == nil || err.Error() != "bob: it ended well; done for ann" {
		t.Errorf("%v", err)
	}
}
