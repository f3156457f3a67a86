package desk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/survey"
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
