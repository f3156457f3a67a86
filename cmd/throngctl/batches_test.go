package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// batched returns a run of the shoppers for some days, in batches if one is given.
func batched(data string, more ...string) []string {
	args := day(data, "--no-dashboard")
	return append(args, more...)
}

// TestSameResultWithBatches checks that the results are the same for any batch size and concurrency, with the batch in the
// file or as a flag.
func TestSameResultWithBatches(t *testing.T) {
	t.Parallel()
	var want string
	for _, c := range [][]string{
		{"--max-concurrent", "8"},
		{"--max-concurrent", "8", "--batch", "7"},
		{"--max-concurrent", "1", "--batch", "12"},
		{"--max-concurrent", "50", "--batch", "1"},
		{"--max-concurrent", "30", "--batch", "1000"},
	} {
		data := t.TempDir()
		out := filepath.Join(data, "out")
		code, stdout, stderr := ctl(t, batched(data, append(c, "--export", out)...)...)
		if code != exitDone || strings.Contains(stdout, "inexact") {
			t.Fatalf("%v: exit code %d\n%s%s", c, code, stdout, stderr)
		}
		got := results(t, data)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%v: results differ\n%s", c, difference(want, got))
		}
		if m := read(t, out, "run.json"); len(c) > 2 && !strings.Contains(m, fmt.Sprintf("\"batch\": %s", c[3])) {
			t.Errorf("%v: the batch is not in run.json", c)
		}
	}
	if strings.Count(want, "\n") < 90 {
		t.Errorf("too few results to prove much:\n%s", want)
	}
}

// TestKilledInABatch kills a run repeatedly within its cycles, with some batches of a cycle done and others not. The
// resumed run has the same result.
func TestKilledInABatch(t *testing.T) {
	t.Parallel()
	calm := t.TempDir()
	if code, stdout, stderr := ctl(t, batched(calm, "--max-concurrent", "8", "--export", filepath.Join(calm, "out"))...); code != exitDone {
		t.Fatal(stdout, stderr)
	}
	want := results(t, calm)
	data := t.TempDir()
	killed(t, "change:20", batched(data, "--batch", "4", "--max-concurrent", "3")...)
	partly := 0
	for kill := range 3 {
		_, state, _ := ctl(t, "export", "--data", data, "--what", "sessions")
		if n := strings.Count(state, "\n") - 1; n%30 != 0 {
			partly++
		}
		killed(t, fmt.Sprintf("change:%d", 15+7*kill), "resume", "--data", data, "--no-dashboard")
	}
	if code, stdout, stderr := ctl(t, "resume", "--data", data, "--no-dashboard", "--export", filepath.Join(data, "out")); code != exitDone || strings.Contains(stdout, "inexact") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if got := results(t, data); got != want {
		t.Errorf("results differ\n%s", difference(want, got))
	}
	if partly == 0 {
		t.Error("no kill came within a cycle")
	}
}

// TestStorageCriterion checks that a run that uses more of the store than its criterion allows fails, and that the figure
// is shown.
func TestStorageCriterion(t *testing.T) {
	t.Parallel()
	for bound, want := range map[string]int{"< 1GB": exitDone, "< 2kB": exitFailed} {
		file := scenarioFile(t, "population: {count: 20}\nsuccess: {storage: \""+bound+"\"}\nchain c: {step a: {kind: emit, event: seen, data: \"${agent.index}\"}}\n")
		data := t.TempDir()
		code, stdout, stderr := ctl(t, "run", file, "--data", data, "--no-dashboard", "--export", filepath.Join(data, "out"))
		if code != want || !strings.Contains(stdout, "storage") {
			t.Errorf("%s: exit code %d, want %d\n%s%s", bound, code, want, stdout, stderr)
		}
		_, success, _ := strings.Cut(read(t, data, "out", "run.json"), `"success": [`)
		if !strings.Contains(success, `"metric": "storage"`) || !strings.Contains(success, fmt.Sprintf(`"passed": %t`, want == exitDone)) {
			t.Errorf("%s: run.json has\n%s", bound, success)
		}
	}
}
