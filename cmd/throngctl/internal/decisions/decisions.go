// Package decisions has the commands about models and the rules that can replace them.
package decisions

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/surrogate"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Terminal is what the commands need of the program.
type Terminal struct {
	Out  io.Writer
	JSON bool
	// With opens the store and finds a run by a name; "" is the newest run.
	With func(ctx context.Context, name string, f func(*sqlite.Store, engine.RunRecord) error) error
}

// Agreement prints how often models and rules answered the same.
type Agreement struct {
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// Run is called by kong.
func (c *Agreement) Run(ctx context.Context, t *Terminal) error {
	return t.With(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if err := review.CheckHere(&r); err != nil {
			return err
		}
		result, err := review.Agreement(ctx, store, r.ID)
		if err == nil && t.JSON {
			return answer.Print(t.Out, answer.Agreement{Run: r.ID, Result: result})
		} else if err == nil {
			err = show.Agreement(t.Out, result)
		}
		return err
	})
}

// Learn learns a rule from the answers of a model.
type Learn struct {
	RunID  string   `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	Step   string   `arg:"" optional:"" help:"Step whose answers are learned, such as decide_shop: the only argument, or the one after the run."`
	Out    string   `short:"o" placeholder:"FILE" help:"File to write the rule to (default: STEP.rule.json)."`
	Table  bool     `help:"Learn a table of shares by segment instead of a logistic regression; --fields names the segments."`
	Fields []string `sep:"," placeholder:"FIELD" help:"Use only these fields, such as agent.age, agent.memory.spent or now.weekday (default: all)."`
	JSON   bool     `name:"json" help:"Print JSON."`
}

// Run is called by kong.
func (c *Learn) Run(ctx context.Context, t *Terminal) error {
	if err := flags.RunFirst(&c.RunID, &c.Step, "step", "a step of a model, such as throngctl learn decide_shop"); err != nil {
		return err
	}
	o := surrogate.Options{Kind: surrogate.Logistic, Fields: c.Fields, Step: c.Step}
	if c.Table {
		o.Kind = surrogate.Table
	}
	if c.Out == "" {
		c.Out = strings.ReplaceAll(c.Step, ".", "_") + ".rule.json"
	}
	return t.With(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		rule, err := review.Learn(ctx, store, &r, o)
		if err != nil {
			return err
		}
		text, err := rule.Text()
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.Out, text, 0o644); err != nil { //nolint:gosec // the user shares rules with their scenario
			return fmt.Errorf("write the rule: %w", err)
		}
		if t.JSON {
			return answer.Print(t.Out, answer.Learned{
				File: c.Out, Kind: rule.Kind, Step: rule.Step, Fields: rule.Names(), Answers: len(rule.Answers), Learned: rule.Learned,
				Warning: rule.Learned.HeldOut.Warning(),
			})
		}
		return show.Learned(t.Out, c.Out, rule)
	})
}
