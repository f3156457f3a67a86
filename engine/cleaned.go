package engine

import (
	"fmt"
	"time"
)

// Cleaned is a cleanup of a run: a run of its own that removes at services what the agents of the first one made there.
type Cleaned struct {
	By       RunID     `json:"by"`
	At       time.Time `json:"at"`               // its end; its start where it has not ended
	Ending   string    `json:"ending,omitempty"` // as [Ending.String]; "" is that it has not ended
	Agents   int64     `json:"agents"`           // that it is for
	Done     int64     `json:"done"`             // of them, those whose things it removed
	Requests int64     `json:"requests"`         // that it sent, as far as it has ended
}

// Whole reports whether it removed everything.
func (c *Cleaned) Whole() bool { return c.Ending == EndFinished.String() && c.Done == c.Agents }

// Says says what was removed of a run, when and by which run, in a sentence; stamp writes its time.
func (c *Cleaned) Says(of RunID, stamp func(time.Time) string) string {
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

// CleanedState says in a word or two how far a run is cleaned up; "" is that no cleanup of it has begun.
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
