package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMisspelledFiles checks that a file which does not exist is compared with the others of its folder.
func TestMisspelledFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"people.csv": "id\na\n", "data/people.csv": "id\na\n", "rule.json": "{}", "own.star": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for lines, want := range map[string]string{
		"population: {from: peopel.csv}":                         "there is no file peopel.csv (did you mean `people.csv`? the file must be in the scenario's folder)",
		"population: {from: data/poeple.csv, columns: [id]}":     "there is no file data/poeple.csv (did you mean `data/people.csv`?",
		"population: {from: dat/people.csv}":                     "there is no file dat/people.csv (the file must be in the scenario's folder)",
		"functions: onw.star":                                    "there is no file onw.star (did you mean `own.star`?",
		"population: {from: people.csv}\nclock: {cycles: two}":   "`cycles` must be a whole number, found `two`",
		"population: {from: people.csv}\nclock: {cycles: \"2\"}": "`cycles` must be a whole number",
		"services: {m: {kind: llm, provider: mock}}\nchain d: {step a: {kind: llm, service: m, prompt: x, otherwise: {learned: ruel.json}}}": "there is no file ruel.json; did you mean rule.json?",
	} {
		file := filepath.Join(dir, "test.yaml")
		if err := os.WriteFile(file, []byte(minimal(lines)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", lines, err, want)
		}
	}
}
