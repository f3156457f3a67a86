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
		{func() error { return c.Broadcast(ctx, []string{"ann"}, "hello") }, `broadcast [ann] "hello" by W`},
		{func() error { return c.Broadcast(ctx, nil, "two\nlines") }, `broadcast [] "two\nlines" by W`},
	} {
		if err := step.give(); err != nil {
			t.Errorf("%s: %v", step.want, err)
		}
		if got := r.heard(); got != step.want {
			t.Errorf("got orders %q, want %q", got, step.want)
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

func TestAuthorOfOrders(t *testing.T) {
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

// TestSetIsOneOrder checks that settings reach the run in one order, and that the reply returns.
func TestSetIsOneOrder(t *testing.T) {
	r := newFakeRun()
	data, _ := serve(t, r)
	c := dial(t, data)
	got, err := c.Set(t.Context(), []engine.Assignment{{Name: "floor", Value: "30"}, {Name: "model.rate", Value: "5"}}, "a test")
	if err != nil || !slices.Equal(got, []engine.Change{{Name: "floor", Old: "1", New: "30"}, {Name: "model.rate", Old: "10", New: "5"}}) {
		t.Errorf("%v, %v", got, err)
	}
	if got := r.heard(); got != "apply [{floor 30} {model.rate 5}] by W because a test" {
		t.Error(got)
	}
	_, err = c.Set(t.Context(), []engine.Assignment{{Name: "speed\x1b[2J", Value: "1"}}, "")
	if _, mistake := errors.AsType[*engine.FieldError](err); !mistake || err.Error() != "speed [2J: unknown" {
		t.Errorf("got %v", err)
	}
}

func TestErrorsKeepTheirKind(t *testing.T) {
	r := newFakeRun()
	data, _ := serve(t, r)
	c := dial(t, data)
	field := &engine.FieldError{Field: "agents", Problem: "no such agent: eve"}
	if err := c.Retire(t.Context(), []string{"ann", "eve"}); err == nil || err.Error() != field.Error() || r.heard() != "" {
		t.Errorf("a missing agent: %v", err)
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
			t.Errorf("%v: got %v", fail, err)
		}
	}
	r.fail = engine.ErrEnded
	if err := c.Stop(t.Context(), true, ""); !errors.Is(err, engine.ErrEnded) {
		t.Errorf("a run that has ended was cut: %v", err)
	}
	r.heard()
	r.fail = errors.New("busy")
	if err := c.Retire(t.Context(), []string{"ann", "bob"}); err == nil || r.heard() != "retire 0 by W" {
		t.Errorf("the first of two orders fails: %v", err)
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
