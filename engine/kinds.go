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
	FinishReason   = "finish"         // all cycles are done
	HopelessReason = "cannot succeed" // the run ends because it cannot succeed
)

// BreakerName is the author of changes that the run's circuit breaker makes.
const BreakerName = "breaker"

// kindsOfCheckpoints maps the reason of a checkpoint to its kind. Any other reason was entered by a person who ordered the checkpoint.
var kindsOfCheckpoints = map[string]string{
	"interval":  "by time",
	"cycle":     "by cycle",
	"pause":     "at a pause",
	BreakerName: "at a pause",
	"quota":     "at a pause",
	"stop":      "at the end",
	"budget":    "at the end",

	FinishReason:   "at the end",
	HopelessReason: "at the end",
	PanicReason:    emergency,
	"SIGTERM":      emergency,
	"SIGHUP":       emergency,
	QuitReason:     emergency,
}

// QuitReason is the reason of a checkpoint taken because the system ended the program, as at log-out.
const QuitReason = "log-out or quit"

// ForkReason precedes the parent's ID in the reason of a fork's first checkpoint.
const ForkReason = "forked from "

// Kind describes briefly why a checkpoint was taken: by time, at a pause, at the end, emergency, manual, or the start of a fork.
func (c *CheckpointRecord) Kind() string {
	if strings.HasPrefix(c.Reason, ForkReason) {
		return "start of the fork"
	}
	if kind, ok := kindsOfCheckpoints[c.Reason]; ok {
		return kind
	}
	return "manual"
}

// Emergency reports whether the checkpoint was taken because the program had to end.
func (c *CheckpointRecord) Emergency() bool { return c.Kind() == emergency }
