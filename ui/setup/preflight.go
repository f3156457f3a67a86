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

// checkPause is how long nothing is checked again after the last change: servers are asked then.
const checkPause = time.Second

// preflight is the check list before a launch. It is made again when something changed, and the last answers count.
type preflight struct {
	screen  *Screen
	panel   *widgets.Panel
	summary *form.Note
	list    *checks.List
	all     *widget.Button // shows what is well, too
	again   *widget.Button
	problem *form.Note // what went wrong in mending
	open    bool       // all is shown

	of     foretold
	asked  int // answers of all questions but the last are dropped
	cancel context.CancelFunc
	timer  *time.Timer                     // until the next question; nil without
	told   *atomic.Pointer[[]engine.Check] // the newest of the question; those who check set it
	shown  *[]engine.Check                 // of told
}

func newPreflight(s *Screen) *preflight {
	p := &preflight{screen: s, summary: form.NewNote(""), list: checks.New(), problem: form.NewNote(""), cancel: func() {}}
	p.summary.TextSize = theme.SizeNameText
	p.list.SetBrief(true)
	p.list.OnMend = p.mend
	p.all = widget.NewButton("Show all", p.turn)
	p.again = widget.NewButtonWithIcon("Check again", theme.ViewRefreshIcon(), func() { p.ask(true) })
	p.all.Importance, p.again.Importance = widget.LowImportance, widget.LowImportance
	head := container.New(&footing{}, form.NewStack(widgets.NewHeading("Before launch"), p.summary), p.again, p.all)
	p.panel = widgets.NewPanel("", form.NewStack(head, p.list, p.problem))
	p.problem.Hide()
	return p
}

// turn shows all, or only what is not well.
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
	p.screen.page.Refresh()
}

// follow checks again where the answers may be others. Fields that are wrong say nothing about a run.
func (p *preflight) follow(o Order, mistakes bool) {
	now := foretold{p.screen.scenario, o}
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
	p.asked++ // what is on its way is about something else
	p.timer = time.AfterFunc(checkPause, func() { async.Do(func() { p.due() }) })
}

// forget has everything checked the next time that the screen follows its fields.
func (p *preflight) forget() { p.of = foretold{} }

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

// ask has everything checked; anew asks those too who have answered lately.
func (p *preflight) ask(anew bool) {
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
		return p.screen.desk.Preflight(ctx, order, anew, func(all []engine.Check) { told.Store(&all) })
	}, func(all []engine.Check, err error) {
		cancel()
		if this != p.asked {
			return
		}
		p.told = nil
		if err != nil { // the fields, or the head, say what is wrong
			p.show(nil)
			return
		}
		p.show(all)
	})
}

// tick shows what was found since the last time.
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
	height := p.panel.MinSize().Height
	for i := range all {
		if all[i].Mend == engine.MendAgain { // there is a button for all
			all[i].Mend = ""
		}
	}
	p.list.Set(all)
	p.list.Hidden = p.list.Shown() == 0
	checks.Summarize(p.summary, all)
	p.panel.Refresh()
	p.screen.page.Refresh()
	p.screen.stay(p.panel, height)
	p.screen.bar.check(all)
}

// problems are the checks that came out so badly that a launch asks first. A missing secret is told beside its field.
func (p *preflight) problems() (all []engine.Check) {
	for _, c := range p.list.Checks() {
		if way, _ := c.Way(); c.Grade == engine.GradeProblem && way != engine.MendSecret {
			all = append(all, c)
		}
	}
	return all
}

// reveal brings the list into view.
func (p *preflight) reveal() { form.Reveal(p.screen.scroll, p.panel) }

// mend does what the button of a check says.
func (p *preflight) mend(c engine.Check) {
	way, to := c.Way()
	switch way {
	case engine.MendAgain:
		p.ask(true)
	case engine.MendAllow:
		p.allow()
	case engine.MendConnections:
		n, err := strconv.Atoi(to)
		if err == nil {
			p.do(func(ctx context.Context) error { return p.screen.desk.LowerConnections(ctx, n) })
		}
	case engine.MendLimit:
		if n, err := strconv.Atoi(to); err == nil {
			p.screen.Apply(n)
		}
	case engine.MendSecret:
		p.screen.services.reveal()
	case engine.MendSettings:
		p.screen.ways.Settings()
	case engine.MendFree:
		p.screen.ways.Checkpoints()
	}
}

// allow has the person allow all that the file would call.
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

// do mends something that takes a moment, and checks again.
func (p *preflight) do(work func(ctx context.Context) error) {
	async.Work(func() (struct{}, error) { return struct{}{}, work(context.Background()) }, func(_ struct{}, err error) {
		p.problem.Hide()
		if err != nil {
			p.problem.SetProblem("It was not changed: " + err.Error())
			p.problem.Show()
		}
		p.ask(false)
	})
}

// confirm asks before a launch that has problems; then is called where there are none, or it is wanted all the same.
func (p *preflight) confirm(then, not func()) {
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
	text := words.NewParagraph(p.screen.win, strings.Join(lines, "\n")+"\n\nThe run keeps what it does, and can be stopped and resumed.")
	ask := dialog.NewCustomConfirm("Launch with "+count(len(problems), "problem")+"?", "Launch all the same", "Cancel", text, func(yes bool) {
		if yes {
			then()
		} else {
			not()
		}
	}, p.screen.win)
	widgets.Ask(p.screen.win, ask, ask.Confirm)
}
