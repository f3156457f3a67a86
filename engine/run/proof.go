package run

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

const (
	// proofSessions is how many sessions in a row must fail permanently before the run ends. If a cycle has fewer sessions,
	// all of them must fail.
	proofSessions = 10
	// proofProbes is how many probes of the breaker must also fail permanently if any session has succeeded.
	proofProbes = 3
)

// proof decides whether a run can no longer succeed, so that the run ends instead of probing forever. The core adds every
// ended session. The zero value has seen none.
//
//	no session has succeeded, and the last ones all failed permanently          cannot succeed
//	some have succeeded; then the breaker opened, and the last sessions
//	and three probes failed because of a mistake in the scenario                cannot succeed
//	anything else                                                               continues; the breaker probes if needed
type proof struct {
	succeeded      bool  // a session has succeeded, in this process or an earlier one
	permanent      int64 // sessions in a row that failed permanently
	scenarioErrors int64 // the last of those, in a row, that failed because of a mistake in the scenario
	probes         int   // probes of the breaker in a row that failed because of a mistake
	causes         map[cause]*failureCause
}

// cause identifies a kind of failure.
type cause struct {
	path   string // of the step, without iterations
	class  engine.Class
	status int
}

// failureCause describes a cause: the error of its first session, and the fix.
type failureCause struct {
	cause
	agent, cycle int
	message, fix string
	count        int64
}

// add adds an ended session.
func (p *proof) add(r *engine.SessionRow) {
	switch {
	case r.Outcome.Commits():
		*p = proof{succeeded: true}
		return
	case r.Outcome != engine.Failed && r.Outcome != engine.TimedOut:
		return // retired: it proves nothing
	case r.Lasting.Permanence == engine.Heals:
		*p = proof{succeeded: p.succeeded}
		return
	}
	p.permanent++
	if p.scenarioErrors++; r.Lasting.Permanence != engine.UntilCorrected {
		p.scenarioErrors, p.probes = 0, 0
	}
	of := cause{engine.StepName(r.Path), r.Class, r.Lasting.Status}
	if p.causes == nil {
		p.causes = map[cause]*failureCause{}
	}
	known := p.causes[of]
	if known == nil {
		known = &failureCause{cause: of, agent: r.Agent, cycle: r.Cycle, message: r.Error, fix: r.Lasting.Fix}
		p.causes[of] = known
	}
	known.count++
}

// probed counts probes of the breaker that have ended. add has already received their sessions.
func (p *proof) probed(n int) {
	if p.scenarioErrors > 0 {
		p.probes += n
	}
}

// holds reports whether the run can no longer succeed. sessions is the number of sessions of the open cycle.
func (p *proof) holds(sessions int) bool {
	enough := int64(max(min(proofSessions, sessions), 1))
	if p.succeeded {
		return p.scenarioErrors >= enough && p.probes >= proofProbes
	}
	return p.permanent >= enough
}

// mostFrequent returns the most frequent cause, or nil if there is none. On a tie, the one that occurred first wins.
func (p *proof) mostFrequent() (most *failureCause) {
	for _, c := range p.causes {
		if most == nil || c.count > most.count || c.count == most.count && (c.cycle < most.cycle || c.cycle == most.cycle && c.agent < most.agent) {
			most = c
		}
	}
	return most
}

// text returns the reason for people in one line: how many sessions failed, where and how they failed, and what to change.
// where is the file and line of the step, or "" if they are unknown.
func (p *proof) text(where string) string {
	c := p.mostFrequent()
	every := fmt.Sprintf("every session so far failed (%s of %s)", engine.FormatCount(p.permanent), engine.FormatCount(p.permanent))
	if p.succeeded {
		every = fmt.Sprintf("the last %s sessions all failed", engine.FormatCount(p.scenarioErrors))
	}
	return every + ", and waiting cannot heal it: " + c.text(where)
}

// text returns where and how the sessions failed, and what to change.
func (c *failureCause) text(where string) string {
	message, _, _ := strings.Cut(strings.TrimPrefix(c.message, where+": "), "\n")
	parts := make([]string, 0, 3)
	file, _, _ := strings.Cut(where, ":")
	if where != "" && !strings.HasPrefix(message, file+":") { // the message already names the place
		parts = append(parts, where)
	}
	if c.path != "" {
		parts = append(parts, "step "+c.path)
	}
	text := strings.Join(append(parts, message), ": ")
	if c.fix != "" {
		text += ". To do: " + c.fix
	}
	return text
}
