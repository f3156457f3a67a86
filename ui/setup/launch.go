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

// launch starts the run, after the checks and the question about the addresses it calls. It continues if another screen is opened.
func (s *Screen) launch() {
	if s.launching && !s.wanted {
		return
	}
	s.begin(false)
	_, _ = s.given.Tell(nil), s.settings.Tell(nil) // shows the mistakes of the fields
	s.changed()
	switch {
	case s.subject == (subject{}):
		s.bar.say("Not launched: choose a scenario first.")
		return
	case len(s.mistakes()) > 0:
		s.bar.say("Not launched: correct the marked fields first.")
		s.reveal()
		return
	case s.timer != nil || s.reading: // the shown scenario does not reflect the parameters yet
		s.wanted = true
		s.begin(true)
		if !s.reading {
			s.read()
		}
		return
	case s.scenario == nil || s.shown != s.subject:
		s.bar.say("Not launched: the scenario has errors.")
		return
	}
	if s.invite() {
		return
	}
	s.begin(true)
	s.preflight.confirm(s.target, func() { s.begin(false) })
}

// target finds the addresses that the run would call, and asks about those that the file may not call yet.
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

// permit asks the user to allow the addresses that the scenario file would call. It calls allowed with the order and the allowed addresses,
// or not with the error, which is nil if the user declines.
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

// fileName returns the name of a scenario for a question.
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
	order.Waits, order.Awaits = s.queued.Store, s.awaiting.Store
	writing := func(done, total int) { s.writing.Store(&written{done, total}) }
	async.Work(func() (struct{}, error) { return struct{}{}, s.desk.Launch(ctx, order, writing) }, func(_ struct{}, err error) {
		s.giveUp = nil
		giveUp(nil)
		s.queued.Store(false)
		s.awaiting.Store(false)
		s.noLonger()
		s.writing.Store(nil)
		if err != nil {
			s.refused(err)
			return
		}
		s.begin(false)
		s.abandon()
		s.ways.Launched()
	})
}

// refused shows why nothing was launched. Errors of fields are shown at the fields.
func (s *Screen) refused(err error) {
	s.begin(false)
	rest := s.given.Tell(s.settings.Tell(err))
	s.changed()
	s.bar.say("Not launched: correct the marked fields first.")
	if file, ok := errors.AsType[Unreadable](rest); ok {
		s.bar.say("Not launched: the scenario has errors.")
		s.head.fail(file)
		s.scroll.ScrollToTop()
	} else if errors.Is(rest, errCanceled) {
		s.bar.tell("Not launched: start canceled.")
	} else if rest != nil {
		s.bar.say("Not launched: " + rest.Error())
	}
	s.reveal()
}

// begin sets whether a launch is in progress.
func (s *Screen) begin(launching bool) {
	s.launching, s.wanted = launching, s.wanted && launching
	s.bar.work(launching)
}

// written is the progress of writing the population.
type written struct{ done, total int }

var errGivenUp = errors.New("stopped by the user")

// startNow starts a scheduled run now.
func (s *Screen) startNow() {
	if s.pending != nil {
		s.pending.start()
		s.noLonger()
	}
}

// giveUpLaunch cancels a scheduled start, or a launch for which a model writes the population.
func (s *Screen) giveUpLaunch() {
	if s.giveUp == nil {
		return
	}
	cause := errGivenUp
	if s.Waiting() {
		cause = errCanceled
	}
	s.giveUp(cause)
	s.giveUp = nil
	s.noLonger()
}

// occupied shows what is in progress, which the next run waits for.
func (s *Screen) occupied() {
	if s.launching && !s.queued.Load() {
		return
	}
	was := s.occupant
	s.occupant = s.desk.InProgress()
	s.bar.occupy(s.occupant)
	if was != "" && s.occupant == "" && s.visible { // it may have been measured
		s.forecast.again()
		s.follow()
	}
}

// Tick updates the preflight checks, the countdown and the progress of writing the population.
func (s *Screen) Tick() {
	s.preflight.tick()
	s.occupied()
	if p := s.pending; p != nil {
		if left := p.at.Sub(now()); left > 0 {
			s.bar.wait(left)
		} else {
			s.noLonger()
		}
	}
	s.joined()
	if s.queued.Load() && s.giveUp != nil {
		s.bar.queue()
	}
	if at := s.writing.Load(); at != nil && s.giveUp != nil {
		s.bar.write(at)
	}
}
