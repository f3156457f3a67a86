package engine

import "strings"

// Grade says how a check came out. The zero value is that it goes on; from GradeOK on they grow with the trouble.
type Grade uint8

// The grades. Unknown is what cannot be found out here.
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

// Check is a line of a check list, before a run or after it. It holds no secrets.
type Check struct {
	Name  string // of what is checked; one of a kind in its list
	Grade Grade
	Text  string // what was found; lines after the first are details
	Hint  string // what a person can do; "" is nothing
	Mend  string // what a button can do: one of the ways, with what it is done to after a space; "" is nothing
}

// The ways to mend what a check has found.
const (
	MendAgain       = "again"       // check again
	MendAllow       = "allow"       // HOST: requests may go there
	MendSecret      = "secret"      // NAME: ask for it
	MendLimit       = "limit"       // N: have so many sessions in flight at the start, and at most
	MendConnections = "connections" // N: let the sending of results have at most so many
	MendSettings    = "settings"    // open the settings
	MendFree        = "free"        // show what can be deleted, of runs and checkpoints
	MendSend        = "send"        // send the rows that wait
	MendExport      = "export"      // write the run's files
)

// Way is which of the ways mends it, and what it is done to. Both are "" where nothing does.
func (c *Check) Way() (way, to string) {
	way, to, _ = strings.Cut(c.Mend, " ")
	return way, to
}

// Button is what stands on the button that mends it; "" where nothing does.
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
		return "Lower to " + to + " at once"
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

// WorstGrade is the gravest of a list.
func WorstGrade(all []Check) (worst Grade) {
	for _, c := range all {
		worst = max(worst, c.Grade)
	}
	return worst
}
