package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/arrivals"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
)

// Kinds of arrivals.
const (
	atOnce  = "at-once"
	even    = "even"
	poisson = "poisson"
	profile = "profile"
)

const arrivalsHint = "at-once, `{even: 60s}`, `{poisson: 10/s}` or `{profile: [{for: 30s, rate: 2/s}, {for: 60s, to: 20/s}]}`"

// arrivals reads when the agents of a cycle start.
func (r *reader) arrivals(n *doc.Node) {
	switch n.Kind() {
	case doc.Absent:
	case doc.Map:
		n.Fields(even, poisson, profile)
		e := n.Only(even, poisson, profile)
		switch {
		case e.Key == nil && len(n.Entries()) > 0: // unknown keys
			return
		case e.Key == nil:
			n.Errorf(arrivalsHint, "the arrivals have no rate")
			return
		}
		p := &arrivals.Plan{Poisson: e.Key.Text() == poisson}
		r.shape(p, e.Key.Text(), e.Value)
		r.s.Clock.Arrivals = p
	default:
		switch text := n.Text(); text {
		case atOnce:
		case even, poisson:
			r.s.Clock.Arrivals = &arrivals.Plan{Poisson: text == poisson}
		default:
			n.Guess(suggest.NewGuess(text, []string{atOnce, even, poisson}, arrivalsHint).And(arrivalsHint)).Errorf("arrivals cannot be `%s`", text)
		}
	}
}

// shape reads over which time or at which rate agents arrive.
func (r *reader) shape(p *arrivals.Plan, kind string, n *doc.Node) {
	if n.Kind() == doc.List || kind == profile {
		r.stages(p, n)
		return
	}
	text, ok := r.setText(n)
	switch {
	case !ok:
	case arrivals.IsRate(text):
		if rate := r.rate(n, text, arrivals.MinRate); rate > 0 {
			p.Stages = arrivals.Constant(rate)
		}
	default:
		p.Over = r.length(n, text)
	}
}

// stages reads the stages of a profile.
func (r *reader) stages(p *arrivals.Plan, n *doc.Node) {
	items := n.List()
	if len(items) == 0 && n.Kind() == doc.List {
		n.Errorf(arrivalsHint, "the profile has no stage")
	}
	last := 0.0
	for _, item := range items {
		item.Fields("for", "rate", "from", "to")
		s := arrivals.Stage{From: last, To: last}
		if d := item.Get("for"); d != nil {
			if text, ok := r.setText(d); ok {
				s.For = r.length(d, text)
			}
		}
		get := func(key string) (float64, bool) {
			v := item.Get(key)
			text, ok := r.setText(v)
			if v == nil || !ok {
				return 0, false
			}
			return r.rate(v, text, 0), true
		}
		if rate, ok := get("rate"); ok {
			item.Only("rate", "from")
			item.Only("rate", "to")
			s.From, s.To = rate, rate
		}
		if from, ok := get("from"); ok {
			s.From = from
			item.Require("to")
		}
		if to, ok := get("to"); ok {
			s.To = to
		}
		if item.Get("rate") == nil && item.Get("to") == nil && item.Get("from") == nil && item.Kind() == doc.Map {
			item.Errorf("such as `{for: 30s, rate: 2/s}` or `{for: 60s, to: 20/s}`", "the stage has no rate")
		}
		if item.Get("for") == nil && item != items[len(items)-1] && item.Kind() == doc.Map {
			item.Errorf("only the last stage may have no length", "the stage needs `for`")
		}
		last = s.To
		p.Stages = append(p.Stages, s)
	}
	if err := p.Validate(); err != nil && r.report.Err() == nil && !r.chains.Blind {
		items[len(items)-1].Errorf("", "%s", err)
	}
}

// setText returns a scalar as text, with the values of parameters.
func (r *reader) setText(n *doc.Node) (string, bool) {
	if n.Kind() != doc.Scalar || !strings.Contains(n.Text(), "${") {
		return n.Text(), n.Text() != ""
	}
	v, ok := r.constant(n)
	if !ok {
		return "", false
	}
	text, err := value.Text(v)
	if err != nil {
		n.Errorf("", "%v", err)
	}
	return text, err == nil
}

// rate parses a rate.
func (r *reader) rate(n *doc.Node, text string, least float64) float64 {
	rate, err := arrivals.ParseRate(text)
	switch {
	case err != nil:
		n.Errorf(arrivals.RateHint, "`%s` is not a rate up to %s", text, arrivals.FormatRate(arrivals.MaxRate))
		return 0
	case rate < least:
		n.Errorf("", "a rate of %s is too low", text)
		return 0
	}
	return rate
}

// length parses the length of a stage, or the time over which agents arrive.
func (r *reader) length(n *doc.Node, text string) time.Duration {
	d, err := doc.ParseDuration(text)
	if err != nil {
		n.Errorf("a time, such as 60s, or "+arrivals.RateHint, "`%s` is not a time", text)
		return 0
	}
	if d < arrivals.MinTime || d > arrivals.MaxTime {
		n.Errorf(fmt.Sprintf("%s to %s", arrivals.MinTime, arrivals.MaxTime), "%s is out of range", text)
	}
	return d
}

// arrivalsFit reports what cannot be combined with arrivals.
func (r *reader) arrivalsFit(n *doc.Node) {
	switch {
	case r.s.Clock.Arrivals == nil:
	case r.s.Sequential:
		n.Errorf("remove arrivals, or `order: sequential`", "agents cannot arrive over time in a sequential run, which has one session at a time")
	case r.s.Batch > 0:
		n.Errorf("remove arrivals, or `batch`", "agents that arrive over time do not start in batches")
	}
}
