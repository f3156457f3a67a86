// Package setup is the screen that sets up a run: scenario, parameters, settings, launch.
package setup

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/fleet"
)

// Choice is a scenario in the list.
type Choice struct {
	Name         string // a built-in's name or a file's path
	Title, About string
	BuiltIn      bool
	Favorite     bool // favorites come first
	Draft        bool // the editor keeps unsaved edits of it
	New          bool // a new scenario that was never saved, by its template; only the editor opens it
}

// Scenario is a scenario that was read.
type Scenario struct {
	Name, Title, About string
	Parameters         []Parameter
	Services           []Service
	Agents             int
	Cycle              time.Duration   // simulated time of a cycle
	Arrivals           string          // how the agents of a cycle arrive; "" if they start together
	Settings           engine.Settings // for a new run: defaults, saved settings, environment and scenario
	Graph              engine.Graph    // of the chain of a session
	Warnings           []string
	Population         *view.Population // how the agents were drawn from a file; nil if they were not
	Fork               *Forked          // nil if it is not a fork
}

// Kind is the type of a parameter's values.
type Kind uint8

// The kinds of parameters. OneOf is a value of the choices.
const (
	Number Kind = iota
	Whole
	Text
	Switch
	OneOf
)

// Parameter is a parameter of a scenario.
type Parameter struct {
	view.ParameterSpec
	Kind     Kind
	Min, Max float64 // of numbers; infinite if unlimited
	Default  string
}

// Service is a service of a scenario and its address; mock:shop is the embedded shop. Secret names the secret of a database's password or a
// model service's key. Models are the models that the scenario calls there.
type Service struct {
	Name, Kind, URL, Secret string
	Models                  string // separated by ", "
}

// Missing is a missing secret of a service. Kept says where an entered secret is stored.
type Missing struct{ Service, Secret, Problem, Kept string }

// Stored is a secret of a service that was found in a place. Kept says where another value is stored.
type Stored struct{ Service, Secret, Place, Kept string }

// Requirements is what must be known or done before a launch.
type Requirements struct {
	Missing   []Missing
	Stored    []Stored
	Writing   string   // the model that writes the population and its forecast cost; "" if none
	Unwritten int      // number of personas to write
	Changed   []string // differences between a fork and its parent
	Lost      []string // what a fork cannot restore
}

// secrets returns the names of all secrets.
func (r *Requirements) secrets() (names []string) {
	for _, m := range r.Missing {
		names = append(names, m.Secret)
	}
	for _, s := range r.Stored {
		names = append(names, s.Secret)
	}
	return names
}

// Unreadable lists the errors in a scenario's file, one per line.
type Unreadable string

func (u Unreadable) Error() string { return string(u) }

// Order is a run to launch.
type Order struct {
	Scenario string            // a built-in's name or a file's path; "" for a fork
	Fork     Fork              // the zero value is a run from the beginning
	Given    map[string]string // parameters that differ from their default, as texts
	Settings engine.Settings
	Allow    []string        // addresses that the user allows the file to call
	At       time.Time       // start time; zero is now
	Start    <-chan struct{} // starts it early
	Fleet    fleet.Use       // which processes execute the sessions
	Awaits   func(bool)      // called with true while the run waits for the first worker; may be nil
	Waits    func(bool)      // called with true while the run waits for the end of another; may be nil
}

// Desk is what the screen needs from the application. Its methods may take long, except for Remote.
type Desk interface {
	// Choices lists the built-in scenarios, then favorite and recent files.
	Choices(ctx context.Context) ([]Choice, error)
	// Favor stores whether a scenario is a favorite.
	Favor(ctx context.Context, name string, star bool) error
	// Scenario reads a scenario. Errors in the file are Unreadable.
	Scenario(ctx context.Context, name string, given map[string]string) (*Scenario, error)
	// ForkFrom reads the scenario of a fork. Errors in the file are Unreadable.
	ForkFrom(ctx context.Context, f Fork, given map[string]string) (*Scenario, error)
	// Choose counts the active agents. Errors are *engine.FieldError of agents and filter, joined.
	Choose(ctx context.Context, o Order) (int, error)
	// Requirements returns what a launch needs.
	Requirements(ctx context.Context, o Order) (Requirements, error)
	// Forecast returns the forecast of a run. It calls no service. Errors are *engine.FieldError.
	Forecast(ctx context.Context, o Order) (engine.Forecast, error)
	// Preset describes the limits that suit this machine, for use before the first measurement.
	Preset(ctx context.Context) (string, error)
	// Preflight runs all checks concurrently; fresh also repeats those whose results are recent. It calls told with all results, from any
	// goroutine, when it starts and after each result.
	Preflight(ctx context.Context, o Order, fresh bool, told func([]engine.Check)) ([]engine.Check, error)
	// Recheck makes the next checks send their requests again, instead of using recent answers.
	Recheck()
	// Allow stores that the file of an order may call the addresses that the order allows.
	Allow(ctx context.Context, o Order) error
	// LowerConnections limits the database connections for sending results.
	LowerConnections(ctx context.Context, most int) error
	// KeepSecret stores a secret in the system's keychain or, without one, until the program ends.
	KeepSecret(ctx context.Context, name, value string) error
	// Unallowed returns the addresses that the file of an order may not call yet.
	Unallowed(ctx context.Context, o Order) ([]engine.Destination, error)
	// InProgress says what is in progress in this window, which a launched run waits for; "" if nothing is. It does not wait.
	InProgress() string
	// Launch starts a run at its start time, when no other is in progress; canceling ctx stops it before that. Errors are *engine.FieldError, joined; errors in the file
	// are Unreadable. While a model writes the population, Launch reports the progress to writing, and canceling ctx stops it.
	Launch(ctx context.Context, o Order, writing func(done, total int)) error
	// Fleet lets workers of other computers join; nil if runs stay in this process. It does not wait.
	Fleet() fleet.Host
	// Remote names the database for results, without user and password; "" if none is configured. It does not wait.
	Remote() string
	// TestService sends one request to a service and describes the response. It sends nothing to an address that the file may not call.
	TestService(ctx context.Context, o Order, s Service) (string, error)
}
