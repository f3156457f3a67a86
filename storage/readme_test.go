package storage

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// block returns the first block of code in a language.
func block(t *testing.T, readme, language string) string {
	t.Helper()
	_, rest, ok := strings.Cut(readme, "```"+language+"\n")
	code, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("README.md has no %s", language)
	}
	return code
}

// TestReadmeDescribesAllColumns checks that README.md lists each file with its columns.
func TestReadmeDescribesAllColumns(t *testing.T) {
	dir := t.TempDir()
	if err := ExportAll(t.Context(), dir, crowd(), "r", names, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	checkDescribed(t, dir)
	for i := range sessionTables {
		for _, c := range sessionTables[i].cells {
			if !strings.HasSuffix(c.help, ".") {
				t.Errorf("column %s of %s has the help %q", c.name, sessionTables[i].name, c.help)
			}
		}
	}
}

// checkDescribed checks that README.md of a folder lists each file with its columns.
func checkDescribed(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	for _, name := range listFiles(t, dir) {
		if name == "README.md" {
			continue
		}
		if !strings.Contains(readme, "| "+name+" |") {
			t.Errorf("%s is not listed", name)
		}
		table, ok := strings.CutSuffix(name, ".csv")
		if !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		_, described, _ := strings.Cut(readme, "\n### "+name+"\n")
		described, _, _ = strings.Cut(described, "\n### ")
		for _, column := range cells(t, text)[0] {
			if !strings.Contains(described, "\n| "+column+" | ") {
				t.Errorf("column %s of %s is not described", column, table)
			}
		}
	}
}

// TestReadmeLinesRun runs the lines of README.md with the tools that exist on this machine.
func TestReadmeLinesRun(t *testing.T) {
	testReadmeLines(t, func(dir string, f Format) error {
		return ExportAllAs(t.Context(), dir, f, crowd(), "r", names, "1.2.3")
	})
}

// testReadmeLines exports in all formats and runs the lines of README.md: for each tool one process that enters the folders of all formats
// that it can read.
func testReadmeLines(t *testing.T, export func(dir string, f Format) error) {
	t.Helper()
	all := map[Format]string{} // texts of README.md
	dirs := map[Format]string{}
	for _, f := range []Format{CSV, JSONL, Parquet} {
		dirs[f] = t.TempDir()
		if err := export(dirs[f], f); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dirs[f], "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		all[f] = string(data)
	}
	for _, tool := range []struct {
		name, language string
		enter          string // code that enters a folder
		before, after  string // around the lines
		command        []string
		formats        []Format
	}{
		{"pandas", "python", "import os, pandas\nos.chdir(%q)\n", "", "", []string{"/usr/bin/python3", "-c"}, []Format{CSV, JSONL}},
		{"pandas with pyarrow", "python", "import os, pandas, pyarrow\nos.chdir(%q)\n", "", "", []string{"python3", "-c"}, []Format{CSV, JSONL, Parquet}},
		{"DuckDB for Python", "sql", "import os, duckdb\nos.chdir(%q)\n", "duckdb.connect().sql(\"\"\"", "\"\"\")\n", []string{"python3", "-c"}, []Format{CSV, JSONL, Parquet}},
		{"R", "r", "setwd(%q)\n", "", "", []string{"Rscript", "-e"}, []Format{CSV}},
		{"R with jsonlite", "r", "library(jsonlite)\nsetwd(%q)\n", "", "", []string{"Rscript", "-e"}, []Format{JSONL}},
		{"R with arrow", "r", "library(arrow)\nsetwd(%q)\n", "", "", []string{"Rscript", "-e"}, []Format{Parquet}},
	} {
		run := func(code string) ([]byte, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return exec.CommandContext(ctx, tool.command[0], tool.command[1], code).CombinedOutput()
		}
		if _, err := run(fmt.Sprintf(tool.enter, dirs[CSV])); err != nil {
			t.Logf("skipped: %s is not installed", tool.name)
			continue
		}
		code := ""
		for _, f := range tool.formats {
			code += fmt.Sprintf(tool.enter, dirs[f]) + tool.before + block(t, all[f], tool.language) + tool.after
		}
		if out, err := run(code); err != nil {
			t.Errorf("%s: %v\n%s\n%s", tool.name, err, out, code)
		}
	}
}

// TestReadmeOfARunWithoutSessions checks that the lines do not name files that do not exist.
func TestReadmeOfARunWithoutSessions(t *testing.T) {
	dir := t.TempDir()
	if err := ExportAll(t.Context(), dir, &reader{record: engine.RunRecord{Title: "a|b", InProgress: true}}, "r", names, ""); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"messages", "memory.jsonl", "# a|b"} {
		if strings.Contains(strings.ReplaceAll(string(data), "messages.\n", ""), "| "+bad) || strings.Contains(string(data), bad+".csv") {
			t.Errorf("README.md has %s", bad)
		}
	}
	if !strings.Contains(string(data), "in progress") {
		t.Error("README.md does not say that the run was in progress")
	}
}
