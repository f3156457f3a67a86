package experimenting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
	screen "github.com/throng-sim/throng/ui/experiments"
)

// Open reads an experiment and adds it to the list. The mistakes of a file are part of the details.
func (d *Desk) Open(ctx context.Context, path string) (*screen.Details, error) {
	defer d.changed()
	o, _, err := d.of(path)
	if err != nil {
		return nil, err
	}
	title := screen.Name(path)
	if r, err := o.Read(); err == nil && r.Title != "" { // from before there were mistakes
		title = r.Title
	}
	details := &screen.Details{Path: o.File(), Title: title, Command: experiments.Command(o.File())}
	x, err := d.current(path)
	if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
		details.Mistakes = mistakes.Problems()
		err := o.Use(title)
		if errors.Is(err, steering.ErrDamaged) { // it is replaced
			err = nil
		}
		if was := d.continuing(o); err == nil && was != nil {
			details.Continues = true
			err = describe(ctx, was, details)
		}
		return details, err
	}
	if err != nil {
		return nil, err
	}
	if err := x.Orders.Use(x.Title); err != nil && !errors.Is(err, steering.ErrDamaged) {
		return nil, err
	}
	return details, describe(ctx, x, details)
}

// continuing returns an experiment as it was before its file had mistakes, if it is in progress; else nil.
func (d *Desk) continuing(o *steering.Orders) *experiments.Experiment {
	d.mu.Lock()
	was, here := d.opened[o.File()], d.running[o.File()] != nil
	d.mu.Unlock()
	if here || o.Executing() != nil {
		return was
	}
	return nil
}

// describe describes an experiment without mistakes.
func describe(ctx context.Context, x *experiments.Experiment, to *screen.Details) error {
	s, err := x.Status(ctx)
	if err != nil {
		return err
	}
	f, err := x.Forecast(ctx, s)
	if err != nil {
		return err
	}
	if f.Runs > 0 {
		to.Forecast = f.String()
	}
	to.Title, to.Scenario = x.Title, x.Scenario
	to.Design = fmt.Sprintf("%s: %s", x.Design.Kind, engine.Counted(int64(len(s.Plan.Points)), "point", "points"))
	to.Replicates = engine.Counted(int64(len(x.Replicates.Seeds)), "seed", "seeds")
	if u := x.Replicates.Until; u != nil {
		width := findings.Text(u.HalfWidth)
		if u.Relative {
			width = findings.Text(100*u.HalfWidth) + "%"
		}
		to.Replicates += fmt.Sprintf(", and more until the 95%% interval of %s is ±%s or narrower, at most %d", u.Of, width, u.AtMost)
	}
	var budget []string
	if b := x.Budget.USD; b > 0 {
		budget = append(budget, fmt.Sprintf("$%g", b))
	}
	if b := x.Budget.Time; b > 0 {
		budget = append(budget, engine.FormatDuration(b))
	}
	to.Budget = strings.Join(budget, ", ")
	for i := range x.Factors {
		to.Factors = append(to.Factors, screen.Factor{Name: x.Factors[i].Name, Levels: levels(&x.Factors[i])})
	}
	for _, w := range x.CRN() {
		to.Pairing = append(to.Pairing, w.String())
	}
	return nil
}

// levels describes the values of a factor.
func levels(f *experiment.Factor) string {
	var text string
	if r := f.Range; r != nil {
		text = findings.Text(r.From) + " to " + findings.Text(r.To)
		if r.Log {
			text += ", by its logarithm"
		}
	} else {
		all := make([]string, len(f.Levels))
		for i, v := range f.Levels {
			all[i] = v.Text
		}
		text = strings.Join(all, ", ")
	}
	if f.At > 0 {
		text += fmt.Sprintf("; from cycle %d on", f.At)
	}
	return text
}

// Report writes the HTML report to a file.
func (d *Desk) Report(ctx context.Context, path, to string) error {
	return d.write(ctx, path, func(x *experiments.Experiment, t *findings.Table) error {
		var text bytes.Buffer
		if err := x.Report(&text, t); err != nil {
			return err
		}
		return authoring.Replace(to, text.Bytes())
	})
}

// Export writes the tables of runs and of effects into a new folder inside dir, and returns its path.
func (d *Desk) Export(ctx context.Context, path, dir string) (string, error) {
	name := filepath.Join(dir, screen.Name(path))
	to := name
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", err
		}
		to = fmt.Sprintf("%s-%d", name, n)
	}
	return to, d.write(ctx, path, func(x *experiments.Experiment, t *findings.Table) error { return x.Export(to, storage.CSV, t) })
}

// write calls f with the experiment and its runs.
func (d *Desk) write(ctx context.Context, path string, f func(*experiments.Experiment, *findings.Table) error) error {
	t, err := d.Findings(ctx, path)
	if err != nil {
		return err
	}
	file, err := d.file(path)
	if err != nil {
		return err
	}
	d.mu.Lock()
	x := d.opened[file]
	d.mu.Unlock()
	return f(x, t)
}

// Forget removes an experiment from the list. Its file and its runs stay.
func (d *Desk) Forget(_ context.Context, path string) error {
	defer d.changed()
	o, e, err := d.of(path)
	if err != nil {
		return err
	}
	if e != nil {
		return errInProgress
	}
	d.mu.Lock()
	delete(d.opened, o.File())
	delete(d.broken, o.File())
	delete(d.problems, o.File())
	d.mu.Unlock()
	return o.Forget()
}
