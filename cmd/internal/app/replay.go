package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/engine/service/pricing"
	"github.com/throng-sim/throng/storage/sqlite"
)

// ReplaySettings returns the default settings for a replay of a recorded run: its settings, without those that do not apply
// to a replay.
func ReplaySettings(of *engine.RunRecord) engine.Settings {
	s := of.Settings
	s.Record, s.Replay = false, of.ID
	s.Remote, s.TimeScale, s.Budget = false, 0, engine.Budget{}
	if s.Cycles == 0 { // the run was limited by wall time
		s.Cycles, s.Hours = of.Cycle, 0
	}
	return s
}

// RecordedParameters returns the parameters of a recorded run as texts for a command line.
func RecordedParameters(of *engine.RunRecord) map[string]string {
	given := map[string]string{}
	for name, text := range of.Source.Parameters {
		given[name] = text
		var plain string
		if json.Unmarshal([]byte(text), &plain) == nil {
			given[name] = plain
		}
	}
	return given
}

// replaying opens the recording that a launch replays, and replaces the scenario by the recorded one. The recording is nil
// if the launch is not a replay.
func (l Launch) replaying(ctx context.Context) (Launch, *sqlite.Recording, error) {
	if l.Settings.Replay == "" {
		return l, nil, nil
	}
	of, err := l.Store.Run(ctx, l.Settings.Replay)
	if err != nil {
		return l, nil, fmt.Errorf("the run to replay: %w", err)
	}
	l.Settings.Replay = of.ID
	changes, err := l.Store.Changes(ctx, of.ID)
	if err != nil {
		return l, nil, err
	}
	if err := errors.Join(checkRecorded(&of, changes), l.checkSame(&of)); err != nil {
		return l, nil, err
	}
	if l.Scenario, err = scenario.Restore(of.Source); err != nil { // with its written personas
		return l, nil, storedScenarioError(of.ID, err)
	}
	recording, err := l.Store.Recording(ctx, of.ID)
	return l, recording, err
}

// checkRecorded reports why a run cannot be replayed.
func checkRecorded(of *engine.RunRecord, changes []engine.ChangeRow) error {
	wrong := func(problem, hint string) error {
		return &engine.FieldError{Field: "replay", Problem: fmt.Sprintf("run %s %s", of.ID, problem), Hint: hint}
	}
	switch {
	case !of.Settings.Record:
		return wrong("was not recorded", "run the scenario again with --record")
	case of.Parent != "":
		return wrong("is a fork: its recording lacks the earlier cycles", "replay a run that starts at the beginning")
	case of.InProgress:
		return wrong("is in progress", "replay it when it has ended")
	case of.Ending != engine.EndFinished:
		return wrong(of.State()+", so its recording is incomplete", fmt.Sprintf("complete it first: throngctl resume %s", of.ID))
	}
	for _, c := range changes {
		if c.What == engine.InjectChange || c.What == engine.RetireChange {
			return wrong("was changed by the user ("+c.What+"), which a replay does not repeat", "record a run without such changes")
		}
	}
	return nil
}

// outcomes names settings that may change when a run is resumed and that affect how sessions end.
var outcomes = []string{"retries", "session-timeout", "chain-timeout", "cycle-timeout"}

// checkSame reports differences between a launch and the recorded run that it replays.
func (l Launch) checkSame(of *engine.RunRecord) error {
	var mistakes []error
	differs := func(field, have, want string) {
		mistakes = append(mistakes, &engine.FieldError{
			Field: field, Problem: fmt.Sprintf("is %s, but run %s was recorded with %s", have, of.ID, want), Hint: "use the recorded value",
		})
	}
	set, was := &l.Settings, &of.Settings
	for _, s := range config.RunSettings() {
		if (s.Fixed || slices.Contains(outcomes, s.Name)) && s.Name != "record" && s.Show(set) != s.Show(was) {
			differs(s.Name, s.Show(set), s.Show(was))
		}
	}
	if a, b := strings.Join(set.Agents, ", "), strings.Join(was.Agents, ", "); a != b {
		differs("agents", quotedOr(a, "all"), quotedOr(b, "all"))
	}
	if set.Filter != was.Filter {
		differs("filter", quotedOr(set.Filter, "none"), quotedOr(was.Filter, "none"))
	}
	if most := recordedCycles(of); set.Cycles == 0 || set.Cycles > most {
		differs("cycles", strconv.Itoa(set.Cycles), strconv.Itoa(most))
	}
	src, kept := &l.Scenario.Source, &of.Source
	for _, name := range bothNames(src.Parameters, kept.Parameters) {
		if a, b := src.Parameters[name], kept.Parameters[name]; a != b {
			differs("parameter "+name, quotedOr(a, "not set"), quotedOr(b, "none"))
		}
	}
	for _, name := range bothNames(src.Files, kept.Files) {
		unwritten := name == scenario.PersonasName && !l.Scenario.Written()
		follows := name == engine.DrawnRows || name == engine.DrawnReport // from the other files and the parameters
		if !bytes.Equal(src.Files[name], kept.Files[name]) && !unwritten && !follows {
			mistakes = append(mistakes, &engine.FieldError{
				Field: "scenario", Problem: fmt.Sprintf("%s differs from the one recorded with run %s", name, of.ID), Hint: "`throngctl run --replay` without a file uses the recorded scenario",
			})
		}
	}
	return errors.Join(mistakes...)
}

func recordedCycles(of *engine.RunRecord) int {
	if of.Settings.Cycles > 0 {
		return of.Settings.Cycles
	}
	return of.Cycle
}

func quotedOr(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

// bothNames returns the sorted keys of two maps.
func bothNames[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// checkRecord returns an error if a recording of the launch could not be replayed.
func (l Launch) checkRecord() error {
	if !l.Settings.Record || l.Resume != "" {
		return nil
	}
	if l.Fork != nil {
		return &engine.FieldError{
			Field: "record", Problem: "a fork cannot be replayed: its recording lacks the earlier cycles", Hint: "leave out --record, or record a run from the start",
		}
	}
	var mistakes []error
	for _, path := range l.Scenario.Chain.Private() {
		mistakes = append(mistakes, &engine.FieldError{
			Field: "record", Problem: fmt.Sprintf("step %s is private: its answer is not stored, so it cannot be replayed", path),
			Hint: "leave out --record; for signing in, use `auth` of the service instead of a private step",
		})
	}
	return errors.Join(mistakes...)
}

// nowhere is the host of a replay's services. Nothing is ever sent there (RFC 6761, section 6.4).
const nowhere = "nowhere.invalid"

// disconnect connects the services of a replay to clients that send nothing.
func (l Services) disconnect(j *Job) error {
	for _, s := range l.services() {
		s.Unlock(nil)
		s.Simulation = l.Settings.Simulation && s.Kind == "http"
		if err := l.isolate(j, s); err != nil {
			return err
		}
	}
	return nil
}

func (l Services) isolate(j *Job, s *chain.Service) error {
	switch s.Kind {
	case "postgres":
		d, err := database.Parse("postgres://"+nowhere+"/none", "")
		if err != nil {
			return err
		}
		client, err := service.NewPostgres(s.Name, d, s.Postgres.Limits)
		if err != nil {
			return err
		}
		j.onClose(func() error { client.Close(); return nil })
		s.ConnectPostgres(client)
	case "llm":
		client, err := service.NewLLM(service.LLMConfig{Name: s.Name, Base: "http://" + nowhere, Limits: s.Limits, Prices: pricing.Free, Mocks: l.mocks(s), API: s.Wire.Of(l.mocks(s))})
		if err != nil {
			return err
		}
		j.onClose(func() error { client.Close(); return nil })
		s.ConnectLLM(client, "")
	default:
		client, err := service.NewHTTP(s.Name, "http://"+nowhere, s.Limits, l.mocks(s))
		if err != nil {
			return err
		}
		j.onClose(func() error { client.Close(); return nil })
		s.Connect(client, "")
	}
	return nil
}
