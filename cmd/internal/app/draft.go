package app

import (
	"fmt"

	"github.com/throng-sim/throng/engine"
)

// usualAnswer is how many tokens a persona is taken to have before one was written.
const usualAnswer = 300

// Draft is what the writing of a population will come to.
type Draft struct {
	By         string // the service, and its first model
	Kept, Left int    // personas that are there from before, and that are to be written
	Answer     int    // tokens that an answer is taken to have
	Free       bool
	Usage      engine.Usage // of those that are left, guessed
}

// Draft tells what the writing of the population would come to; nil where nobody writes it.
func (l Population) Draft() (*Draft, error) {
	by, kept, err := l.Unwritten()
	if err != nil || by == "" {
		return nil, err
	}
	w := l.Scenario.Writing(l.Settings.Seed)
	s := w.Services()[0]
	model := l.models(s)[0]
	d := &Draft{By: by + " (" + model + ")", Kept: kept, Left: w.Count() - kept, Answer: usualAnswer, Free: l.free(s)}
	if d.Left == 0 || d.Free {
		return d, nil
	}
	asked, most, err := w.Length(w.Count() - 1)
	if err != nil {
		return nil, err
	}
	if most > 0 {
		d.Answer = min(d.Answer, most)
	}
	prices, err := l.pricesOf(s)
	if err != nil {
		return nil, err
	}
	d.Usage = *prices.Expect(model, d.Left, asked, d.Answer)
	return d, nil
}

// String says it in words.
func (d *Draft) String() string {
	if d.Left == 0 {
		return "all personas were written before and are kept: no model is asked"
	}
	text := fmt.Sprintf("%s to be written by %s when it is launched", personas(d.Left), d.By)
	if d.Kept > 0 {
		text += fmt.Sprintf("; %s kept from before", engine.FormatCount(int64(d.Kept)))
	}
	switch cost := float64(d.Usage.Cost) / 1e9; {
	case d.Free:
		return text + "; it costs nothing"
	case d.Usage.Unpriced > 0:
		return text + "; what it costs is not known"
	case cost < 0.01:
		return text + fmt.Sprintf("; less than $0.01, at %d tokens an answer", d.Answer)
	default:
		return text + fmt.Sprintf("; about $%.2f, at %d tokens an answer", cost, d.Answer)
	}
}

func personas(n int) string {
	if n == 1 {
		return "1 persona is"
	}
	return engine.FormatCount(int64(n)) + " personas are"
}
