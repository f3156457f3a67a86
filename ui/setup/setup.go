// Package setup is the screen on which a run is put together: a scenario, its parameters, the settings, the launch.
package setup

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Choice is a scenario that can be picked.
type Choice struct {
	Name         string // what Scenario takes: a built-in's name or a file's path
	Title, About string
	BuiltIn      bool
	Favourite    bool // it stands above the others
}

// Scenario is one that was read.
type Scenario struct {
	Name, Title, About string
	Parameters         []Parameter
	Services           []Service
	Agents             int
	Cycle              time.Duration   // simulated time of a cycle
	Settings           engine.Settings // for a new run: defaults, saved ones, the environment's and the scenario's
	Graph              engine.Graph    // of the chain that a session runs
	Warnings           []string
	Fork               *Forked // where it begins; nil is a new run from the beginning
}

// Kind is what values a parameter can have.
type Kind uint8

// The kinds of parameters. OneOf is one of its choices.
const (
	Number Kind = iota
	Whole
	Text
	Switch
	OneOf
)

// Parameter is one of a scenario's.
type Parameter struct {
	Name, Title, About string
	Kind               Kind
	Default            string
	Min, Max           float64 // infinite where there is no bound
	Choices            []string
}

// Service is one of a scenario's with its address; mock:shop is the embedded one. Secret is the name of what a
// database's password or the key of a service of models is; Models are those that such a service is asked for, in order.
type Service struct {
	Name, Kind, URL, Secret string
	Models                  string // with ", " between them
}

// Missing is a secret that a service wants and that is not there. Kept says where one is kept that is entered.
type Missing struct{ Service, Secret, Problem, Kept string }

// Outlook is what is to be known before a launch.
type Outlook struct {
	Missing   []Missing
	Writing   string   // who writes the population, and what that may cost; "" is nobody
	Unwritten int      // how many personas are to be written
	Changed   []string // what a fork has otherwise than its parent
	Lost      []string // what a fork cannot bring back, or leaves behind
}

// Unreadable says why a scenario cannot be read, in lines: what is wrong in its file, and where.
type Unreadable string

func (u Unreadable) Error() string { return string(u) }

// Order is what is to be launched.
type Order struct {
	Scenario string            // a built-in's name or a file's path; "" for a fork
	Fork     Fork              // the zero value is a run from the beginning
	Given    map[string]string // parameters that differ from their default, as texts
	Settings engine.Settings
	Allow    []string        // addresses that the person allows the file to call
	At       time.Time       // when it is to start; zero is at once
	Start    <-chan struct{} // starts it sooner
}

// Desk is what the screen asks for. Its methods may take long, but for Remote.
type Desk interface {
	// Choices lists the built-in scenarios, then the favourite files and those used lately.
	Choices(ctx context.Context) ([]Choice, error)
	// Favour remembers whether a scenario is a favourite.
	Favour(ctx context.Context, name string, favourite bool) error
	// Scenario reads a scenario. Mistakes in the file are Unreadable.
	Scenario(ctx context.Context, name string, given map[string]string) (*Scenario, error)
	// ForkFrom reads the scenario of a fork. Mistakes in the file are Unreadable.
	ForkFrom(ctx context.Context, f Fork, given map[string]string) (*Scenario, error)
	// Choose counts the agents that take part. Mistakes are *engine.FieldError of agents and filter, joined.
	Choose(ctx context.Context, o Order) (int, error)
	// Outlook tells what a launch would need.
	Outlook(ctx context.Context, o Order) (Outlook, error)
	// Forecast tells what a run would take; it asks nobody outside. Mistakes are *engine.FieldError.
	Forecast(ctx context.Context, o Order) (engine.Forecast, error)
	// Preset says in words how many at once suit this machine where nothing was measured.
	Preset(ctx context.Context) (string, error)
	// Preflight checks what a launch needs, all at once; anew asks those too who have answered lately. Told hears of the list,
	// from any goroutine, at first and after each answer.
	Preflight(ctx context.Context, o Order, anew bool, told func([]engine.Check)) ([]engine.Check, error)
	// Allow remembers that the file of an order may call the addresses that the order allows.
	Allow(ctx context.Context, o Order) error
	// LowerConnections lets the sending of results have so many connections at most.
	LowerConnections(ctx context.Context, most int) error
	// KeepSecret keeps a secret in the system's keychain; where there is none, until the program ends.
	KeepSecret(ctx context.Context, name, value string) error
	// Unallowed returns the addresses that the file of an order was not allowed to call yet.
	Unallowed(ctx context.Context, o Order) ([]engine.Destination, error)
	// Launch starts a run, once its time has come; the end of ctx gives up until then. Mistakes are *engine.FieldError, joined; those in the file are Unreadable. While a model
	// writes the population, writing is told how far it is, and the end of ctx gives up.
	Launch(ctx context.Context, o Order, writing func(done, total int)) error
	// Remote names the database that results can go to, without user and password; "" if none is configured. It does
	// not wait.
	Remote() string
	// TestService asks a service of an order at its address once and returns what came back in words. What the file was
	// not allowed is not sent.
	TestService(ctx context.Context, o Order, s Service) (string, error)
}
