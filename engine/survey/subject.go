package survey

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// Subject is a run whose agents can be asked.
type Subject struct {
	Run        engine.RunID
	Title      string
	Moments    []Moment // newest first; none if the run has no checkpoint
	Attributes []string // of the agents
	Models     []string // llm services of the scenario
}

// Moment is the start of a cycle that has a checkpoint.
type Moment struct {
	Cycle int
	At    time.Time // in simulated time
}

// Order asks agents of a run questions.
type Order struct {
	Run    engine.RunID
	Cycle  int    // the moment; [Newest] is the newest checkpoint
	Agents string // an expression that they match; "" asks all
	Survey *Survey
	From   Written // empty if it was not read from a file
}

// Written is a file of questions.
type Written struct {
	Name string
	Text []byte
}

// Newest stands for the newest checkpoint of a run.
const Newest = -1
