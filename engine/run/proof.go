package run

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

const (
	// proofSessions is how many sessions in a row have to fail for good before a run ends: all of a cycle, where it has
	// fewer.
	proofSessions = 10
	// proofProbes is how many probes of the run's breaker have to fail for good, too, once a session ended well.
	proofProbes = 3
)

// proof decides whether a run cannot succeed, so that it ends instead of probing for ever. The loop shows it every
// session that ended. The zero value has seen none.
//
//	no session of the run ended well,       the last ones all failed for a reason that no waiting heals: cannot succeed
//	some ended well, then the breaker       these and three probes all failed for a mistake in the scenario: cannot
//	opened                                  succeed
//	anything else                           goes on; the breaker probes where too much fails
type proof struct {
	well      bool  // a session ended well, in this process or an earlier one
	permanent int64 // sessions in a row that failed for good
	mistaken  int64 // of them, in a row, those that failed for a mistake in the scenario
	probes    int   // of the breaker, that failed since a session ended otherwise
	causes    map[cause]*lasting
}

// cause tells failures apart.
type cause struct {
	path   string // of the step, without iterations
	class  engine.Class
	status int
}

// lasting is what is known of a cause: its first session's error and what to change.
type lasting struct {
	cause
	agent, cycle int
	message, fix string
	count        int64
}

// add counts a session that ended.
func (p *proof) add(r *engine.SessionRow) {
	switch {
	case r.Outcome.Commits():
		*p = proof{well: true}
		return
	case r.Outcome != engine.Failed && r.Outcome != engine.TimedOut:
		return // retired: it says nothing
	case r.Lasting.Permanence == engine.Heals:
		*p = proof{well: p.well}
		return
	}
	p.permanent++
	if p.mistaken++; r.Lasting.Permanence != engine.UntilCorrected {
		p.mistaken, p.probes = 0, 0
	}
	of := cause{engine.StepName(r.Path), r.Class, r.Lasting.Status}
	if p.causes == nil {
		p.causes = map[cause]*lasting{}
	}
	known := p.causes[of]
	if known == nil {
		known = &lasting{cause: of, agent: r.Agent, cycle: r.Cycle, message: r.Error, fix: r.Lasting.Fix}
		p.causes[of] = known
	}
	known.count++
}

// probed counts probes of the breaker that have ended. One that ended well has been added before.
func (p *proof) probed(n int) {
	if p.mistaken > 0 {
		p.probes += n
	}
}

// holds reports whether the run cannot succeed; sessions is how many the open cycle has.
func (p *proof) holds(sessions int) bool {
	enough := int64(max(min(proofSessions, sessions), 1))
	if p.well {
		return p.mistaken >= enough && p.probes >= proofProbes
	}
	return p.permanent >= enough
}

// main is the most frequent cause, the first of a file where some are as frequent; nil without any.
func (p *proof) main() (most *lasting) {
	for _, c := range p.causes {
		if most == nil || c.count > most.count || c.count == most.count && (c.cycle < most.cycle || c.cycle == most.cycle && c.agent < most.agent) {
			most = c
		}
	}
	return most
}

// says is the reason for people, in one line: how many failed, where, how, and what to change. where is the file and
// the line of the step; "" is not known.
func (p *proof) says(where string) string {
	c := p.main()
	every := fmt.Sprintf("every session so far failed (%s of %s)", engine.FormatCount(p.permanent), engine.FormatCount(p.permanent))
	if p.well {
		every = fmt.Sprintf("the last %s sessions all failed", engine.FormatCount(p.mistaken))
	}
	return every + ", and waiting cannot heal it: " + c.says(where)
}

// says is where and how it failed, and what to change.
func (c *lasting) says(where string) string {
	message, _, _ := strings.Cut(c.message, "\n")
	parts := make([]string, 0, 3)
	file, _, _ := strings.Cut(where, ":")
	if where != "" && !strings.HasPrefix(message, file+":") { // which names the very place
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
