package setup

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/permit"
)

// launch starts what is set up, after asking about other machines. A launch goes on, whatever is shown meanwhile.
func (s *Screen) launch() {
	if s.launching && !s.wanted {
		return
	}
	s.begin(false)
	_, _ = s.given.Tell(nil), s.settings.Tell(nil) // it is asked again
	s.changed()
	switch {
	case s.subject == (subject{}):
		s.bar.say("Nothing was launched: choose a scenario first.")
		return
	case len(s.mistakes()) > 0:
		s.bar.say("Nothing was launched: there are mistakes.")
		s.reveal()
		return
	case s.timer != nil || s.reading: // what is shown does not follow from the parameters yet
		s.wanted = true
		s.begin(true)
		if !s.reading {
			s.read()
		}
		return
	case s.scenario == nil || s.shown != s.subject:
		s.bar.say("Nothing was launched: the scenario cannot be read as it is.")
		return
	}
	s.begin(true)
	s.preflight.confirm(s.target, func() { s.begin(false) })
}

// target finds out what the run would call, and asks about what its file was not allowed yet.
func (s *Screen) target() {
	order, _, _ := s.order()
	s.permit(order, "Allow and launch", s.start, func(err error) {
		if err != nil {
			s.refused(err)
			return
		}
		s.begin(false)
	})
}

// permit has the person allow what the file of an order would call. allowed is told what was, in the order; not, that the
// person said no, or what went wrong.
func (s *Screen) permit(order Order, verb string, allowed func(Order), not func(error)) {
	async.Work(func() ([]engine.Destination, error) { return s.desk.Unallowed(context.Background(), order) }, func(of []engine.Destination, err error) {
		switch {
		case err != nil:
			not(err)
		case len(of) == 0:
			allowed(order)
		default:
			q := permit.Question{File: fileName(order.Scenario), Verb: verb, AtOnce: order.Settings.Limit, Of: of}
			permit.Ask(s.win, q, func(yes []string) {
				if yes == nil {
					not(nil)
					return
				}
				order.Allow = append(slices.Clone(order.Allow), yes...)
				allowed(order)
			})
		}
	})
}

// fileName is what a scenario is called in a question.
func fileName(scenario string) string {
	if scenario == "" || !filepath.IsAbs(scenario) {
		return scenario
	}
	return filepath.Base(scenario)
}

func (s *Screen) start(order Order) {
	ctx, giveUp := context.WithCancelCause(context.Background())
	s.giveUp = giveUp
	if !order.At.IsZero() {
		order.Start = s.wait(order.At)
	}
	writing := func(done, total int) { s.writing.Store(&written{done, total}) }
	async.Work(func() (struct{}, error) { return struct{}{}, s.desk.Launch(ctx, order, writing) }, func(_ struct{}, err error) {
		s.giveUp = nil
		giveUp(nil)
		s.noLonger()
		s.writing.Store(nil)
		if err != nil {
			s.refused(err)
			return
		}
		s.begin(false)
		x := subject{order.Scenario, order.Fork}
		remember(x, order.Given, s.who[x])
		s.ways.Launched()
	})
}

// refused shows why nothing was launched, mistakes beside their fields.
func (s *Screen) refused(err error) {
	s.begin(false)
	rest := s.given.Tell(s.settings.Tell(err))
	s.changed()
	s.bar.say("Nothing was launched: there are mistakes.")
	if file, ok := errors.AsType[Unreadable](rest); ok {
		s.bar.say("Nothing was launched: the scenario cannot be read as it is.")
		s.head.fail(file)
		s.scroll.ScrollToTop()
	} else if rest != nil {
		s.bar.say("Nothing was launched: " + rest.Error())
	}
	s.reveal()
}

// begin notes whether a launch is under way.
func (s *Screen) begin(launching bool) {
	s.launching, s.wanted = launching, s.wanted && launching
	s.bar.work(launching)
}

// written is how far a model is that writes the population.
type written struct{ done, total int }

var errGivenUp = errors.New("it was stopped")

// press is the button: it launches or, while the population is being written, gives that up.
func (s *Screen) press() {
	if s.pending != nil {
		s.pending.start()
		s.noLonger()
		s.bar.work(true)
		return
	}
	if s.writing.Load() == nil || s.giveUp == nil {
		s.launch()
		return
	}
	s.giveUp(errGivenUp)
	s.giveUp = nil
	s.bar.work(true)
}

// Tick shows what the checks have found, and how far the writing of the population is; nothing else here changes by itself.
func (s *Screen) Tick() {
	s.preflight.tick()
	if p := s.pending; p != nil {
		if left := p.at.Sub(now()); left > 0 {
			s.bar.wait(left)
		} else {
			s.noLonger()
			s.bar.work(true)
		}
	}
	if at := s.writing.Load(); at != nil && s.giveUp != nil {
		s.bar.write(at)
	}
}
