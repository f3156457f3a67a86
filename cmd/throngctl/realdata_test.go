package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRealData compares the built-in study with its made-up panel, and with another file. It finds the planted difference and no other,
// and the answers of the mock model are not those of one voice.
func TestRealData(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if code, out, stderr := ctl(t, "run", "study", "--data", data, "--no-dashboard", "--mock-latency", "none", "--set", "people=200"); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	const run = "A study of a new product"
	code, out, stderr := ctl(t, "compare", run, "--data", data)
	if code != exitDone || !strings.Contains(out, "price: the run's mean of") || !strings.Contains(out, "region: no difference found") {
		t.Errorf("with its panel: exit code %d\n%s%s", code, out, stderr)
	}
	other := filepath.Join(t.TempDir(), "other.csv")
	text := "where,age\n"
	for range 50 { // as the targets of the study have the regions, and everybody of the same age
		text += strings.Repeat("north,90\n", 22) + strings.Repeat("south,90\n", 31) + strings.Repeat("east,90\n", 20) + strings.Repeat("west,90\n", 27)
	}
	if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr = ctl(t, "compare", run, "--with", other, "--measure", "where=agent.region", "--measure", "age=agent.age", "--data", data)
	if code != exitDone || !strings.Contains(out, "1 of 2 measures differ") || !strings.Contains(out, "where: no difference found") {
		t.Errorf("with another file: exit code %d\n%s%s", code, out, stderr)
	}
	for want, args := range map[string][]string{
		"income":       {"--with", other, "--measure", "income=agent.region"},
		"no such file": {"--with", filepath.Join(data, "nowhere.csv")},
	} {
		if code, out, stderr := ctl(t, append([]string{"compare", run, "--data", data}, args...)...); code == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, want %q\n%s%s", args, code, want, out, stderr)
		}
	}
	code, out, stderr = ctl(t, "transcript", run, "--voices", "--data", data)
	if code != exitDone || !strings.Contains(out, "opinion  200") || strings.Contains(out, "answer alike") {
		t.Errorf("voices: exit code %d\n%s%s", code, out, stderr)
	}
	table := filepath.Join(t.TempDir(), "table.csv")
	for want, args := range map[string][]string{
		"price,memory.price,agent,number,true,": {"compare", run, "--csv", table},
		"opinion,compared,,200\n":               {"transcript", run, "--voices", "--csv", table},
	} {
		code, out, stderr := ctl(t, append(args, "--data", data)...)
		if got, err := os.ReadFile(table); code != exitDone || err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%q: exit code %d, %v, want %q in\n%s\n%s%s", args, code, err, want, got, out, stderr)
		}
	}
	if code, _, stderr := ctl(t, "transcript", run, "--csv", table, "--data", data); code == exitDone || !strings.Contains(stderr, "--voices") {
		t.Errorf("CSV without voices: exit code %d\n%s", code, stderr)
	}
}
