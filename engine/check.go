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
	Mend  string // what a button can do: one of the Mend constants, with its argument after a space; "" if nothing
}

// Fixes for what a check has found.
const (
	MendAgain       = "again"       // check again
	MendAllow       = "allow"       // HOST: allow requests to it
	MendSecret      = "secret"      // NAME: prompt for it
	MendLimit       = "limit"       // N: set the concurrency limit and its ceiling
	MendConnections = "connections" // N: limit the connections of the result sender
	MendSettings    = "settings"    // open the settings
	MendFree        = "free"        // show runs and checkpoints that can be deleted
	MendSend        = "send"        // send the pending rows
	MendExport      = "export"      // export the run's files
)

// Way returns the fix and its argument, or "" for both if there is none.
func (c *Check) Way() (way, to string) {
	way, to, _ = strings.Cut(c.Mend, " ")
	return way, to
}

// Button returns the label of the button for the fix, or "" if there is none.
func (c *Check) Button() string {
	way, to := c.Way()
	switch way {
	case MendAgain:
		return "Check again"
	case MendAllow:
		return "Allow " + to
	case MendSecret:
		return "Enter " + to + "…"
	case MendLimit:
		return "Lower to " + to + " sessions"
	case MendConnections:
		if to == "1" {
			return "Lower to 1 connection"
		}
		return "Lower to " + to + " connections"
	case MendSettings:
		return "Open Settings"
	case MendFree:
		return "Free space…"
	case MendSend:
		return "Send now"
	case MendExport:
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
