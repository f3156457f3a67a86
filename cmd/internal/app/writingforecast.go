package app

import (
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/engine"
)

// WritingForecast is the forecast for the personas that a model writes.
type WritingForecast struct {
	By         string // the service, and its first model
	Kept, Left int    // personas written earlier, and personas to write
	Answer     int    // assumed length of an answer in tokens
	Free       bool
	Usage      engine.Usage // for the personas to write; a guess
}

// WritingForecast returns the forecast for writing the population; nil if no model writes it.
func (l Population) WritingForecast() (*WritingForecast, error) {
	by, kept, err := l.Unwritten()
	if err != nil || by == "" {
		return nil, err
	}
	w := l.Scenario.Writing(l.Settings.Seed)
	s := w.Services()[0]
	model := l.models(s)[0]
	d := &WritingForecast{By: by + " (" + model + ")", Kept: kept, Left: w.Count() - kept, Answer: services.UsualAnswer, Free: l.free(s)}
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

// String describes the forecast.
func (d *WritingForecast) String() string {
	if d.Left == 0 {
		return "all personas were written earlier: no model calls"
	}
	text := fmt.Sprintf("%s to write by %s at launch", plural(int64(d.Left), "persona", "personas"), d.By)
	if d.Kept > 0 {
		text += fmt.Sprintf("; %s written earlier", engine.FormatCount(int64(d.Kept)))
	}
	switch cost := float64(d.Usage.Cost) / 1e9; {
	case d.Free:
		return text + "; free"
	case d.Usage.Unpriced > 0:
		return text + "; cost unknown"
	case cost < 0.01:
		return text + fmt.Sprintf("; less than $0.01, at %d tokens per answer", d.Answer)
	default:
		return text + fmt.Sprintf("; about $%.2f, at %d tokens per answer", cost, d.Answer)
	}
}
