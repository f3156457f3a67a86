package engine

import "strings"

const emergency = "emergency"

// Reasons for the end of a run that finished.
const (
	AllDone  = "all cycles are done"
	NoAgents = "no agents are active"
)

// Reasons for checkpoints that the engine takes.
const (
	PanicReason    = "panic"          // a goroutine of the run panicked
	HopelessReason = "cannot succeed" // the run ends because it cannot succeed
)

// BreakerName is the author of changes that the run's circuit breaker makes.
const BreakerName = "breaker"

// kindsOfCheckpoints tells by its reason what a checkpoint is; one with another reason was ordered by a person, who may
// have given any.
var kindsOfCheckpoints = map[string]string{
	"interval":  "by time",
	"pause":     "at a pause",
	BreakerName: "at a pause",
	"quota":     "at a pause",
	"stop":      "at the end",
	"budget":    "at the end",

	HopelessReason: "at the end",
	PanicReason:    emergency,
	"SIGTERM":      emergency,
	"SIGHUP":       emergency,
	QuitReason:     emergency,
}

// QuitReason is the reason of a checkpoint that was taken because the window's program was told to end without being
// asked, as at log-out.
const QuitReason = "log-out or quit"

// ForkReason stands before the parent's id in the reason of the checkpoint that a fork begins with.
const ForkReason = "forked from "

// Kind says in a word or two what a checkpoint was taken for: by time, at a pause, at the end, emergency, by hand, or for
// a fork to begin with.
func (c *CheckpointRecord) Kind() string {
	if strings.HasPrefix(c.Reason, ForkReason) {
		return "its beginning"
	}
	if kind, ok := kindsOfCheckpoints[c.Reason]; ok {
		return kind
	}
	return "by hand"
}

// Emergency reports whether it was taken because the program had to end.
func (c *CheckpointRecord) Emergency() bool { return c.Kind() == emergency }
