package main

import (
	"encoding/csv"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// crowdRun runs shoppers without faults and returns the run's id.
func crowdRun(t *testing.T, data string, more ...string) string {
	t.Helper()
	args := append([]string{"run", "shopping", "--data", data, "--set", "agents=60", "--cycles", "4", "--seed", "7", "--mock-latency", "none"}, more...)
	code, out, stderr := ctl(t, args...)
	found := regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)
	if code != exitDone || found == nil {
		t.Fatalf("%v: exit code %d\n%s%s", args, code, out, stderr)
	}
	return found[1]
}

// TestCompare checks that the effect of a parameter is found, that equal runs do not differ, and that a fork differs only
// after its start.
func TestCompare(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	lazy := crowdRun(t, data, "--set", "eagerness=2", "--checkpoint-interval", "30ms", "--keep-checkpoints", "1000")
	again := crowdRun(t, data, "--set", "eagerness=2", "--max-concurrent", "3")
	eager := crowdRun(t, data, "--set", "eagerness=8")
	file := filepath.Join(t.TempDir(), "cycles.csv")
	code, out, stderr := ctl(t, "compare", lazy, again, eager, "--data", data, "--csv", file, "--cycles")
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, want := range []string{"cycles 0 to 3,", "max-concurrent 50 → 3", "parameter eagerness 2 → 8", "each agent is compared with itself"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	tables := strings.Split(out, "MEASURE")
	if len(tables) != 3 {
		t.Fatalf("%d tables\n%s", len(tables)-1, out)
	}
	if results, _, _ := strings.Cut(tables[1], "time (not a result)"); strings.Contains(results, "differs") || strings.Count(results, "the same") < 5 {
		t.Errorf("the same run differs\n%s", results)
	}
	if !regexp.MustCompile(`(?m)^ +order .*differs$`).MatchString(tables[2]) || !regexp.MustCompile(`(?m)^ +ended ok .*\+\d.*differs$`).MatchString(tables[2]) {
		t.Errorf("more eager shoppers do not differ\n%s", tables[2])
	}
	rows, err := csv.NewReader(strings.NewReader(read(t, file))).ReadAll()
	if err != nil || len(rows) != 1+3*4 || rows[1][0] != lazy || rows[1][2] != "60" || rows[12][0] != eager || !strings.HasPrefix(rows[0][8], "event_") {
		t.Errorf("%d rows, %v: %v", len(rows), err, rows)
	}

	code, out, stderr = ctl(t, "fork", lazy, "--data", data, "--set", "eagerness=8")
	found := regexp.MustCompile(`(?m)run (\S+): `).FindStringSubmatch(out)
	if code != exitDone || found == nil {
		t.Fatalf("fork: exit code %d\n%s%s", code, out, stderr)
	}
	want(t, exitDone, "", []string{"compare", lazy, found[1], "--data", data}, "parameter eagerness 2 → 8", "which all runs completed")
	want(t, exitUsage, "", []string{"compare", lazy, "--data", data}, "nothing to compare")
	want(t, exitUsage, "", []string{"compare", lazy, lazy, "--data", data}, "is named twice")
	want(t, exitUsage, "", []string{"compare", lazy, eager, "--from", "9", "--data", data}, "0 to 3")
	want(t, exitUsage, "", []string{"compare", lazy, "unknown", "--data", data}, "unknown")
}
