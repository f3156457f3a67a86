package setup

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/checks"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// checkPause is the pause after the last change before the checks run, because they send requests to servers.
const checkPause = time.Second

// A launch runs the checks again if their results are older than stale, and waits for the new ones for at most checkWait.
const (
	stale     = 10 * time.Second
	checkWait = 3 * time.Second
)

// preflight shows the preflight checks. They run again after a change; only the newest results count.
type preflight struct {
	screen  *Screen
	panel   *widgets.Panel
	summary *form.Note
	list    *checks.List
	all     *widget.Button // also shows the checks that passed
	again   *widget.Button
	problem *form.Note // why a fix failed
	open    bool       // all checks are shown

	of     forecastInput
	asked  int // number of the newest request; results of older ones are dropped
	cancel context.CancelFunc
	timer  *time.Timer                     // until the next request; nil if none is scheduled
	told   *atomic.Pointer[[]engine.Check] // the newest results; the goroutine of the checks stores them
	shown  *[]engine.Check                 // of told
	at     time.Time                       // when the shown results arrived
	then   func()                          // waits for the next results; nil if nothing does
}

func newPreflight(s *Screen) *preflight {
	p := &preflight{screen: s, summary: form.NewNote(""), list: checks.New(), problem: form.NewNote(""), cancel: func() {}}
	p.summary.TextSize = theme.SizeNameText
	p.list.SetBrief(true)
	p.list.OnMend = p.mend
	p.all = widget.NewButton("Show all", p.turn)
	p.again = widget.NewButtonWithIcon("Check again", theme.ViewRefreshIcon(), func() { p.ask(true) })
	p.all.Importance, p.again.Importance = widget.LowImportance, widget.LowImportance
	title := container.NewBorder(nil, nil, widgets.NewHeading("Preflight checks"), form.NewCompact(p.all))
	p.panel = widgets.NewPanel("", form.NewStack(title, p.summary, p.list, p.problem, container.NewHBox(form.NewCompact(p.again))))
	p.problem.Hide()
	return p
}

// turn shows all checks, or only those that did not pass.
func (p *preflight) turn() {
	p.open = !p.open
	text := "Show all"
	if p.open {
		text = "Show less"
	}
	p.all.SetText(text)
	p.list.SetBrief(!p.open)
	p.list.Hidden = p.list.Shown() == 0
	p.panel.Refresh()
	p.screen.aside.Content.Refresh()
}

// follow runs the checks if their input has changed and has no mistakes.
func (p *preflight) follow(o Order, mistakes bool) {
	now := forecastInput{p.screen.scenario, o}
	if mistakes || reflect.DeepEqual(now, p.of) {
		return
	}
	another := now.scenario != p.of.scenario
	p.of = now
	p.stop()
	if another {
		p.ask(false)
		return
	}
	p.asked++ // results that are on their way are for another input
	p.timer = time.AfterFunc(checkPause, func() { async.Do(func() { p.due() }) })
}

// forget runs all checks again at the next call of follow.
func (p *preflight) forget() { p.of = forecastInput{} }

func (p *preflight) due() {
	if p.timer != nil {
		p.ask(false)
	}
}

func (p *preflight) stop() {
	p.cancel()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// ask runs the checks. fresh also repeats those whose results are recent.
func (p *preflight) ask(fresh bool) {
	if p.screen.scenario == nil {
		return
	}
	p.stop()
	p.asked++
	this := p.asked
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	told := &atomic.Pointer[[]engine.Check]{}
	p.told = told
	order, _, _ := p.screen.order()
	async.Work(func() ([]engine.Check, error) {
		return p.screen.desk.Preflight(ctx, order, fresh, func(all []engine.Check) { told.Store(&all) })
	}, func(all []engine.Check, err error) {
		cancel()
		if this != p.asked {
			return
		}
		p.told = nil
		if err != nil { // the fields or the head show the error
			all = nil
		}
		p.show(all)
		p.at = time.Now()
		p.proceed()
	})
}

// proceed calls what waits for results.
func (p *preflight) proceed() {
	if then := p.then; then != nil {
		p.then = nil
		then()
	}
}

// renew calls then with recent results: a backend may have stopped since the last ones.
func (p *preflight) renew(then func()) {
	if time.Since(p.at) < stale || len(p.problems()) > 0 {
		then()
		return
	}
	p.then = then
	p.screen.desk.Recheck()
	p.ask(false)
	time.AfterFunc(checkWait, func() { async.Do(p.proceed) })
}

// tick shows new results.
func (p *preflight) tick() {
	if p.told == nil {
		return
	}
	if now := p.told.Load(); now != nil && now != p.shown {
		p.shown = now
		p.show(slices.Clone(*now))
	}
}

func (p *preflight) show(all []engine.Check) {
	for i := range all {
		if all[i].Fix == engine.FixAgain { // the panel has a button for all
			all[i].Fix = ""
		}
	}
	p.list.Set(all)
	p.list.Hidden = p.list.Shown() == 0
	checks.Summarize(p.summary, all)
	p.panel.Refresh()
	p.screen.aside.Content.Refresh()
	p.screen.bar.check(all)
}

// problems returns the checks that require a confirmation. A missing secret is shown at its field.
func (p *preflight) problems() (all []engine.Check) {
	for _, c := range p.list.Checks() {
		if way, _ := c.FixAction(); c.Grade == engine.GradeProblem && way != engine.FixSecret {
			all = append(all, c)
		}
	}
	return all
}

// reveal scrolls to the checks.
func (p *preflight) reveal() { form.Reveal(p.screen.aside, p.panel) }

// mend does what a check's button offers.
func (p *preflight) mend(c engine.Check) {
	way, to := c.FixAction()
	switch way {
	case engine.FixAgain:
		p.ask(true)
	case engine.FixAllow:
		p.allow()
	case engine.FixConnections:
		n, err := strconv.Atoi(to)
		if err == nil {
			p.do(func(ctx context.Context) error { return p.screen.desk.LowerConnections(ctx, n) })
		}
	case engine.FixLimit:
		if n, err := strconv.Atoi(to); err == nil {
			p.screen.Apply(n)
		}
	case engine.FixSecret:
		p.screen.services.reveal()
	case engine.FixSettings:
		p.screen.ways.Settings()
	case engine.FixFree:
		p.screen.ways.Runs()
	}
}

// allow asks the user to allow the addresses that the file would call.
func (p *preflight) allow() {
	order, _, _ := p.screen.order()
	p.screen.permit(order, "Allow", func(o Order) {
		p.do(func(ctx context.Context) error { return p.screen.desk.Allow(ctx, o) })
	}, func(err error) {
		if err != nil {
			p.do(func(context.Context) error { return err })
		}
	})
}

// do runs a fix in the background, then checks again.
func (p *preflight) do(work func(ctx context.Context) error) {
	async.Work(func() (struct{}, error) { return struct{}{}, work(context.Background()) }, func(_ struct{}, err error) {
		p.problem.Hide()
		if err != nil {
			p.problem.SetProblem("Cannot fix it: " + err.Error())
			p.problem.Show()
		}
		p.ask(false)
	})
}

// confirm asks before a launch with problems. It calls then if there are none or the user accepts them, otherwise not.
func (p *preflight) confirm(then, not func()) {
	p.renew(func() { p.question(then, not) })
}

func (p *preflight) question(then, not func()) {
	problems := p.problems()
	if len(problems) == 0 {
		then()
		return
	}
	var lines []string
	for _, c := range problems {
		first, _, _ := strings.Cut(c.Text, "\n")
		lines = append(lines, c.Name+": "+first)
	}
	text := words.NewParagraph(p.screen.win, strings.Join(lines, "\n")+"\n\nYou can stop the run and resume it later.")
	ask := dialog.NewCustomConfirm("Launch with "+count(len(problems), "problem")+"?", "Launch anyway", "Cancel", text, func(yes bool) {
		if yes {
			then()
		} else {
			not()
		}
	}, p.screen.win)
	widgets.Ask(p.screen.win, ask, ask.Confirm)
}
