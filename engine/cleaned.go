package engine

import (
	"fmt"
	"time"
)

// Cleaned describes a cleanup of a run. A cleanup is a separate run that removes what the agents of the first run
// created at services.
type Cleaned struct {
	By       RunID     `json:"by"`
	At       time.Time `json:"at"`               // end time; start time if it has not ended
	Ending   string    `json:"ending,omitempty"` // as [Ending.String]; "" if it has not ended
	Agents   int64     `json:"agents"`           // number of agents to clean up
	Done     int64     `json:"done"`             // number of agents cleaned up
	Requests int64     `json:"requests"`         // requests sent, if it has ended
}

// Whole reports whether the cleanup removed everything.
func (c *Cleaned) Whole() bool { return c.Ending == EndFinished.String() && c.Done == c.Agents }

// Sentence describes the cleanup of a run in a sentence. stamp formats the time.
func (c *Cleaned) Sentence(of RunID, stamp func(time.Time) string) string {
	sent := Counted(c.Requests, "request", "requests")
	switch {
	case c.Whole():
		return fmt.Sprintf("Cleaned up by run %s on %s: %s for %s.", c.By, stamp(c.At), sent, Counted(c.Agents, "agent", "agents"))
	case c.Ending == "":
		return fmt.Sprintf("Cleanup run %s started on %s and has not finished. To resume it: throngctl cleanup %s.", c.By, stamp(c.At), of)
	case c.Ending == EndFinished.String():
		return fmt.Sprintf("Cleaned up in part by run %s on %s: %s, %s of %s done. To clean up the rest: throngctl cleanup %s.",
			c.By, stamp(c.At), sent, FormatCount(c.Done), Counted(c.Agents, "agent", "agents"), of)
	}
	return fmt.Sprintf("Cleanup run %s ended early on %s (%s): %s, %s of %s done. To resume it: throngctl cleanup %s.",
		c.By, stamp(c.At), c.Ending, sent, FormatCount(c.Done), Counted(c.Agents, "agent", "agents"), of)
}

// CleanedState describes briefly how far a run is cleaned up, or returns "" if no cleanup has begun.
func (r *RunRecord) CleanedState() string {
	switch n := len(r.Cleaned); {
	case n == 0:
		return ""
	case r.Cleaned[n-1].Whole():
		return "cleaned up"
	case r.Cleaned[n-1].Ending == "":
		return "cleanup begun"
	}
	return "cleaned up in part"
}
