package service

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/service/admission"
	"github.com/throng-sim/throng/engine/service/breaker"
)

// tunable is a setting of a client that can be changed during a run.
type tunable struct {
	name, help string
	value      func() string
	set        func(text string) error // its error describes the problem of the text
}

// tunables are the settings of one client.
type tunables struct {
	service string // prefix of their names, followed by a dot; "" for none
	all     []tunable
}

func (t tunables) name(i int) string {
	if t.service == "" {
		return t.all[i].name
	}
	return t.service + "." + t.all[i].name
}

func (t tunables) list() []engine.Tunable {
	list := make([]engine.Tunable, len(t.all))
	for i, one := range t.all {
		list[i] = engine.Tunable{Name: t.name(i), Value: one.value(), Help: one.help}
	}
	return list
}

func (t tunables) tune(name, value string) (old string, err error) {
	for i, one := range t.all {
		if t.name(i) != name {
			continue
		}
		old = one.value()
		if err := one.set(value); err != nil {
			return old, &engine.FieldError{Field: name, Problem: err.Error(), Hint: one.help}
		}
		return old, nil
	}
	return "", &engine.FieldError{Field: name, Problem: "there is no such setting"}
}

// Limits of the settings.
const (
	mostRate  = 1e6 // per second
	mostCalls = 100_000
	leastTime = time.Millisecond
	mostTime  = 24 * time.Hour
)

func parseRate(text string) (float64, error) {
	rate, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(rate) || rate < 0 || rate > mostRate {
		return 0, fmt.Errorf("%q is not a rate", text)
	}
	return rate, nil
}

func parseCount(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is not between 1 and %d", text, most)
	}
	return n, nil
}

// parseTime parses seconds, or a text such as 1m30s.
func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if seconds, ferr := strconv.ParseFloat(text, 64); ferr == nil && math.Abs(seconds) <= mostTime.Seconds() {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || d < leastTime || d > mostTime {
		return 0, fmt.Errorf("%q is not a time between %s and %s", text, doc.FormatDuration(leastTime), doc.FormatDuration(mostTime))
	}
	return d, nil
}

// timeTunable is the timeout of one attempt.
func timeTunable(now func() time.Duration, set func(time.Duration)) tunable {
	return tunable{"timeout", "for one attempt, such as 30s", func() string { return doc.FormatDuration(now()) }, func(text string) error {
		d, err := parseTime(text)
		if err == nil {
			set(d)
		}
		return err
	}}
}

// countTunable is a concurrency limit.
func countTunable(name string, most int, now func() int, set func(int)) tunable {
	return tunable{name, fmt.Sprintf("concurrent calls, at most %d", most), func() string { return strconv.Itoa(now()) }, func(text string) error {
		n, err := parseCount(text, most)
		if err == nil {
			set(n)
		}
		return err
	}}
}

// rateTunables are the rate of a service's requests and its maximum, for the service or for each endpoint.
func rateTunables(h *HTTP) []tunable {
	control := h.transport.control
	change := func(text string, with func(l *pace.Limits, rate float64) error) error {
		rate, err := parseRate(text)
		if err != nil {
			return err
		}
		l := control.Rates()
		if err := with(&l, rate); err != nil {
			return err
		}
		control.SetRates(time.Now(), l, h.limits.Per != PerEndpoint)
		return nil
	}
	all := []tunable{
		{
			"rate", "requests per second that may start, from now on; 0 is as many as come",
			func() string { return admission.FormatRate(control.Rate(time.Now())) },
			func(text string) error {
				return change(text, func(l *pace.Limits, rate float64) error {
					l.Start, l.Floor, l.Ceiling = rate, min(leastRate, rate), max(l.Ceiling, rate)
					return nil
				})
			},
		},
		{
			"max-rate", "requests per second that the rate may grow to",
			func() string { return admission.FormatRate(control.Rates().Ceiling) },
			func(text string) error {
				return change(text, func(l *pace.Limits, rate float64) error {
					if l.Start == 0 || rate == 0 {
						return fmt.Errorf("%s cannot limit a service without a rate", text)
					}
					l.Start, l.Ceiling = min(l.Start, rate), rate
					return nil
				})
			},
		},
	}
	if control.Rates().Mode != pace.Adaptive { // the rate is fixed
		all = all[:1]
	}
	return all
}

// breakerTunable switches a breaker on or off.
func breakerTunable(b *breaker.Breaker) tunable {
	return tunable{"breaker", "on delays calls while the service is unavailable, off lets them fail, probe tries it now", func() string {
		if b.Off() {
			return "off"
		}
		return "on"
	}, func(text string) error {
		if text != "on" && text != "off" && text != engine.BreakerProbe {
			return fmt.Errorf("%q is neither on, off nor %s", text, engine.BreakerProbe)
		}
		if off := text == "off"; off != b.Off() {
			b.Restart(off, "the breaker was switched off")
		}
		if text == engine.BreakerProbe {
			b.ProbeNow()
		}
		return nil
	}}
}
