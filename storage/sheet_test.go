package storage

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/experiment/findings"
)

// lab is an experiment with two points, a run that failed, and names that formats could take for something else.
func lab() *findings.Table {
	value := func(text string, number float64, level int) findings.Value {
		return findings.Value{Text: text, Number: number, Level: level, Unit: float64(level)}
	}
	return &findings.Table{
		Title: "=a|b", Design: "grid", Factors: []findings.Factor{{Name: "params.size", Levels: []string{"-1", "2"}}, {Name: "params.mode", Levels: []string{"+x"}}},
		Measures: []findings.Measure{{Name: "acted"}, {Name: `events.a"b,c`, Unit: "s"}},
		Points: []findings.Point{
			{Label: "params.size=-1", Values: []findings.Value{value("-1", -1, 0), value("+x", math.NaN(), 0)}},
			{Label: "params.size=2", Values: []findings.Value{value("2", 2, 1), value("+x", math.NaN(), 0)}},
		},
		Seeds: []uint64{1, 1 << 62},
		Runs: [][]findings.Run{
			{{Identity: "aaaa", State: findings.Done, Values: []float64{0.5, 1e21}}, {Identity: "bbbb", State: findings.Done, Values: []float64{0.25, math.NaN()}}},
			{{Identity: "cccc", State: findings.Done, Values: []float64{1, 3}}, {Identity: "dddd", State: findings.Failed}},
		},
	}
}

func sheetIn(t *testing.T, s findings.Sheet, f Format) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteSheet(&out, &s, f); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestSheetsInAllFormats checks that all formats have the cells of the sheets.
func TestSheetsInAllFormats(t *testing.T) {
	if got, want := string(sheetIn(t, lab().Sheet(), CSV)), `experiment,point,params.size,params.mode,replicate,seed,run,state,acted,"events.a""b,c"
'=a|b,1,-1,'+x,1,1,aaaa,done,0.5,1e+21
'=a|b,2,2,'+x,1,1,cccc,done,1,3
'=a|b,1,-1,'+x,2,4611686018427387904,bbbb,done,0.25,
'=a|b,2,2,'+x,2,4611686018427387904,dddd,failed,,
`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, s := range []findings.Sheet{lab().Sheet(), findings.Compare(lab()).Sheet()} {
		table := parquetCells(t, sheetIn(t, s, Parquet))
		lines := strings.Split(strings.TrimSpace(string(sheetIn(t, s, JSONL))), "\n")
		if len(table) != len(s.Rows)+1 || len(lines) != len(s.Rows) {
			t.Fatalf("%d and %d rows, want %d", len(table)-1, len(lines), len(s.Rows))
		}
		for i, c := range s.Columns {
			if want := strings.ReplaceAll(c.Name, ",", "_"); table[0][i] != want {
				t.Errorf("the column %q is %q", want, table[0][i])
			}
			for k, row := range s.Rows {
				var object map[string]json.RawMessage
				if err := json.Unmarshal([]byte(lines[k]), &object); err != nil {
					t.Fatal(err)
				}
				if got := lineCell(object[c.Name], c.Kind != findings.Texts); !sameCell(got, row[i]) {
					t.Errorf("column %s: JSON Lines has %q, want %q", c.Name, got, row[i])
				}
				if got := table[k+1][i]; !sameCell(got, row[i]) {
					t.Errorf("column %s: Parquet has %q, want %q", c.Name, got, row[i])
				}
			}
		}
	}
}

func TestWriteSheetReportsAFullDisk(t *testing.T) {
	s := lab().Sheet()
	for _, f := range []Format{CSV, JSONL, Parquet} {
		if err := WriteSheet(full{}, &s, f); err == nil {
			t.Errorf("%s: no error", f)
		}
	}
}

func exportLab(dir string, f Format) error {
	return ExportExperiment(dir, f, &Experiment{Table: lab(), Name: "lab.experiment.yaml", File: []byte("scenario: x\n"), Version: "1.2.3"})
}

// TestExportRealData checks that an export has the distances from real data, in all formats.
func TestExportRealData(t *testing.T) {
	x := lab()
	x.Real = &findings.RealData{File: "real.csv", Columns: []findings.RealColumn{{Name: "=spend", Figure: "events.order.total.sum", Numbers: true}}}
	for point := range x.Runs {
		for k := range x.Runs[point] {
			if r := &x.Runs[point][k]; r.State == findings.Done {
				r.Distances = []findings.Distance{{Total: 0.25 * float64(point+k), Smirnov: 0.25 * float64(point+k), ChiSquare: math.NaN(), CramersV: math.NaN()}}
			}
		}
	}
	for f, name := range map[Format]string{CSV: "real_data.csv", JSONL: "real_data.jsonl", Parquet: "real_data.parquet"} {
		dir := t.TempDir()
		if err := ExportExperiment(dir, f, &Experiment{Table: x, Name: "lab.experiment.yaml", Version: "1.2.3"}); err != nil {
			t.Fatal(err)
		}
		if got := listFiles(t, dir); !slices.Contains(got, name) {
			t.Errorf("files %v", got)
		}
		if f == CSV {
			checkDescribed(t, dir)
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !strings.Contains(string(text), "\n'=a|b,'=spend,events.order.total.sum,2,2,'+x,1,0.25,,,rival,") {
				t.Errorf("%s, %v", text, err)
			}
		}
	}
}

// TestExportExperiment checks the files of an export, and that README.md describes them.
func TestExportExperiment(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := exportLab(dir, CSV); err != nil {
		t.Fatal(err)
	}
	if got := listFiles(t, dir); !slices.Equal(got, []string{"README.md", "effects.csv", "lab.experiment.yaml", "table.csv"}) {
		t.Errorf("files %v", got)
	}
	checkDescribed(t, dir)
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "experiment-readme.md", readme)
	for _, language := range []string{"python", "sql", "r"} {
		lines := block(t, string(readme), language)
		for _, used := range []string{"table.csv", "effects.csv", "measure", "point", "difference", "p_adjusted"} {
			if !strings.Contains(lines, used) || !strings.Contains(string(readme), "\n| "+used+" | ") {
				t.Errorf("%s is not in the lines in %s, or not in the folder", used, language)
			}
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "lab.experiment.yaml")); string(data) != "scenario: x\n" {
		t.Errorf("the experiment is %q, %v", data, err)
	}
	// A name that cannot be written leaves the earlier files as they are, and no temporary ones.
	err = ExportExperiment(dir, CSV, &Experiment{Table: &findings.Table{Baseline: -1}, Name: "none/x"})
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("the error is %v", err)
	}
	if got := listFiles(t, dir); len(got) != 4 {
		t.Errorf("files %v", got)
	}
	if again, err := os.ReadFile(filepath.Join(dir, "README.md")); !bytes.Equal(again, readme) {
		t.Errorf("README.md changed, %v", err)
	}
}

// TestExperimentReadmeLinesRun runs the lines of README.md with the tools that exist on this machine.
func TestExperimentReadmeLinesRun(t *testing.T) { testReadmeLines(t, exportLab) }
