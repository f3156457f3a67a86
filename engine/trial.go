package engine

import "time"

// Trial is one session that was run alone for somebody to see what each of its steps does. Nothing of it is stored; for
// people: secrets are masked, outputs of private steps left out, long texts shortened.
type Trial struct {
	Agent   int // index
	ID      string
	Chain   string
	Outcome Outcome
	Class   Class
	Path    string // the step whose failure is the session's, or that stopped it
	Error   string
	Because string // why it stopped
	Took    time.Duration
	Usage   Usage
	Persona []Fact      // the agent's attributes; values are JSON texts
	Before  Remembered  // what the agent remembers when the session begins
	After   Remembered  // and what it would once the cycle had ended; the same unless the session ended well
	Steps   []TrialStep // of the chain itself, those inside of others in these
	Events  []TrialEvent
	Said    []TrialMessage
}

// Remembered is what an agent remembers, for people.
type Remembered struct {
	Fields []Fact   // values are JSON texts
	Notes  []string // JSON texts, oldest first
	Inbox  []Heard
}

// TrialStep is what one step did.
type TrialStep struct {
	Path, Name, Label, Kind string
	Service                 string // that it asks; "" is none
	Pass                    int    // of the loop that it stands in, from 1; 0 is none
	File                    string // where it is defined, with its line; "" is not known
	Line                    int
	Status                  StepStatus
	Class                   Class
	Took                    time.Duration // by the clock on the wall, with what is inside of it
	Held                    time.Duration // because the engine held it back
	Attempts                int           // requests sent
	Statuses                []int
	Exchanges               []Exchange // in the order of their answers
	Output                  string     // JSON text; "" is none, or not to be shown
	Private                 bool       // its output is not to be shown
	Mocked                  bool       // the mock answered in place of what is not defined
	Usage                   *Usage     // nil is none
	Error                   string
	Shadowed                []string // fields of an http answer's body that are called as something of the answer itself
	Inner                   []TrialStep
}

// Retries is how many of the requests were sent again.
func (s *TrialStep) Retries() int { return max(s.Attempts-1, 0) }

// TrialEvent is a row of results that the session emitted.
type TrialEvent struct{ Path, Name, Data string }

// TrialMessage is what the session would have said to others.
type TrialMessage struct {
	To   []string // ids of the first of them
	More int      // how many others
	Body string   // JSON text
}

// Walk calls f for every step, outer ones first, with how deep it stands.
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
