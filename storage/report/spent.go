package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
)

// spent is the use of the sessions' time, and what limited the run.
type spent struct {
	Picture template.HTML // a bar of parts
	Keys    []chartKey
	Bound   string
	Advice  string
	Here    bool // this machine was the limit
	Lines   []health.OverheadLine
}

func newSpent(r *engine.RunRecord, t *engine.Totals) (v spent) {
	o := &t.Peaks.Overhead
	if o.Span <= 0 {
		return v
	}
	if b := health.FindBottleneck(o, r.Limit, ""); b.Kind != health.Unbound {
		v.Bound, v.Advice, v.Here = b.String(), b.Advice, b.Kind.IsHere()
	}
	v.Lines = health.OverheadLines(o, t.Peaks.Late)
	if o.Times.Sum() <= 0 {
		return v
	}
	s := &svg{}
	s.put(`<svg class="bar-of-parts" role="img" height="26"><title>%s</title>`, esc("Session time: "+health.DescribeTimes(&o.Times)))
	at := 0.0
	for _, p := range engine.Purposes() {
		part := 100 * o.Times.Share(p)
		if part <= 0 {
			continue
		}
		look := "p-" + strings.ReplaceAll(p.String(), " ", "-")
		s.put(`<rect class="%s" x="%.3f%%" width="%.3f%%" y="0" height="26"><title>%s</title></rect>`, look, at, part, esc(fmt.Sprintf("%s %.1f%%", p, part)))
		v.Keys = append(v.Keys, chartKey{look, p.String(), engine.FormatDuration(o.Times[p])})
		at += part
	}
	s.put(`</svg>`)
	v.Picture = s.done()
	return v
}
