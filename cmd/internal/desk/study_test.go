package desk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/ui/setup"
)

// TestStudy runs the built-in study, compares it with its panel and another file, and asks its agents at two moments.
func TestStudy(t *testing.T) {
	d := open(t, t.TempDir())
	of, folder := studyDesk{d}, t.TempDir()
	s, err := setupDesk{d}.Scenario(t.Context(), "study", map[string]string{"people": "40"})
	if err != nil {
		t.Fatal(err)
	}
	o := setup.Order{Scenario: "study", Given: map[string]string{"people": "40"}, Settings: s.Settings}
	o.Settings.Mock.Profile, o.Settings.CheckpointCycles = "none", 1
	if err := (setupDesk{d}).Launch(t.Context(), o, nil); err != nil {
		t.Fatal(err)
	}
	<-d.Settled()
	run, err := d.store.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(folder, "table.csv")
	if r, err := of.RealData(t.Context(), run.ID, "", nil); err != nil || r == nil || len(r.Rows) != 3 {
		t.Errorf("with its panel: %+v, %v", r, err)
	} else if err := of.SaveTable(t.Context(), table, r.Sheet()); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(table); err != nil || !strings.Contains(string(text), "region,agent.region,agent,category,") {
		t.Errorf("the table is %s, %v", text, err)
	}
	other := filepath.Join(folder, "other.csv")
	if err := os.WriteFile(other, []byte("where\n"+strings.Repeat("north\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := of.RealData(t.Context(), run.ID, other, []string{"where=agent.region"}); err != nil || !r.Differ() {
		t.Errorf("with another file: %+v, %v", r, err)
	}
	if c, err := of.Voices(t.Context(), run.ID); err != nil || len(c.Steps) == 0 || c.Steps[0].Agents != 40 {
		t.Errorf("voices: %+v, %v", c, err)
	}
	ask(t, of, run.ID, folder)
}

// ask asks the agents of the study.
func ask(t *testing.T, of studyDesk, run engine.RunID, folder string) {
	t.Helper()
	subject, err := of.Subject(t.Context(), run)
	if err != nil || len(subject.Moments) != 2 || len(subject.Models) != 1 || !strings.Contains(strings.Join(subject.Attributes, " "), "region") {
		t.Fatalf("the subject is %+v, %v", subject, err)
	}
	q := &survey.Survey{Title: "Asked", Segments: []string{"region"}, Questions: []survey.Question{{Name: "buy", Ask: "Would you buy it?", Kind: survey.Choice, Options: []string{"yes", "no"}}}}
	file := filepath.Join(folder, "questions.yaml")
	if err := of.WriteQuestions(t.Context(), file, q); err != nil {
		t.Fatal(err)
	}
	if q, err = of.ReadQuestions(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	order := survey.Order{Run: run, Cycle: subject.Moments[1].Cycle, Survey: q}
	if text, err := of.ForecastSurvey(t.Context(), order); err != nil || !strings.HasPrefix(text, "Asks 40 agents: ") || !strings.Contains(text, "40 requests") {
		t.Errorf("the forecast is %q, %v", text, err)
	}
	for want, change := range map[string]func(*survey.Order){
		"nothing": func(o *survey.Order) { o.Agents = "agent.nothing" },
		"is not the name of a question": func(o *survey.Order) {
			o.Survey = &survey.Survey{Questions: []survey.Question{{Name: "9", Ask: "What?", Kind: survey.Text}}}
		},
		"no checkpoint at the start of cycle 9": func(o *survey.Order) { o.Cycle = 9 },
	} {
		wrong := order
		change(&wrong)
		if _, err := of.ForecastSurvey(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "questions.yaml") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	asked, err := of.Ask(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	<-of.Settled()
	r, err := of.Answers(t.Context(), asked)
	if err != nil || r.Asked != 40 || r.Answered() != 40 {
		t.Errorf("the answers are %+v, %v", r, err)
	}
	for _, id := range []engine.RunID{run, asked} {
		if all, err := of.Surveys(t.Context(), id); err != nil || len(all) != 1 || all[0].ID != asked {
			t.Errorf("the surveys of %s are %v, %v", id, all, err)
		}
		if again, err := of.Subject(t.Context(), id); err != nil || again.Run != run {
			t.Errorf("the subject of %s is %+v, %v", id, again, err)
		}
	}
}

// slowStudy launches the study with one session at a time, which takes some seconds, and takes a checkpoint.
func slowStudy(t *testing.T, d *Desk) (run engine.RunID, order survey.Order) {
	t.Helper()
	run = launchStudy(t, d, func(s *engine.Settings) { s.Governor, s.Limit = engine.Manual, 1 })
	if err := d.current().Run.Checkpoint(t.Context(), "a test"); err != nil {
		t.Fatal(err)
	}
	return run, survey.Order{Run: run, Cycle: survey.Newest, Survey: &survey.Survey{Questions: []survey.Question{{Name: "buy", Ask: "Would you buy it?", Kind: survey.Choice, Options: []string{"yes", "no"}}}}}
}

// launchStudy launches the study with 20 people and a model that takes 50 to 150 ms.
func launchStudy(t *testing.T, d *Desk, change func(*engine.Settings)) engine.RunID {
	t.Helper()
	given := map[string]string{"people": "20"}
	s, err := setupDesk{d}.Scenario(t.Context(), "study", given)
	if err != nil {
		t.Fatal(err)
	}
	o := setup.Order{Scenario: "study", Given: given, Settings: s.Settings}
	o.Settings.Mock.Profile = "remote"
	change(&o.Settings)
	if err := (setupDesk{d}).Launch(t.Context(), o, nil); err != nil {
		t.Fatal(err)
	}
	return d.Job().ID()
}

func pause(t *testing.T, d *Desk) {
	t.Helper()
	r := d.current().Run
	if err := errors.Join(r.Pause("user", ""), r.Checkpoint(t.Context(), "a test")); err != nil {
		t.Fatal(err)
	}
}

// TestPausedRunsAreAsked asks the agents of a run that is paused in the window. The run stays paused, and in Live; it can continue before
// all have answered, and its results are those of a run that was not paused. While a run is not paused, no agents can be asked. Closing the
// window ends a survey.
func TestPausedRunsAreAsked(t *testing.T) {
	d := open(t, t.TempDir())
	of := studyDesk{d}
	undisturbed := launchStudy(t, d, func(*engine.Settings) {})
	<-d.Settled()
	run, order := slowStudy(t, d)
	if _, err := of.ForecastSurvey(t.Context(), order); err == nil || !strings.Contains(err.Error(), "Pause or stop it") {
		t.Errorf("a run that is not paused has a forecast: %v", err)
	}
	if _, err := of.Ask(t.Context(), order); !errors.Is(err, errBusy) {
		t.Errorf("a run that is not paused is asked: %v", err)
	}
	pause(t, d)
	if text, err := of.ForecastSurvey(t.Context(), order); err != nil || !strings.HasPrefix(text, "Asks 20 agents: ") {
		t.Errorf("the forecast is %q, %v", text, err)
	}
	asked, err := of.Ask(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := of.Ask(t.Context(), order); err == nil {
		t.Error("two surveys at the same time")
	}
	<-d.aside.settled
	if r, err := of.Answers(t.Context(), asked); err != nil || r.Asked != 20 || r.Answered() != 20 {
		t.Errorf("the answers are %+v, %v", r, err)
	}
	if d.Job().ID() != run || !d.paused() {
		t.Errorf("Live shows %s, paused %t", d.Job().ID(), d.paused())
	}
	if err := of.StopSurvey(t.Context(), asked); err == nil {
		t.Error("a survey that has ended was stopped")
	}
	cut, err := of.Ask(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	ended := d.Settled()
	r := d.current().Run
	if err := errors.Join(of.StopSurvey(t.Context(), cut), r.SetLimit(20, "user", ""), r.Resume("user")); err != nil {
		t.Fatal(err)
	}
	<-d.aside.settled
	<-ended
	if r, err := d.store.Run(t.Context(), cut); err != nil || r.Ending == engine.NotEnded || r.Kept != 0 {
		t.Errorf("the survey that was stopped: %+v, %v", r, err)
	}
	if before, after := exportedEvents(t, d, undisturbed), exportedEvents(t, d, run); before != after || strings.Count(after, "\n") != 41 {
		t.Errorf("the results are\n%s\nwithout surveys\n%s", after, before)
	}
}

func exportedEvents(t *testing.T, d *Desk, run engine.RunID) string {
	t.Helper()
	dir := t.TempDir()
	if err := d.app.Export(t.Context(), run, dir, storage.CSV); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "events.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAClosedWindowEndsSurveys closes the window while the agents of its paused run are asked.
func TestAClosedWindowEndsSurveys(t *testing.T) {
	data := t.TempDir()
	d := open(t, data)
	run, order := slowStudy(t, d)
	pause(t, d)
	asked, err := studyDesk{d}.Ask(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	settled := d.aside.settled
	<-d.close()
	<-settled
	for _, id := range []engine.RunID{run, asked} {
		if r, err := d.store.Run(t.Context(), id); err != nil || r.InProgress || r.Ending == engine.NotEnded {
			t.Errorf("%s: %+v, %v", id, r, err)
		}
	}
	if _, err := (studyDesk{d}).Ask(t.Context(), order); !errors.Is(err, errStopped) {
		t.Errorf("a closed window asks: %v", err)
	}
}
