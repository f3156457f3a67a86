// Package editor is the screen that edits the files of a scenario and tries one agent.
package editor

import (
	"context"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// Document is the saved files of a scenario.
type Document struct {
	Name    string // the name in Setup
	BuiltIn bool   // a built-in or a template, which can only be saved as a copy
	New     bool   // a template for a new scenario, which has no file yet
	Files   []File // the scenario's own file first
	Draft   *Draft // edits that were never saved; nil if none
}

// Template is what a new scenario can begin with.
type Template struct{ Name, Title, About string }

// File is a file of a scenario. Stamp identifies its content at the time of reading; "" if the file does not exist yet.
type File struct {
	Name  string // relative to the scenario's folder
	Text  []byte
	Stamp string
}

// Draft is the unsaved edits of a document.
type Draft struct {
	At       time.Time
	Texts    map[string][]byte // by file
	Outdated bool              // another program has changed the files since
}

// Order is a scenario as edited.
type Order struct {
	Name  string
	Texts map[string][]byte // edited files, by name
	Given map[string]string // parameters
}

// Findings is the result of checking a scenario.
type Findings struct {
	Problems []view.Problem
	Files    []File   // the scenario's own file and the files it refers to
	Agents   int      // 0 if the scenario has errors
	Fields   []string // of agents in expressions; nil if the scenario has errors
}

// Conflict says that another program has changed files since they were read.
type Conflict struct{ Files []string }

func (c *Conflict) Error() string {
	return strings.Join(c.Files, ", ") + " was changed by another program"
}

// Trial is a request to run one session.
type Trial struct {
	Order
	Settings *engine.Settings // nil: those of a new run
	Agent    string           // ID or index; "": the first agent
	Allow    []string         // addresses that the user allows the file to call
}

// Values are values to write into a scenario's file.
type Values struct {
	Parameters map[string]string
	Cycles     int // 0 keeps the value in the file
	Services   map[string]string
}

// Desk is what the screen needs from the application. Its methods may take long.
type Desk interface {
	// Templates lists what new scenarios can begin with. Open takes their names.
	Templates(ctx context.Context) ([]Template, error)
	// Open reads a scenario's files.
	Open(ctx context.Context, name string) (*Document, error)
	// Check checks a scenario as edited.
	Check(ctx context.Context, o Order) (Findings, error)
	// Save writes files and returns them with new stamps. If a file on disk does not have its stamp, Save writes nothing and returns a
	// *Conflict, unless over is set.
	Save(ctx context.Context, name string, files []File, over bool) ([]File, error)
	// SaveAs writes the scenario into a file, which it replaces, and its other files into the same folder. It returns the scenario's new
	// name. If one of the other files exists there, it returns a *Conflict, unless over is set.
	SaveAs(ctx context.Context, o Order, path string, over bool) (name string, err error)
	// Changed returns the files that have changed on disk.
	Changed(ctx context.Context, name string, files []File) ([]File, error)
	// Keep stores a draft of the edits for the next start; without edits it deletes the draft.
	Keep(ctx context.Context, o Order) error
	// Put returns the scenario's own file with values written into it.
	Put(ctx context.Context, o Order, v Values) (file string, text []byte, err error)
	// Unallowed returns the addresses that the file of a trial may not call yet.
	Unallowed(ctx context.Context, t Trial) ([]engine.Destination, error)
	// Try runs a session. A trial that is returned with an error shows what the session did before it. Errors of fields are
	// *engine.FieldError, joined.
	Try(ctx context.Context, t Trial) (*engine.Trial, error)
}
