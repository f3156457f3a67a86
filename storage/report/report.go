// Package report writes what is to be told of a run as one HTML page that needs nothing else: no script, no network. It is
// for people who were not there; it reads well on paper, too.
package report

import (
	"bytes"
	"context"
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/visible"
	"github.com/throng-sim/throng/storage"
)

// Source is what a report needs of a store.
type Source interface {
	storage.Reader
	// Changes returns what was changed mid-run, in order of time.
	Changes(ctx context.Context, run engine.RunID) ([]engine.ChangeRow, error)
	// LatestErrors returns the classes of errors, each with its latest occurrences, newest first and at most so many.
	LatestErrors(ctx context.Context, run engine.RunID, most int) ([][]engine.ErrorNote, error)
	// Checkpoints lists those of a run that are kept, newest first.
	Checkpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error)
}

// Beside is what a report tells that is not in the store. The zero value leaves all of it out.
type Beside struct {
	Version  string                          // Throng's
	Agent    func(index int) (string, error) // its id; nil names agents by their index
	Services map[string]string               // by the step that asks them, without iterations
	Audit    *Audit
	Against  *Comparison
}

// Audit is what came of an audit.
type Audit struct {
	Summary string
	Equal   bool
}

// Comparison is the run beside another one, in words.
type Comparison struct {
	Run         engine.RunRecord
	Totals      engine.Totals
	From, To    int      // the cycles that both have done, To not included
	Differences []string // how the run was made otherwise
	Rows        []ComparedRow
	Method      string
}

// ComparedRow is one measure of both runs.
type ComparedRow struct {
	Group, Name             string
	Other, This, Difference string
	Chance                  string // that the difference is by chance
	Clear                   bool   // it hardly is
}

//go:embed page.html
var pageText string

//go:embed style.css
var styleText string

var pageTemplate = template.Must(template.New("report").Parse(pageText))

// Write writes the report of a run. A run in progress is told as far as it has come. The same run gives the same bytes.
func Write(ctx context.Context, w io.Writer, src Source, run engine.RunID, beside Beside) error {
	p, err := newPage(ctx, src, run, &beside)
	if err != nil {
		return fmt.Errorf("report of run %s: %w", run, err)
	}
	var out bytes.Buffer // a page that breaks off half-way is none
	if err := pageTemplate.Execute(&out, p); err != nil {
		return fmt.Errorf("report of run %s: %w", run, err)
	}
	_, err = visible.NewWriter(w).Write(out.Bytes())
	return err
}
