package engine

import "time"

// Trial is one session that was run alone so that a user can inspect its steps. It is not stored. It is meant for
// display: secrets are masked, outputs of private steps omitted and long texts shortened.
type Trial struct {
	Agent   int // index
	ID      string
	Chain   string
	Outcome Outcome
	Class   Class
	Path    string // the step that failed or stopped the session
	Error   string
	Because string // why the session stopped
	Took    time.Duration
	Usage   Usage
	Persona []Fact      // the agent's attributes; values are JSON texts
	Before  Remembered  // what the agent remembers at the start of the session
	After   Remembered  // what it would remember after the cycle; the same as Before unless the session ended well
	Steps   []TrialStep // of the chain itself; nested steps are in Inner
	Events  []TrialEvent
	Said    []TrialMessage
}

// Remembered is an agent's memory, for display.
type Remembered struct {
	Fields []Fact   // values are JSON texts
	Notes  []string // JSON texts, oldest first
	Inbox  []InboxMessage
}

// TrialStep is the result of one step.
type TrialStep struct {
	Path, Name, Label, Kind string
	Service                 string // that the step calls; "" if none
	Pass                    int    // iteration of the enclosing loop, from 1; 0 outside a loop
	File                    string // file and line of the definition; "" if unknown
	Line                    int
	Status                  StepStatus
	Class                   Class
	Took                    time.Duration // wall time, including inner steps
	Throttled               time.Duration // time throttled
	Attempts                int           // requests sent
	Retries                 int           // of those, repetitions of another one
	Statuses                []int
	Exchanges               []Exchange // in order of their answers
	Output                  string     // JSON text; "" if there is none or it is private
	Private                 bool       // the output is not shown
	Mocked                  bool       // the mock answered for something that is not defined
	Usage                   *Usage     // nil if none
	Error                   string
	Shadowed                []string // fields of an HTTP answer's body that share a name with a property of the answer
	Inner                   []TrialStep
}

// TrialEvent is a result row that the session emitted.
type TrialEvent struct{ Path, Name, Data string }

// TrialMessage is a message that the session would have sent.
type TrialMessage struct {
	To   []string // IDs of the first recipients
	More int      // number of further recipients
	Body string   // JSON text
}

// Walk calls f for every step with its depth, outer steps first.
func (t *Trial) Walk(f func(depth int, s *TrialStep)) {
	var walk func(depth int, steps []TrialStep)
	walk = func(depth int, steps []TrialStep) {
		for i := range steps {
			f(depth, &steps[i])
			walk(depth+1, steps[i].Inner)
		}
	}
	walk(0, t.Steps)
}
