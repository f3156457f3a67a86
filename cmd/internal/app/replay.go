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

// ReplaySettings are those of a run that is answered from the recording of another, where nobody says otherwise: what
// that one had, but for what a replay has no use for.
func ReplaySettings(of *engine.RunRecord) engine.Settings {
	s := of.Settings
	s.Record, s.Replay = false, of.ID
	s.Remote, s.TimeScale, s.Budget = false, 0, engine.Budget{}
	if s.Cycles == 0 { // it ended by wall time
		s.Cycles, s.Hours = of.Cycle, 0
	}
	return s
}

// RecordedParameters are those of a recorded run, as they are written on a command line.
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

// replaying finds the recording that a launch is answered from, and makes the launch one of its scenario; nil without one.
func (l Launch) replaying(ctx context.Context) (Launch, *sqlite.Recording, error) {
	if l.Settings.Replay == "" {
		return l, nil, nil
	}
	of, err := l.Store.Run(ctx, l.Settings.Replay)
	if err != nil {
		return l, nil, fmt.Errorf("the run to be replayed: %w", err)
	}
	l.Settings.Replay = of.ID
	changes, err := l.Store.Changes(ctx, of.ID)
	if err != nil {
		return l, nil, err
	}
	if err := errors.Join(checkRecorded(&of, changes), l.checkSame(&of)); err != nil {
		return l, nil, err
	}
	if l.Scenario, err = scenario.Restore(of.Source); err != nil { // with the personas that were written for it
		return l, nil, fmt.Errorf("the scenario kept with run %s: %w", of.ID, err)
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
		return wrong("was not recorded", "run it anew with --record")
	case of.Parent != "":
		return wrong("is a fork, whose recording lacks the cycles before it", "replay a run that began at the start")
	case of.InProgress:
		return wrong("is in progress", "replay it when it has ended")
	case of.Ending != engine.EndFinished:
		return wrong(of.State()+", and its recording is not complete", fmt.Sprintf("let it end first: throngctl resume %s", of.ID))
	}
	for _, c := range changes {
		if c.What == engine.InjectChange || c.What == engine.RetireChange {
			return wrong("was changed by hand ("+c.What+"), which a replay does not repeat", "record a run that nobody changes")
		}
	}
	return nil
}

// outcomes are settings that may be changed where a run is resumed, and on which it depends how sessions end.
var outcomes = []string{"retries", "session-timeout", "chain-timeout", "cycle-timeout"}

// checkSame reports what a launch would do otherwise than the run whose recording is to answer it.
func (l Launch) checkSame(of *engine.RunRecord) error {
	var mistakes []error
	differs := func(field, have, want string) {
		mistakes = append(mistakes, &engine.FieldError{
			Field: field, Problem: fmt.Sprintf("is %s, and run %s was recorded with %s", have, of.ID, want), Hint: "a replay is of the same run",
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
		if !bytes.Equal(src.Files[name], kept.Files[name]) && !unwritten {
			mistakes = append(mistakes, &engine.FieldError{
				Field: "scenario", Problem: fmt.Sprintf("%s is not as run %s had it", name, of.ID), Hint: "without a file, `throngctl run --replay` takes the one kept with the run",
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

// bothNames are the keys of two maps, sorted.
func bothNames[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// checkRecord refuses to record what could not be replayed.
func (l Launch) checkRecord() error {
	if !l.Settings.Record || l.Resume != "" {
		return nil
	}
	if l.Fork != nil {
		return &engine.FieldError{
			Field: "record", Problem: "a fork cannot be replayed: its recording would lack the cycles before it", Hint: "leave out --record, or record a run from the start",
		}
	}
	var mistakes []error
	for _, path := range l.Scenario.Chain.Private() {
		mistakes = append(mistakes, &engine.FieldError{
			Field: "record", Problem: fmt.Sprintf("the step %s is private: its answer is not kept, and a replay would lack it", path),
			Hint: "leave out --record; a service that signs in by `auth` is no such step",
		})
	}
	return errors.Join(mistakes...)
}

// nowhere is where the services of a replay are: nothing is ever sent there (RFC 6761, section 6.4).
const nowhere = "nowhere.invalid"

// disconnect gives the services of a replay clients that have nobody to ask.
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
		client, err := service.NewLLM(service.LLMConfig{Name: s.Name, Base: "http://" + nowhere, Limits: s.Limits, Prices: pricing.Free, Mocks: l.mocks(s)})
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
