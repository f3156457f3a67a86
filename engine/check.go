package engine

import "strings"

// Grade is the result of a check. The zero value means in progress. From GradeOK on, higher grades are worse.
type Grade uint8

// The grades. Unknown means that the result cannot be determined here.
const (
	GradeAwaited Grade = iota
	GradeUnknown
	GradeOK
	GradeWarning
	GradeProblem
)

func (g Grade) String() string {
	return [...]string{GradeAwaited: "checking", GradeUnknown: "not known", GradeOK: "ok", GradeWarning: "warning", GradeProblem: "problem"}[g]
}

// Check is a line of a list of checks, before or after a run. It contains no secrets.
type Check struct {
	Name  string // of the subject; unique in its list
	Grade Grade
	Text  string // the result; lines after the first are details
	Hint  string // what a person can do; "" if nothing
	Fix   string // what a button can do: one of the Fix constants, with its argument after a space; "" if nothing
}

// Fixes for what a check has found.
const (
	FixAgain       = "again"       // check again
	FixAllow       = "allow"       // HOST: allow requests to it
	FixSecret      = "secret"      // NAME: prompt for it
	FixLimit       = "limit"       // N: set the concurrency limit and its ceiling
	FixConnections = "connections" // N: limit the connections of the result sender
	FixSettings    = "settings"    // open the settings
	FixFree        = "free"        // show runs and checkpoints that can be deleted
	FixSend        = "send"        // send the pending rows
	FixExport      = "export"      // export the run's files
)

// FixAction returns the fix and its argument, or "" for both if there is none.
func (c *Check) FixAction() (way, to string) {
	way, to, _ = strings.Cut(c.Fix, " ")
	return way, to
}

// Button returns the label of the button for the fix, or "" if there is none.
func (c *Check) Button() string {
	way, to := c.FixAction()
	switch way {
	case FixAgain:
		return "Check again"
	case FixAllow:
		return "Allow " + to
	case FixSecret:
		return "Enter " + to + "…"
	case FixLimit:
		return "Lower to " + to + " sessions"
	case FixConnections:
		if to == "1" {
			return "Lower to 1 connection"
		}
		return "Lower to " + to + " connections"
	case FixSettings:
		return "Open Settings"
	case FixFree:
		return "Free space…"
	case FixSend:
		return "Send now"
	case FixExport:
		return "Export…"
	}
	return ""
}

// WorstGrade returns the worst grade of a list.
func WorstGrade(all []Check) (worst Grade) {
	for _, c := range all {
		worst = max(worst, c.Grade)
	}
	return worst
}
