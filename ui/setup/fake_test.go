package setup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/uitest"
)

// fakeDesk records calls.
type fakeDesk struct {
	mu           sync.Mutex
	read         []Order // scenarios and their parameters
	asked        []Order // for targets
	launched     []Order
	counted      []Order
	writes       bool // a launch has its population written until it is given up
	tested       []Service
	kept         map[string]string // secrets by name
	requirements Requirements
	lost         error // instead of an requirements

	busy    string        // what is in progress
	settled chan struct{} // closed at its end

	listed chan struct{} // the scenarios are listed when it is closed; nil does not wait

	forecastInput []Order
	unforeseen    error // instead of a forecast
	measured      engine.RunID

	checks    []engine.Check // before a launch
	checked   []Order
	fresh     int
	rechecked int
	mended    []string
	unmended  error

	fleet   fleet.Host
	awaited chan struct{} // a launch on other computers waits until it is closed
	remote  string
	targets []engine.Destination
	refusal error                    // of launches
	answer  func() (string, error)   // of services
	broken  map[string]error         // scenarios that cannot be read
	wait    map[string]chan struct{} // scenarios that are read when the channel is closed
	change  func(*Scenario)          // what else is in a scenario; nil is nothing
	forked  func(*Scenario, Fork)    // of a fork; may be nil
}

func (d *fakeDesk) Choices(context.Context) ([]Choice, error) {
	if d.listed != nil {
		<-d.listed
	}
	return []Choice{
		{Name: "shopping", Title: "Marketplace shoppers", About: "They shop.", BuiltIn: true},
		{Name: "world", Title: "A small world", About: "They talk.", BuiltIn: true},
		{Name: "/scenarios/staging.yaml", Title: "Staging"},
	}, nil
}

func (d *fakeDesk) Favor(_ context.Context, name string, star bool) error {
	return d.mend(fmt.Sprintf("star %s %t", name, star))
}

func (d *fakeDesk) ForkFrom(ctx context.Context, f Fork, given map[string]string) (*Scenario, error) {
	sc, err := d.Scenario(ctx, fmt.Sprintf("%s#%d", f.Run, f.Checkpoint), given)
	if err == nil && d.forked != nil {
		d.forked(sc, f)
	}
	return sc, err
}

func (d *fakeDesk) Scenario(ctx context.Context, name string, given map[string]string) (*Scenario, error) {
	d.mu.Lock()
	d.read = append(d.read, Order{Scenario: name, Given: maps.Clone(given)})
	wait, err := d.wait[name], d.broken[name]
	d.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done(): // the answer comes all the same
		}
	}
	if err != nil {
		return nil, err
	}
	settings := engine.DefaultSettings()
	settings.Cycles = 24
	sc := &Scenario{
		Name: name, Title: "Title of " + name, About: "About " + name, Agents: 372, Cycle: time.Hour, Settings: settings,
		Parameters: []Parameter{
			{ParameterSpec: view.ParameterSpec{Name: "agents", Title: "Shoppers"}, Min: 1, Max: 1e6, Kind: Whole, Default: "372"},
			{ParameterSpec: view.ParameterSpec{Name: "eagerness", Title: "Eagerness", About: "how much they like it"}, Min: 0, Max: 10, Kind: Number, Default: "1"},
			{ParameterSpec: view.ParameterSpec{Name: "greeting", Title: "Greeting"}, Min: math.Inf(-1), Max: math.Inf(1), Kind: Text, Default: "hello"},
			{ParameterSpec: view.ParameterSpec{Name: "coupons", Title: "Coupons"}, Kind: Switch, Default: "true"},
			{ParameterSpec: view.ParameterSpec{Name: "season", Title: "Season", Choices: []string{"winter", "summer"}}, Kind: OneOf, Default: "winter"},
		},
		Services: []Service{
			{Name: "shop", Kind: "http", URL: "mock:shop"},
			{Name: "model", Kind: "llm", URL: "https://model.example.com/v1", Secret: "MODEL_KEY", Models: "small, large"},
		},
	}
	if text, ok := given["agents"]; ok {
		if sc.Agents, err = strconv.Atoi(text); err != nil || sc.Agents == 13 {
			return nil, &engine.FieldError{Field: "agents", Problem: "brings bad luck"}
		}
	}
	if d.change != nil {
		d.change(sc)
	}
	return sc, nil
}

// Choose selects the named agents, or all. A filter selects half of them, unless it is invalid.
func (d *fakeDesk) Choose(ctx context.Context, o Order) (int, error) {
	d.mu.Lock()
	d.counted = append(d.counted, o)
	wait := d.wait["count "+o.Settings.Filter]
	d.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	n := 372
	if given, err := strconv.Atoi(o.Given["agents"]); err == nil {
		n = given
	}
	if len(o.Settings.Agents) > 0 {
		n = len(o.Settings.Agents)
	}
	switch {
	case strings.Contains(o.Settings.Filter, "agnet"):
		return 0, &engine.FieldError{Field: "filter", Problem: "1:1: agnet is not defined", Hint: "did you mean agent?"}
	case slices.Contains(o.Settings.Agents, "noPreset"):
		return 0, &engine.FieldError{Field: "agents", Problem: "noPreset is called noPreset"}
	case o.Settings.Filter == "broken":
		return 0, errors.New("the file is gone")
	case o.Settings.Filter != "":
		n /= 2
	}
	return n, nil
}

// Requirements leaves out missing secrets that have been saved.
func (d *fakeDesk) Requirements(context.Context, Order) (Requirements, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.requirements
	o.Missing = slices.DeleteFunc(slices.Clone(o.Missing), func(m Missing) bool { return d.kept[m.Secret] != "" })
	return o, d.lost
}

// foresaw returns the orders for which a forecast was requested.
func (d *fakeDesk) foresaw() []Order {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.forecastInput)
}

// Forecast returns a forecast for the limit of the order.
func (d *fakeDesk) Forecast(ctx context.Context, o Order) (engine.Forecast, error) {
	d.mu.Lock()
	d.forecastInput = append(d.forecastInput, o)
	wait := d.wait["forecast "+strconv.Itoa(o.Settings.Limit)]
	d.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done(): // the answer comes all the same
		}
	}
	f := engine.Forecast{Run: d.measured, Cycle: engine.Exactly(float64(o.Settings.Limit), engine.FromFile), RequestRate: engine.Exactly(600, engine.FromFile), Binds: "the limit of " + strconv.Itoa(o.Settings.Limit)}
	if o.Settings.Budget.Dollars > 0 {
		f.Advice = []string{"It may cost too much.", "It may take too long."}
	}
	if f.Content.Size = engine.Exactly(44e6, engine.Guessed); o.Settings.Limit == 54 { // stands for private answers
		f.Content = engine.KeptContent{Missing: "No transcript: the answers of step pay are private."}
	}
	return f, d.unforeseen
}

// Preflight reports the checks of the test, except fixed ones. The test may block it.
func (d *fakeDesk) Recheck() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rechecked++
}

func (d *fakeDesk) Preflight(ctx context.Context, o Order, fresh bool, told func([]engine.Check)) ([]engine.Check, error) {
	d.mu.Lock()
	d.checked = append(d.checked, o)
	if fresh {
		d.fresh++
	}
	all := slices.DeleteFunc(slices.Clone(d.checks), func(c engine.Check) bool { return c.Fix != "" && slices.Contains(d.mended, c.Fix) })
	wait := d.wait["check"]
	d.mu.Unlock()
	first := slices.Clone(all)
	for i := range first {
		first[i] = engine.Check{Name: first[i].Name}
	}
	told(first)
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
		}
	}
	return all, nil
}

func (d *fakeDesk) Allow(_ context.Context, o Order) error {
	return d.mend("allow " + strings.Join(o.Allow, " "))
}

func (d *fakeDesk) LowerConnections(_ context.Context, most int) error {
	return d.mend("connections " + strconv.Itoa(most))
}

func (d *fakeDesk) mend(what string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mended = append(d.mended, what)
	return d.unmended
}

func (d *fakeDesk) KeepSecret(_ context.Context, name, value string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if value == "refused" {
		return errors.New("the keychain cannot be used")
	}
	d.kept = map[string]string{name: value}
	return nil
}

// secret returns the value that was saved for a secret.
func (d *fakeDesk) secret(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept[name]
}

func (d *fakeDesk) Unallowed(_ context.Context, o Order) ([]engine.Destination, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, o)
	return d.targets, nil
}

func (d *fakeDesk) Launch(ctx context.Context, o Order, writing func(done, total int)) error {
	if d.writes {
		writing(12, 24)
		<-ctx.Done()
		return fmt.Errorf("12 of 24 personas: %w", context.Cause(ctx))
	}
	if !o.At.IsZero() {
		select {
		case <-o.Start:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if d.awaited != nil && o.Fleet.Elsewhere() {
		o.Awaits(true)
		select {
		case <-d.awaited:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		o.Awaits(false)
	}
	if d.InProgress() != "" {
		o.Waits(true)
		select {
		case <-d.settled:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		o.Waits(false)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refusal == nil {
		d.launched = append(d.launched, o)
	}
	return d.refusal
}

func (d *fakeDesk) InProgress() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.busy
}

func (d *fakeDesk) Preset(context.Context) (string, error) { return "This machine is a laptop.", nil }

func (d *fakeDesk) Fleet() fleet.Host { return d.fleet }

func (d *fakeDesk) Remote() string { return d.remote }

func (d *fakeDesk) TestService(_ context.Context, _ Order, s Service) (string, error) {
	d.mu.Lock()
	d.tested = append(d.tested, s)
	answer := d.answer
	d.mu.Unlock()
	if answer == nil {
		return "", errors.New("connection refused")
	}
	return answer()
}

// last returns the last call.
func (d *fakeDesk) last(what *[]Order) Order {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(*what) == 0 {
		return Order{}
	}
	return (*what)[len(*what)-1]
}

func (d *fakeDesk) count(what *[]Order) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(*what)
}

// stage is a screen in a window.
type stage struct {
	*uitest.Queue
	t        *testing.T
	desk     *fakeDesk
	win      fyne.Window
	screen   *Screen
	launched int
	went     string // to another screen
}

func newStage(t *testing.T, desk *fakeDesk) *stage {
	s := &stage{Queue: uitest.Start(t), t: t, desk: desk}
	s.again()
	return s
}

// again opens a new screen in a new window of the same app. All its panels are open, and the forecast is complete.
func (s *stage) again() {
	s.win = test.NewTempWindow(s.t, nil)
	s.screen = New(s.desk, s.win, Ways{
		Launched: func() { s.launched++ }, Settings: func() { s.went = "settings" }, Runs: func() { s.went = "runs" },
	})
	s.win.SetContent(s.screen.Content())
	s.win.Resize(fyne.NewSize(1130, 800))
	for _, f := range s.screen.folds {
		f.SetOpen(true)
	}
	s.screen.forecast.toggle()
	s.screen.Show()
}

// shown returns a stage with the first scenario.
func shown(t *testing.T, desk *fakeDesk) *stage {
	s := newStage(t, desk)
	s.until("Title of shopping")
	return s
}

func (s *stage) until(text string) {
	s.t.Helper()
	s.Until("showing "+text, func() bool { return s.shows(text) })
}

func (s *stage) shows(text string) bool { return uitest.Shows(s.screen.Content(), text) }

// row returns the visible row with a title.
func (s *stage) row(title string) (found *form.Row) {
	s.t.Helper()
	uitest.Walk(s.screen.Content(), func(o fyne.CanvasObject) bool {
		if r, ok := o.(*form.Row); ok && r.Title() == title {
			found = r
		}
		return found == nil
	})
	if found == nil {
		s.t.Fatalf("there is no row %q among %q", title, uitest.Texts(s.screen.Content()))
	}
	return found
}

// field returns the visible field of a kind in a row.
func field[T fyne.CanvasObject](s *stage, title string) (found T) {
	s.t.Helper()
	ok := false
	uitest.Walk(s.row(title), func(o fyne.CanvasObject) bool {
		if !ok {
			found, ok = o.(T)
		}
		return !ok
	})
	if !ok {
		s.t.Fatalf("the row %q has no %T", title, found)
	}
	return found
}

// entry returns the visible entry in a row.
func (s *stage) entry(title string) (found *form.Entry) {
	s.t.Helper()
	uitest.Walk(s.row(title), func(o fyne.CanvasObject) bool {
		switch o := o.(type) {
		case *form.Entry:
			found = o
		case *form.Number:
			found = &o.Entry
		}
		return found == nil
	})
	if found == nil {
		s.t.Fatalf("the row %q has no entry", title)
	}
	return found
}

func (s *stage) typed(title, text string) {
	s.t.Helper()
	s.entry(title).SetText(text)
	s.Drain()
}

func (s *stage) tap(button string) {
	s.t.Helper()
	s.Tap(s.screen.Content(), button)
}

// pick selects a scenario in the gallery.
func (s *stage) pick(title string) {
	s.t.Helper()
	var found *card
	uitest.Walk(s.screen.Content(), func(o fyne.CanvasObject) bool {
		if k, ok := o.(*card); ok && k.choice.Title == title {
			found = k
		}
		return found == nil
	})
	if found == nil {
		s.t.Fatalf("there is no scenario %q", title)
	}
	test.Tap(found)
	s.Drain()
}

// confirm taps a button of the open dialog.
func (s *stage) confirm(button string) {
	s.t.Helper()
	s.Until("asked", func() bool { return s.win.Canvas().Overlays().Top() != nil })
	s.Tap(s.win.Canvas().Overlays().Top(), button)
}
