package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
)

const diarists = `
title: Diarists
clock: {cycles: 4}
population: {count: 12, attributes: {region: "${pick(['north', 'south'])}"}}
services:
  model: {kind: llm, provider: mock}
chain live:
  step note: {kind: remember, note: "hour ${session.cycle}", set: {hours: "${session.cycle + 1}"}}
  step say: {kind: emit, event: hour, data: {roll: "${uniform(0, 1)}"}}
`

// TestSurvey asks the agents of a run questions at two moments. The run and its draws stay as they are, and the model is shown what the
// agents remembered at that moment.
func TestSurvey(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	file, questions := filepath.Join(dir, "diarists.yaml"), filepath.Join(dir, "questions.yaml")
	for path, text := range map[string]string{
		file: diarists, questions: "segments: [region]\nquestions:\n  mood: {ask: How are you?, answer: [good, bad]}\n  content: {ask: How content are you?, answer: {from: 1, to: 5}}\n  why: Why?\n",
		filepath.Join(dir, "wrong.yaml"): "segments: [regoin]\nquestions: {why: Why?}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, stderr := ctl(t, "run", file, "--data", data, "--no-dashboard", "--mock-latency", "none", "--checkpoint-cycles", "1")
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	id := regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)[1]
	events := func() string {
		_, out, _ := ctl(t, "export", id, "--what", "events", "--data", data)
		return out
	}
	before := events()
	if !strings.Contains(before, "roll") {
		t.Fatalf("the run has no events:\n%s", before)
	}
	for want, args := range map[string][]string{
		"has no checkpoint at the start of cycle 9 (there are checkpoints at 1 2 3 4)": {id, questions, "--at", "9"},
		"is not a survey":                                  {id},
		"12 is a number, not a condition":                  {id, questions, "--agents", "12"},
		"matches none of 12 agents (agent.region is":       {id, questions, "--agents", "agent.region == 'nowhere'"},
		"no such file":                                     {id, filepath.Join(dir, "nowhere.yaml")},
		"wrong.yaml:1:12: agents have no attribute regoin": {id, filepath.Join(dir, "wrong.yaml")},
	} {
		if code, out, stderr := ctl(t, append([]string{"survey", "--data", data}, args...)...); code == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, want %q\n%s%s", args, code, want, out, stderr)
		}
	}
	for _, at := range []string{"1", "4"} {
		code, out, stderr := ctl(t, "survey", id, questions, "--at", at, "--data", data)
		if code != exitDone || !strings.Contains(out, "12 of 12") || !strings.Contains(out, "region north") {
			t.Fatalf("at %s: exit code %d\n%s%s", at, code, out, stderr)
		}
		survey := regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)[1]
		own := regexp.MustCompile(`12 of 12 agents asked, 12 answered`)
		_, status, _ := ctl(t, "status", survey, "--data", data)
		want(t, exitDone, "", []string{"report", survey, "-o", filepath.Join(dir, at+".html"), "--data", data}, at+".html")
		for name, text := range map[string]string{"survey": out, "status": status, "report": read(t, dir, at+".html")} {
			if !own.MatchString(text) || regexp.MustCompile(`cycles? done|cycle time`).MatchString(text) {
				t.Errorf("at %s, %s has figures of the run in it:\n%s", at, name, text)
			}
		}
		_, talk, stderr := ctl(t, "timeline", survey, "0", "--json", "--data", data)
		if newest := "hour " + string(at[0]-1); !strings.Contains(talk, "You remember: "+newest) || strings.Contains(talk, "You remember: hour "+at) || !strings.Contains(talk, "hours: "+at) {
			t.Errorf("at %s the model is shown\n%s%s", at, talk, stderr)
		}
	}
	_, list, _ := ctl(t, "runs", "--data", data)
	for _, want := range []string{`\S+ +Survey: Diarists  +-  +\S+ \S+ +finished  +-  +12 \(100%\)  +12 answered, no failures  +asks the agents of run ` + id + ` after 4 cycles, `, `after 1 cycle, `, `4/4  +48 \(100%\)`} {
		if !regexp.MustCompile(want).MatchString(list) {
			t.Errorf("runs lack %s:\n%s", want, list)
		}
	}
	if _, newest, _ := ctl(t, "export", "--what", "events", "--data", data); newest != before {
		t.Errorf("without a name, the survey is exported in place of its run:\n%s", newest)
	}
	table := filepath.Join(dir, "answers.csv")
	code, out, stderr = ctl(t, "survey", id, questions, "--agents", "agent.region == 'north'", "--json", "--csv", table, "--data", data)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var got answer.Survey
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); code != exitDone || err != nil || got.Asked == 0 || got.Asked == 12 || len(got.Questions) != 3 || len(got.Questions[0].Groups) != 2 {
		t.Errorf("of the north: exit code %d, %v, %+v\n%s%s", code, err, got, out, stderr)
	}
	row := fmt.Sprintf("\nmood,How are you?,choice,,,answered,,%d,%d,1,,\n", got.Asked, got.Asked)
	if written, err := os.ReadFile(table); err != nil || !strings.Contains(string(written), row) {
		t.Errorf("the table has %v\n%swant %q", err, written, row)
	}
	folder := filepath.Join(dir, "shown")
	want(t, exitDone, "", []string{"survey", "--export", folder, "--data", data}, "exported to "+folder)
	if exported := read(t, folder, "events.csv"); strings.Count(exported, "survey_answer") != got.Asked {
		t.Errorf("shown and exported, the survey has the answers\n%swant %d", exported, got.Asked)
	}
	want(t, exitUsage, "", []string{"survey", "--at", "2", "--data", data}, "name a file of questions")
	if after := events(); after != before {
		t.Errorf("the run has changed:\n%s\nit was\n%s", after, before)
	}
}
