// Package report writes the report of a run as one HTML page without scripts or external resources. It is for readers who
// did not watch the run, and can be printed.
package report

import (
	"bytes"
	"context"
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"sync"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/agreement"
	"github.com/throng-sim/throng/engine/validation"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/visible"
	"github.com/throng-sim/throng/engine/voices"
	"github.com/throng-sim/throng/storage"
)

// Source is the interface of a store for reports.
type Source interface {
	storage.Reader
	// LatestErrors returns the error classes with up to most occurrences, newest first.
	LatestErrors(ctx context.Context, run engine.RunID, most int) ([][]engine.ErrorNote, error)
}

// Extras is the content of a report that is not in the store. Everything is optional.
type Extras struct {
	Version string                          // version of Throng
	Agent   func(index int) (string, error) // returns the ID of an agent; nil identifies agents by their index
	Calls   map[string]view.StepCall        // what steps call, by their path without iterations
	Clock   engine.Clock                    // of the scenario
	Acted   string                          // the event that counts as acted
	Persona func(index int) ([]engine.Fact, error)
	// Timeline says when processes executed the run; nil leaves out when it was interrupted and resumed.
	Timeline  *engine.RunTimeline
	Audit     *Audit
	Against   *Comparison
	Real      *validation.Result // the comparison with real data; nil if there are none
	Agreement *agreement.Result  // how often models and rules answered the same; nil leaves it out
	Voices    *voices.Crowd      // how different the answers of models are; nil leaves it out
	// Transcript returns the beginning of what the agents said; nil leaves it out.
	Transcript func(ctx context.Context) (view.Transcript, error)
	Population *view.Population // how the agents were drawn from a file; nil if they were not
}

// Audit is the result of an audit.
type Audit struct {
	Summary string
	Equal   bool
}

// Comparison is a comparison with another run, formatted.
type Comparison struct {
	Run         engine.RunRecord
	Totals      engine.Totals
	From, To    int      // the cycles that both runs completed, without To
	Differences []string // in the inputs of the runs
	Rows        []ComparedRow
	Method      string
}

// ComparedRow is one measure of both runs.
type ComparedRow struct {
	Group, Name             string
	Other, This, Difference string
	Chance                  string // probability that the difference is random
	Clear                   bool   // the difference is significant
}

//go:embed page.html
var pageText string

//go:embed style.css
var styleText string

// parsed are the parts of a page, and pageTemplate is a page. They are read when they are first used: most commands write no report.
// A template that was executed cannot be cloned.
var (
	parsed       = sync.OnceValue(func() *template.Template { return template.Must(template.New("report").Parse(pageText)) })
	pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(parsed().Clone()) })
)

// Write writes the report of a run, or of the progress so far. The same run produces the same bytes.
func Write(ctx context.Context, w io.Writer, src Source, run engine.RunID, extras Extras) error {
	p, err := newPage(ctx, src, run, &extras)
	if err != nil {
		return fmt.Errorf("report of run %s: %w", run, err)
	}
	var out bytes.Buffer // errors must not leave an incomplete page
	if err := pageTemplate().Execute(&out, p); err != nil {
		return fmt.Errorf("report of run %s: %w", run, err)
	}
	_, err = visible.NewWriter(w).Write(out.Bytes())
	return err
}
