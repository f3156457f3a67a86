// Package editor is the screen on which the files of a scenario are edited and one agent is tried.
package editor

import (
	"context"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Document is a scenario's files as they are on the disk, or in the program.
type Document struct {
	Name    string // as Setup knows it
	BuiltIn bool   // it can be saved elsewhere only
	Files   []File // the scenario's own first
	Draft   *Draft // edits that were kept and never saved; nil is none
}

// File is one of a scenario's. Stamp says which text it was when it was read; "" is that it is not there yet.
type File struct {
	Name  string // relative to the scenario's folder
	Text  []byte
	Stamp string
}

// Draft are edits of a document.
type Draft struct {
	At       time.Time
	Texts    map[string][]byte // by file
	Outdated bool              // the files were changed since by somebody else
}

// Order is a scenario as it is edited.
type Order struct {
	Name  string
	Texts map[string][]byte // that are other than on the disk, by file
	Given map[string]string // parameters
}

// Findings are what is wrong with a scenario.
type Findings struct {
	Problems []Problem
	Files    []File // that it refers to and that can be edited, the scenario's own first
	Agents   int    // 0 where it cannot be read
}

// Problem is a mistake at a line, or a warning.
type Problem struct {
	File       string
	Line, Col  int
	Text, Hint string
	Warning    bool
}

// String is all of it.
func (p Problem) String() string {
	if p.Hint == "" {
		return p.Text
	}
	return p.Text + ": " + p.Hint
}

// brief is what stands beside the line: the problem, and what was meant if that is known.
func (p Problem) brief() string {
	if meant, _, ok := strings.Cut(p.Hint, "?"); ok && len(meant) < 60 {
		return p.Text + ": " + meant + "?"
	}
	return p.Text
}

// Conflict says that files are other on the disk than they were when they were read.
type Conflict struct{ Files []string }

func (c *Conflict) Error() string {
	return strings.Join(c.Files, ", ") + " was changed by another program"
}

// Trial is a session that is to be tried.
type Trial struct {
	Order
	Settings *engine.Settings // nil are those of a new run
	Agent    string           // id or index; "" is the first
	Allow    []string         // addresses that the person allows the file to call
}

// Values are what is to be put into a scenario's file.
type Values struct {
	Parameters map[string]string
	Cycles     int // 0 leaves it
	Services   map[string]string
}

// Desk is what the screen asks for. Its methods may take long.
type Desk interface {
	// Open reads a scenario's files.
	Open(ctx context.Context, name string) (*Document, error)
	// Check reads a scenario as it is edited.
	Check(ctx context.Context, o Order) (Findings, error)
	// Save writes files in place of those that have their stamps, and returns them with new ones. A *Conflict says that
	// nothing was written as some are others now; over writes all the same.
	Save(ctx context.Context, name string, files []File, over bool) ([]File, error)
	// SaveAs writes the scenario with all that belongs to it into a folder, and returns its new name. Files that are there
	// are a *Conflict unless over is set.
	SaveAs(ctx context.Context, o Order, dir string, over bool) (name string, err error)
	// Changed returns those of the files that are others on the disk now.
	Changed(ctx context.Context, name string, files []File) ([]File, error)
	// Keep keeps edits that are not saved for the next start; without any, what was kept is forgotten.
	Keep(ctx context.Context, o Order) error
	// Put returns the scenario's own file with values in their places, all else as it is.
	Put(ctx context.Context, o Order, v Values) (file string, text []byte, err error)
	// Unallowed returns the addresses that the file of a trial was not allowed to call yet.
	Unallowed(ctx context.Context, t Trial) ([]engine.Destination, error)
	// Try runs a session. A trial beside an error is what it did until then. Mistakes are *engine.FieldError, joined.
	Try(ctx context.Context, t Trial) (*engine.Trial, error)
}
