package setup

import (
	_ "embed" // for the image of a die
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
)

//go:embed dice.svg
var dice []byte

// Units of the length of a run.
const (
	inCycles = "cycles"
	inHours  = "hours"
)

// Maximum lengths of a run.
const (
	maxCycles = 1_000_000_000
	maxHours  = 1_000_000
)

// profiles are the latency profiles of the mocks.
var profiles = []struct{ name, title string }{
	{"none", "none"},
	{"local", "local, 1 to 5 ms"},
	{"remote", "remote, 50 to 150 ms"},
	{"slow", "slow, 0.5 to 2 s"},
}

// length is the length, speed and random seed of a run.
type length struct {
	panel         *form.Fold // everything but the length
	row           *form.Row  // the length
	cycles, hours *form.Number
	unit          *widget.Select
	scale         *form.Number
	seed          *form.Entry
	at            *form.Entry // start time; empty is now
	profile       *widget.Select
	latency       *form.Row // row of profile
	words         *form.Note
	proposed      int    // the profile that the form proposed
	arrivals      string // how the agents of a cycle arrive
}

func newLength(s *Screen) *length {
	l := &length{
		cycles: form.NewWhole(1, maxCycles), hours: form.NewNumber(), scale: form.NewNumber(), seed: form.NewEntry(), at: form.NewEntry(), words: form.NewNote(""),
	}
	l.hours.Min, l.hours.Max, l.scale.Min = 0, maxHours, 0

	l.unit = widget.NewSelect([]string{inCycles, inHours}, nil)
	long := form.NewRow("Length", container.NewBorder(nil, nil, nil, form.NewFrame(l.unit), container.NewStack(l.cycles, l.hours)))
	l.unit.OnChanged = func(string) {
		l.show(long)
		long.Changed()
		s.changed()
	}
	scale := settingRow("time-scale", l.scale)
	scale.SetHelp(engine.FindSetting("time-scale").Help)
	icon := theme.NewThemedResource(fyne.NewStaticResource("dice.svg", dice))
	roll := widget.NewButtonWithIcon("", icon, l.roll)
	seed := settingRow("seed", container.NewBorder(nil, nil, nil, roll, l.seed)).Marking(l.seed)
	seed.SetHelp(engine.FindSetting("seed").Help)

	at := form.NewRow("Start at", l.at)
	at.SetHelp("for example 22:00 or +90m; empty: now")

	l.profile = widget.NewSelect(nil, func(string) { s.changed() })
	for _, p := range profiles {
		l.profile.Options = append(l.profile.Options, p.title)
	}
	l.latency = form.NewRow("Mock latency", form.NewFrame(l.profile))

	s.watch(s.settings.Add(long, "cycles", "hours"), &l.cycles.Entry, &l.hours.Entry)
	s.watch(s.settings.Add(scale, "time-scale"), &l.scale.Entry)
	s.watch(s.settings.Add(seed, "seed"), l.seed)
	s.watch(s.settings.Add(at, "at"), l.at)
	s.settings.Add(l.latency, "mock")
	l.row = long
	l.panel = form.NewFold("Pace and seed", form.NewColumns(13, scale, seed, at, l.latency))
	return l
}

// roll sets another seed.
func (l *length) roll() { l.seed.SetText(strconv.FormatUint(rand.Uint64N(1_000_000_000), 10)) }

// show shows the entry of the unit.
func (l *length) show(row *form.Row) {
	if l.unit.Selected == inHours {
		l.cycles.Hide()
		l.hours.Show()
		row.Marking(l.hours)
		return
	}
	l.hours.Hide()
	l.cycles.Show()
	row.Marking(l.cycles)
}

func (l *length) fill(sc *Scenario, another bool) {
	set := sc.Settings
	if another {
		l.unit.SetSelected(inCycles)
		if set.Cycles == 0 {
			l.unit.SetSelected(inHours)
		}
	}
	put(&l.cycles.Entry, strconv.Itoa(max(set.Cycles, 1)), another)
	wall := set.Hours
	if wall == 0 {
		wall = 1
	}
	put(&l.hours.Entry, decimal(wall), another)
	put(&l.scale.Entry, decimal(set.TimeScale), another)
	put(l.seed, strconv.FormatUint(set.Seed, 10), another)

	profile := set.Mock.Profile
	if profile == "" {
		profile = "local"
	}
	for i, p := range profiles {
		if p.name == profile && (another || l.profile.SelectedIndex() == l.proposed) {
			l.proposed = i
			l.profile.SetSelectedIndex(i)
		}
	}
}

// into puts the valid fields into the settings and returns the errors of the others.
func (l *length) into(set *engine.Settings) error {
	var mistakes []error
	if l.unit.Selected == inHours {
		if f, err := l.hours.Value(); keep(&mistakes, "hours", err) {
			set.Hours, set.Cycles = f, 0
		}
	} else if f, err := l.cycles.Value(); keep(&mistakes, "cycles", err) {
		set.Cycles, set.Hours = int(f), 0
	}
	if f, err := l.scale.Value(); keep(&mistakes, "time-scale", err) {
		set.TimeScale = f
	}
	seed, err := strconv.ParseUint(strings.TrimSpace(l.seed.Text), 10, 64)
	if err != nil {
		err = errors.New("not a whole number of at least 0")
	}
	if keep(&mistakes, "seed", err) {
		set.Seed = seed
	}
	if i := l.profile.SelectedIndex(); i >= 0 {
		set.Mock.Profile = profiles[i].name
	}
	return errors.Join(mistakes...)
}

// start returns the start time; zero is now.
func (l *length) start(now time.Time) (time.Time, error) {
	if strings.TrimSpace(l.at.Text) == "" {
		return time.Time{}, nil
	}
	return view.StartTime(l.at.Text, now)
}

// say describes the length of the run and its schedule.
func (l *length) say(set engine.Settings, sc *Scenario, mocked bool) {
	if mocked {
		l.latency.Show()
	} else {
		l.latency.Hide()
	}
	l.words.Say(scheduled(set, sc))
	l.arrivals = sc.Arrivals
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// put sets an entry's text. If the same scenario is read again, it keeps text that the user typed.
func put(e *form.Entry, text string, another bool) {
	if another {
		e.Put(text)
	} else {
		e.Propose(text)
	}
}

// keep adds err to mistakes as an error of a field and reports whether there is none.
func keep(mistakes *[]error, field string, err error) bool {
	if err != nil {
		*mistakes = append(*mistakes, &engine.FieldError{Field: field, Problem: err.Error()})
	}
	return err == nil
}
