package scenario

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/throng-sim/throng/engine"
)

// surveyed is a row of a Parquet file of people.
type surveyed struct {
	Person string  `parquet:"person"`
	Sex    int32   `parquet:"sex"`
	Age    int32   `parquet:"age"`
	Weight float64 `parquet:"weight"`
	Story  string  `parquet:"story"`
}

// writeSurvey writes a Parquet file of people with stories of a length, and returns its path.
func writeSurvey(t *testing.T, dir string, rows, story int) string {
	t.Helper()
	var all []surveyed
	for i := range rows {
		all = append(all, surveyed{fmt.Sprint("p", i), int32(1 + i%2), int32(10 + i%60), 1 + float64(i%3), strings.Repeat(string(rune('a'+i%26)), story)})
	}
	path := filepath.Join(dir, "people.parquet")
	if err := parquet.WriteFile(path, all); err != nil {
		t.Fatal(err)
	}
	return path
}

const surveyYAML = `
parameters: {people: 20, draw: 1, other: 1}
population:
  from: people.parquet
  columns: {id: person, gender: sex, age: age}
  types: {age: float}
  values: {gender: {1: male, 2: female}}
  where: row.age >= 18 and row.story != ""
  count: ${params.people}
  sample: {weight: weight, seed: "${params.draw}", targets: {gender: {female: 3, male: 1}}}
  attributes: {twice: "${agent.age * 2}"}
  filter: agent.gender == "female"
chain c: {step a: {kind: emit, event: e, data: "${agent}"}}
`

// everyone returns all agents of a scenario as text.
func everyone(t *testing.T, s *Scenario) string {
	t.Helper()
	var all []string
	for i := range s.Agents {
		all = append(all, shown(t, s, i))
	}
	return strings.Join(all, "\n")
}

// loaded reads the scenario of a folder.
func loaded(t *testing.T, dir string, given map[string]string) *Scenario {
	t.Helper()
	s, err := Load(filepath.Join(dir, "survey.yaml"), given)
	if err != nil {
		t.Fatal(told(err))
	}
	return s
}

// writeScenario writes the scenario of a folder.
func writeScenario(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "survey.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDrawnPopulation checks that agents are drawn from a Parquet file, and that a run needs no file to restore them: whether
// the file is stored with the run, or is too large for that.
func TestDrawnPopulation(t *testing.T) {
	for name, story := range map[string]int{"stored": 10, "too large": 9000} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := writeSurvey(t, dir, 3000, story)
			info, err := os.Stat(path)
			if err != nil || (info.Size() > maxKept) != (name == "too large") {
				t.Fatalf("%d bytes, %v", info.Size(), err)
			}
			writeScenario(t, dir, surveyYAML)
			s := loaded(t, dir, nil)
			s.Source.Path = filepath.Join(dir, "survey.yaml")
			r := s.Drawn()
			if s.Agents != 20 || r == nil || r.Rows != 3000 || r.Taken != 20 || r.SizeBytes != info.Size() || len(r.SHA256) != 64 || r.Raking == nil {
				t.Fatalf("%d agents, %+v", s.Agents, r)
			}
			was := everyone(t, s)
			if first, _, _ := strings.Cut(was, "\n"); !strings.Contains(first, `"gender":"`) || !strings.Contains(first, `"twice":`) {
				t.Errorf("the first agent is %s", first)
			}
			if _, kept := s.Source.Files[engine.DrawnRows]; kept != (name == "too large") || len(s.Source.Files["people.parquet"]) == 0 {
				t.Errorf("drawn rows are stored: %v, and %d bytes for the file", kept, len(s.Source.Files["people.parquet"]))
			}
			if got := everyone(t, loaded(t, dir, map[string]string{"other": "2"})); got != was {
				t.Errorf("read again\n%s\nwant\n%s", got, was)
			}
			more := everyone(t, loaded(t, dir, map[string]string{"people": "25"}))
			if !strings.HasPrefix(more, was+"\n") {
				t.Errorf("25 agents\n%s\ndo not begin with\n%s", more, was)
			}
			reread, err := Reread(s.Source, map[string]string{"people": "25"})
			if err != nil || everyone(t, reread) != more {
				t.Errorf("read again with more agents: %v", told(err))
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			restored, err := Restore(s.Source)
			if err != nil || everyone(t, restored) != was || fmt.Sprint(*restored.Drawn()) == "" {
				t.Errorf("restored: %v", told(err))
			}
			if reread, err = Reread(s.Source, nil); err != nil || everyone(t, reread) != was || reread.Source.Hash != s.Source.Hash {
				t.Errorf("read again without the file: %v", told(err))
			}
			reread, err = Reread(s.Source, map[string]string{"draw": "2"})
			if name == "stored" {
				if err != nil || everyone(t, reread) == was {
					t.Errorf("read again with another seed: %v", told(err))
				}
			} else if err == nil || !strings.Contains(told(err), "it is not stored with the run, and other agents are to be drawn") {
				t.Errorf("read again with another seed: %v", told(err))
			}
		})
	}
}

// TestChangedPeople checks that a changed file is a change of the scenario, and other draws from it are refused for a run that
// stores only its digest.
func TestChangedPeople(t *testing.T) {
	for name, story := range map[string]int{"stored": 10, "too large": 9000} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeSurvey(t, dir, 3000, story)
			writeScenario(t, dir, surveyYAML)
			s := loaded(t, dir, nil)
			s.Source.Path = filepath.Join(dir, "survey.yaml")
			writeSurvey(t, dir, 3001, story)
			now := loaded(t, dir, nil)
			if all := Changes(s.Source, now.Source); len(all) != 1 || all[0].File != "people.parquet" {
				t.Errorf("changes: %v", all)
			}
			_, err := Reread(s.Source, map[string]string{"draw": "2"})
			if refused := err != nil && strings.Contains(told(err), "has changed since"); refused != (name == "too large") {
				t.Errorf("another draw: %v", told(err))
			}
		})
	}
}

// TestDamagedDraw checks that a run with damaged agents is not restored.
func TestDamagedDraw(t *testing.T) {
	dir := t.TempDir()
	writeSurvey(t, dir, 3000, 9000)
	writeScenario(t, dir, surveyYAML)
	s := loaded(t, dir, nil)
	delete(s.Source.Files, engine.DrawnReport)
	if _, err := Restore(s.Source); err == nil || !strings.Contains(told(err), "the agents that were drawn from it are not stored with the run") {
		t.Errorf("got %v", told(err))
	}
}

// TestDrawnFromText checks populations that are drawn from CSV and JSONL.
func TestDrawnFromText(t *testing.T) {
	const people = "who,age,w\nann,30,1\nbob,17,1\ncay,55,2\n"
	const lines = "{\"who\": \"ann\", \"age\": 30}\n{\"who\": \"bob\", \"age\": 17}\n{\"who\": \"cay\", \"age\": 55}\n"
	tests := []struct {
		name, lines, file, content string
		want                       []string
	}{
		{"all", "  from: a.csv\n  columns: [who]\n", "a.csv", people, []string{`{"id":"agent-1","index":0,"who":"ann"}`, `{"id":"agent-2","index":1,"who":"bob"}`, `{"id":"agent-3","index":2,"who":"cay"}`}},
		{"some", "  from: a.csv\n  columns: {id: who}\n  where: row.age > 17\n  count: 2\n", "a.csv", people, []string{`{"id":"ann","index":0}`, `{"id":"cay","index":1}`}},
		{"lines", "  from: a.jsonl\n  columns: {id: who, years: age}\n  types: {years: string}\n  where: row[\"years\"] != \"17\"\n", "a.jsonl", lines, []string{`{"id":"ann","index":0,"years":"30"}`, `{"id":"cay","index":1,"years":"55"}`}},
		{"a whole row", "  from: a.csv\n  columns: {id: who}\n  where: len(str(row)) > 0 and row.age == 55\n", "a.csv", people, []string{`{"id":"cay","index":0}`}},
		{"all drawn", "  from: a.csv\n  columns: {id: who}\n  sample: true\n  count: 0\n", "a.csv", people, nil},
		{"a sample of all", "  from: a.csv\n  columns: {id: who}\n  sample: {weight: w, seed: 3}\n  where: row.who == \"bob\"\n  count: 1\n", "a.csv", people, []string{`{"id":"bob","index":0}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := crowd(t, tt.lines, tt.file, tt.content)
			if got := everyone(t, s); got != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestDrawingMistakes checks errors of populations that are drawn, and their positions.
func TestDrawingMistakes(t *testing.T) {
	const small = "id,sex,index,w\na,m,1,1\nb,f,2,-1\n"
	tests := []struct{ lines, content, want string }{
		{"{from: a.csv, columns: [sexx]}", small, "test.yaml:1:36: there is no column sexx (did you mean `sex`?)"},
		{"{from: a.csv, columns: {gender: sexx}}", small, "there is no column sexx"},
		{"{from: a.csv, columns: [index]}", small, "index is what every agent has already"},
		{"{from: a.csv, columns: {index: w}}", small, "index is what every agent has already"},
		{"{from: a.csv, columns: {a b: w}}", small, `"a b" cannot be the name of an attribute`},
		{"{from: a.csv, columns: [sex, sex]}", small, "there is another attribute sex"},
		{"{from: a.csv, columns: [sex], sample: true}", small, "`population` needs `count`"},
		{"{from: a.csv, count: 1, sample: true}", small, "a.csv: index is what every agent has already (rename it with"},
		{"{from: a.csv, count: 1, sample: true}", "a b\n1\n", `a.csv: the column "a b" cannot be the name of an attribute (choose and rename`},
		{"{from: a.csv, count: 1, columns: [sex], sample: {weights: w}}", small, "unknown key `weights`"},
		{"{from: a.csv, count: 1, columns: [sex], sample: {weight: w}}", small, "test.yaml:1:70: row 2 has the negative weight -1"},
		{"{from: a.csv, count: 1, columns: [sex], sample: {seed: -1}}", small, "`seed` cannot be `-1` (it must be at least 0)"},
		{"{from: a.csv, count: 1, columns: [sex], sample: {tolerance: 2}}", small, "`tolerance` cannot be `2`"},
		{"{from: a.csv, count: 1, columns: [sex], sample: {targets: {sex: {m: 1}}}}", small, `test.yaml:1:77: the file has values of sex without a target: "f" (1 row)`},
		{"{from: a.csv, count: 1, columns: [sex], sample: {targets: {sex: {m: 50%, f: 40%}}}}", small, "the shares have the sum of 90% (they must have the sum of 100%)"},
		{"{from: a.csv, count: 1, columns: [sex], sample: {targets: {sex: {m: 0.5, f: 0.4}}}}", small, "the shares have the sum of 0.9 (they must have the sum of 1)"},
		{"{from: a.csv, count: 1, columns: [sex], sample: {targets: {sex: {m: 50%, f: 0.5}}}}", small, "only some shares are percentages"},
		{"{from: a.csv, count: 1, columns: [sex], sample: {targets: {sex: {m: many%, f: 50%}}}}", small, `"many%" is not a share`},
		{"{from: a.csv, count: 1, columns: [sex], sample: {targets: {sex: {}}}}", small, "there are no shares"},
		{"{from: a.csv, count: 1, columns: [sex], sample: {targets: {sex: {m: -1, f: 2}}}}", small, "`m` cannot be `-1` (it must be between 0 and"},
		{"{from: a.csv, columns: [sex], where: row.ag > 1}", small, "row has no ag here"},
		{"{from: a.csv, columns: [sex], where: agent.sex == 1}", small, "undefined: agent"},
		{"{from: a.csv, columns: [sex], where: row.sex > 1}", small, "row 1: "},
		{"{from: a.csv, columns: [sex], where: row.sex == 'x'}", small, "test.yaml:1:20: a.csv: no row can be taken (the file has 2 rows; `where` leaves some out)"},
		{"{from: a.csv, count: 3, columns: [sex]}", small, "3 agents, and 2 rows can be taken"},
		{"{from: a.csv, columns: [sex], types: {sex: int}}", small, `test.yaml:1:56: row 1: "m" is not a whole number`},
		{"{from: a.csv, columns: [sex], types: {age: int}}", small, "there is no attribute age"},
		{"{from: a.csv, columns: [sex], id: 'x', attributes: {sex: 1}}", small, "sex is an attribute of the rows already"},
		{"{from: a.csv, columns: [id], id: 'x'}", small, "the rows have ids already"},
		{"{from: b.csv, columns: [sex]}", small, "the population cannot be read: there is no file b.csv"},
		{"{from: people.parquet}", small, "the population cannot be read: there is no file people.parquet"},
		{"{from: a.parquet}", small, "a.parquet: the Parquet file cannot be read"},
		{"{from: a.txt, columns: [sex]}", small, "a population cannot be read from a.txt (a .csv, .jsonl or .parquet file)"},
		{"{count: 1, where: row.x}", small, "where needs a file: `from`"},
		{"{count: 1, columns: [a], sample: true, values: {a: {b: c}}}", small, "columns needs a file: `from`"},
	}
	for _, tt := range tests {
		t.Run(tt.lines, func(t *testing.T) {
			_, err := read(minimal("population: "+tt.lines), map[string]string{"a.csv": tt.content, "a.parquet": tt.content}, nil)
			mistakes, ok := errors.AsType[*Mistakes](err)
			if !ok || !strings.Contains(err.Error(), tt.want) || mistakes.Count() != 1 && !strings.Contains(tt.want, "columns needs") {
				t.Errorf("got\n%v\nwant %s", told(err), tt.want)
			}
		})
	}
}

// TestDrawsOfAllRows checks that a draw which takes all rows is warned of if it has weights, and no other.
func TestDrawsOfAllRows(t *testing.T) {
	const file = "sex,w\nm,1\nf,3\nf,0\n"
	const all = "the draw takes all 2 rows of a.csv that can be drawn, so weights and targets have no effect"
	for sample, want := range map[string]string{
		"{count: 2, from: a.csv, sample: {weight: w}}":                                          all,
		"{count: 1, from: a.csv, sample: {weight: w}}":                                          "",
		"{count: 3, from: a.csv, sample: true}":                                                 "",
		"{count: 2, from: a.csv, where: row.w > 0, sample: {targets: {sex: {m: 50%, f: 50%}}}}": all,
	} {
		s, err := read(minimal("population: "+sample), map[string]string{"a.csv": file}, nil)
		if err != nil {
			t.Fatal(told(err))
		}
		var got string
		for _, w := range s.report.Warnings() {
			got += w.Error()
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", sample, got, want)
		}
	}
}
