package setup

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/duration"
	"github.com/throng-sim/throng/ui/internal/form"
)

// Maximum values of the budget.
const (
	maxDollars = 1_000_000
	maxCounted = 1_000_000_000_000
)

// budget limits the consumption of a run; an empty field is unlimited.
type budget struct {
	panel                     *form.Fold
	dollars, tokens, requests *form.Number
	wall                      *form.Entry
}

func newBudget(s *Screen) *budget {
	b := &budget{dollars: form.NewNumber(), tokens: form.NewWhole(0, maxCounted), requests: form.NewWhole(0, maxCounted), wall: form.NewEntry()}
	b.dollars.Min, b.dollars.Max = 0, maxDollars
	words := form.NewNote("")
	words.SetText("A run that uses up its budget ends cleanly. Resume it with a larger budget. Empty fields are unlimited.")
	dollars, tokens := settingRow("budget", b.dollars), settingRow("max-tokens", b.tokens)
	requests, wall := settingRow("max-requests", b.requests), settingRow("max-time", b.wall)
	for _, e := range []*form.Entry{&b.dollars.Entry, &b.tokens.Entry, &b.requests.Entry, b.wall} {
		e.SetPlaceHolder("any")
	}
	b.wall.SetPlaceHolder("unlimited, or 8h")
	s.watch(s.settings.Add(dollars, "budget"), &b.dollars.Entry)
	s.watch(s.settings.Add(tokens, "max-tokens"), &b.tokens.Entry)
	s.watch(s.settings.Add(requests, "max-requests"), &b.requests.Entry)
	s.watch(s.settings.Add(wall, "max-time"), b.wall)
	b.panel = form.NewFold("Budget", form.NewStack(form.NewColumns(9, dollars, tokens, requests, wall), words))
	return b
}

func (b *budget) fill(sc *Scenario, another bool) {
	set := sc.Settings.Budget
	text := func(known bool, text string) string {
		if !known {
			return ""
		}
		return text
	}
	put(&b.dollars.Entry, text(set.Dollars > 0, decimal(set.Dollars)), another)
	put(&b.tokens.Entry, text(set.Tokens > 0, strconv.FormatInt(set.Tokens, 10)), another)
	put(&b.requests.Entry, text(set.Requests > 0, strconv.FormatInt(set.Requests, 10)), another)
	put(b.wall, text(set.Wall > 0, duration.Format(set.Wall)), another)
}

// into puts the valid fields into the settings and returns the errors of the others.
func (b *budget) into(set *engine.Settings) error {
	var mistakes []error
	for _, f := range []struct {
		entry *form.Number
		name  string
		to    func(v float64)
	}{
		{b.dollars, "budget", func(v float64) { set.Budget.Dollars = v }},
		{b.tokens, "max-tokens", func(v float64) { set.Budget.Tokens = int64(v) }},
		{b.requests, "max-requests", func(v float64) { set.Budget.Requests = int64(v) }},
	} {
		if strings.TrimSpace(f.entry.Text) == "" {
			f.to(0)
		} else if v, err := f.entry.Value(); keep(&mistakes, f.name, err) {
			f.to(v)
		}
	}
	if d, err := wallTime(b.wall.Text); keep(&mistakes, "max-time", err) {
		set.Budget.Wall = d
	}
	return errors.Join(mistakes...)
}

// wallTime parses a time such as 8h or 1h30m; empty is unlimited.
func wallTime(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, errors.New("not a duration. Examples: 30m, 8h, 1h30m")
	case d < 0:
		return 0, errors.New("negative")
	}
	return d, nil
}
