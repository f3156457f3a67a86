package review

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/validation"
	"github.com/throng-sim/throng/storage"
)

// mostRealData is how many bytes a file with real data may have.
const mostRealData = 256 << 20

// RealData is real data that is not part of the scenario. The zero value takes the scenario's own.
type RealData struct {
	Name     string // of the file; "" takes the file that the scenario names
	Text     []byte
	Measures []string // COLUMN=FIGURE; none takes those of the scenario for its own file, else columns with names of figures
}

// ReadRealData reads a file with real data.
func ReadRealData(path string) (RealData, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return RealData{}, fmt.Errorf("read the real data: %w", err)
	case info.Size() > mostRealData:
		return RealData{}, &engine.FieldError{Field: "with", Problem: fmt.Sprintf("%s has more than %d MB", path, mostRealData>>20), Hint: "draw a sample of it"}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return RealData{}, fmt.Errorf("read the real data: %w", err)
	}
	return RealData{Name: filepath.Base(path), Text: text}, nil
}

// Validate compares a run with real data. Mistakes are *engine.FieldError or *scenario.Mistakes values.
func Validate(ctx context.Context, store storage.Reader, run engine.RunID, with RealData) (*validation.Result, error) {
	record, err := store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	if err := CheckHere(&record); err != nil {
		return nil, err
	}
	s, err := scenario.Restore(record.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario stored with run %s: %w", record.ID, err)
	}
	against, err := with.against(s)
	if err != nil {
		return nil, err
	}
	return validated(ctx, store, &record, s, against)
}

// against returns the real data for a scenario.
func (d *RealData) against(s *scenario.Scenario) (*validation.Against, error) {
	switch own := s.Against; {
	case d.Name == "" && own == nil:
		return nil, &engine.FieldError{
			Problem: "one run, and no real data to compare it with", Hint: "name another run, or real data with --with FILE, or add `validate_against` to the scenario",
		}
	case d.Name == "" && len(d.Measures) == 0:
		return own, nil
	case d.Name == "":
		return s.With(own.File, s.Source.Files[own.File], d.Measures)
	}
	return s.With(d.Name, d.Text, d.Measures)
}

// validated compares a run with real data.
func validated(ctx context.Context, store storage.Reader, r *engine.RunRecord, s *scenario.Scenario, against *validation.Against) (*validation.Result, error) {
	values, err := against.Collect(store.Sessions(ctx, r.ID, 0, 0), func() (end validation.Ending, err error) {
		end.Persona = s.Program(r.Settings.Seed).Persona
		if memory, _ := against.Needs(); memory {
			end.Memory, err = store.Memory(ctx, r.ID)
		}
		return end, err
	})
	if err != nil {
		return nil, fmt.Errorf("compare run %s with real data: %w", r.ID, err)
	}
	result := against.Compare(values)
	result.Shared = s.Shared()
	return result, nil
}
