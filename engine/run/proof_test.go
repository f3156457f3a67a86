package run

import (
	"errors"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// failedRow returns a session that failed at a step with an error.
func failedRow(class engine.Class, status int, err error) *engine.SessionRow {
	r := &engine.SessionRow{Path: "fill[2].browse"}
	if status > 0 {
		err = &engine.StatusError{Status: status, Text: `: "no"`}
	}
	r.Fail(r.Path, &engine.StepError{Class: class, Err: err})
	return r
}

// TestProofHolds checks which failures end a run and which ones the breaker probes.
func TestProofHolds(t *testing.T) {
	no := errors.New("no")
	script, config := failedRow(engine.Script, 0, no), failedRow(engine.ConfigError, 0, no)
	unauthorized, forbidden, missing, refused := failedRow(engine.ClientError, 401, nil), failedRow(engine.ClientError, 403, nil), failedRow(engine.ClientError, 404, nil), failedRow(engine.ClientError, 422, nil)
	host := failedRow(engine.Network, 0, &engine.PermanentError{Err: errors.New("there is no host"), Fix: "check the url"})
	outage, conflict, away := failedRow(engine.ServerError, 503, nil), failedRow(engine.ClientError, 409, nil), failedRow(engine.Network, 0, no)
	ok, stopped := &engine.SessionRow{Outcome: engine.OK}, &engine.SessionRow{Outcome: engine.Stopped}
	retired, late := &engine.SessionRow{Outcome: engine.Canceled}, &engine.SessionRow{}
	late.Fail("", &engine.TimeoutError{What: "session"})
	for _, c := range []struct {
		name     string
		sessions int // of the cycle
		before   []*engine.SessionRow
		row      *engine.SessionRow
		times    int
		probes   int // among the last sessions
		holds    bool
	}{
		{"ten mistakes of the script", 372, nil, script, 10, 0, true},
		{"nine are too few", 372, nil, script, 9, 0, false},
		{"all of a small cycle", 4, nil, script, 4, 0, true},
		{"not all of a small cycle", 4, nil, script, 3, 0, false},
		{"config", 372, nil, config, 10, 0, true},
		{"401", 372, nil, unauthorized, 10, 0, true},
		{"403", 372, nil, forbidden, 10, 0, true},
		{"404", 372, nil, missing, 10, 0, true},
		{"422", 372, nil, refused, 10, 0, true},
		{"an unknown host", 372, nil, host, 10, 0, true},
		{"several reasons together", 372, []*engine.SessionRow{script, missing, host, forbidden}, unauthorized, 6, 0, true},
		{"503 can heal", 372, nil, outage, 1000, 0, false},
		{"409 can heal", 372, nil, conflict, 1000, 0, false},
		{"a connection can heal", 372, nil, away, 1000, 0, false},
		{"a timeout can heal", 372, nil, late, 1000, 0, false},
		{"an outage in between restarts the count", 372, []*engine.SessionRow{missing, missing, missing, outage}, missing, 9, 0, false},
		{"a successful session", 372, []*engine.SessionRow{ok}, missing, 1000, 1000, false},
		{"a stopped session is successful", 372, []*engine.SessionRow{stopped}, unauthorized, 1000, 1000, false},
		{"a known host can return", 372, []*engine.SessionRow{ok}, host, 1000, 1000, false},
		{"the script fails only later, and is not probed", 372, []*engine.SessionRow{ok}, script, 1000, 0, false},
		{"the script fails only later, two probes", 372, []*engine.SessionRow{ok}, script, 10, 2, false},
		{"the script fails only later, three probes", 372, []*engine.SessionRow{ok}, script, 10, 3, true},
		{"retired agents do not count", 372, []*engine.SessionRow{retired, retired}, script, 10, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p proof
			for _, r := range c.before {
				p.add(r)
			}
			for range c.times {
				p.add(c.row)
			}
			p.probed(c.probes)
			if got := p.holds(c.sessions); got != c.holds {
				t.Errorf("cannot succeed: %v, want %v", got, c.holds)
			}
		})
	}
}

func TestProofText(t *testing.T) {
	var p proof
	for range 9 {
		p.add(failedRow(engine.ClientError, 404, nil))
	}
	p.add(failedRow(engine.ClientError, 401, nil))
	const want = `every session so far failed (10 of 10), and waiting cannot heal it: shop.yaml:12: step fill.browse: status 404: "no". To do: the service has nothing at this address: check the path of the step and the ` + "`url` of the service"
	if got := p.text("shop.yaml:12"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	p = proof{}
	p.add(failedRow(engine.Script, 0, errors.New("shop.yaml:14:9: the record has no field nme\nin a second line")))
	if got := p.text("shop.yaml:12"); strings.Contains(got, "shop.yaml:12") || !strings.Contains(got, "step fill.browse: shop.yaml:14:9: the record") || strings.Contains(got, "\n") {
		t.Errorf("got %s", got)
	}
}

// TestStatusIsFoundInTheJournal checks that a failed answer from the journal, whose error is only text, counts by its
// record.
func TestStatusIsFoundInTheJournal(t *testing.T) {
	r := &engine.SessionRow{Path: "browse", Steps: []engine.StepRecord{{Path: "browse", Statuses: []int{429, 404}}}}
	r.Fail("browse", engine.Fail(engine.ClientError, "status 404"))
	if r.Lasting.Permanence != engine.UntilChanged || r.Lasting.Status != 404 {
		t.Errorf("got %+v", r.Lasting)
	}
}
