package engine

import (
	"fmt"
	"strconv"
	"time"
)

// UnconfirmedWhy is why a run with an unconfirmed request is inexact.
const UnconfirmedWhy = "a changing request was sent again, without proof that it was carried out only once"

// UnconfirmedRow is journaled for each changing request that was resent without proof that it was executed only once.
// It makes the run inexact.
type UnconfirmedRow struct {
	Place
	At      time.Time
	Path    string // of the step
	Name    string // of the agent, for display; not journaled
	Request string // method and path, or a SQL statement without its arguments
}

// UnconfirmedList has the number of changing requests that may have been executed more than once, and the first of
// them.
type UnconfirmedList struct {
	All   int64
	First []UnconfirmedRow
}

// Sentence describes the requests in a sentence, or returns "" if there are none.
func (u *UnconfirmedList) Sentence() string {
	if u.All == 0 {
		return ""
	}
	count := "1 request"
	if u.All > 1 {
		count = FormatCount(u.All) + " requests"
	}
	return count + " may have been carried out more than once: sent again after a crash or a lost answer"
}

// UnconfirmedAdvice says what to do about unconfirmed requests.
const UnconfirmedAdvice = "check them at the service; `verify` or `repeats: keyed` in the scenario prevents them"

// Call sets the names of the agents.
func (u *UnconfirmedList) Call(name func(agent int) (string, error)) (err error) {
	for i := range u.First {
		if u.First[i].Name, err = name(u.First[i].Agent); err != nil {
			return err
		}
	}
	return nil
}

// AgentName formats the agent for display: its name, or its index.
func (r *UnconfirmedRow) AgentName() string {
	if r.Name == "" {
		return strconv.Itoa(r.Agent)
	}
	return r.Name
}

// Lines returns descriptions of the first requests.
func (u *UnconfirmedList) Lines() []string {
	lines := make([]string, 0, len(u.First)+1)
	for i := range u.First {
		r := &u.First[i]
		lines = append(lines, fmt.Sprintf("%s  cycle %d, agent %s, step %s: %s", r.At.Local().Format("2006-01-02 15:04:05"), r.Cycle, r.AgentName(), r.Path, r.Request))
	}
	if more := u.All - int64(len(u.First)); more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", FormatCount(more)))
	}
	return lines
}

// Inexact returns the reason why the row makes its run inexact.
func (r *UnconfirmedRow) Inexact() *Inexact {
	return &Inexact{r.Cycle, r.Agent, r.Path, UnconfirmedWhy}
}

// Unconfirmed journals that a changing request of a step may have been executed twice.
func (s *Session) Unconfirmed(path, request string) {
	row := UnconfirmedRow{Place: s.Place, At: time.Now(), Path: path, Request: request}
	s.host.Append(row)
	s.host.Doubt(row.Inexact())
}

// Doubt marks the run as inexact from a step of the session on. The journal keeps the first reason.
func (s *Session) Doubt(path, why string) {
	since := &Inexact{s.Cycle, s.Agent, path, why}
	if s.host.Doubt(since) {
		s.host.Append(ChangeRow{
			At: time.Now(), Cycle: s.Cycle, What: ExactnessChange, Old: "exact", New: "inexact", Why: why, Inexact: since,
		})
	}
}
