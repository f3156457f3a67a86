package main

import (
	"encoding/csv"
	"path/filepath"
	"regexp"
	"strconv"
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
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	lazy := crowdRun(t, data, "--set", "eagerness=2", "--checkpoint-interval", "30ms", "--keep-checkpoints", "1000")
	again := crowdRun(t, data, "--set", "eagerness=2", "--max-concurrent", "3")
	eager := crowdRun(t, data, "--set", "eagerness=8")
	file := filepath.Join(t.TempDir(), "cycles.csv")
	code, out, stderr := ctl(t, "compare", lazy, again, eager, "--data", data, "--csv", file, "--cycles")
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, want := range []string{"4 cycles (0 to 3),", "max-concurrent 50 → 3", "parameter eagerness 2 → 8", "a single run cannot tell a difference from chance", "Agents share chance because they share answers of models (decide_shop)"} {
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
	if !regexp.MustCompile(`(?m)^ +ended ok .*\+\d.* points +unknown *$`).MatchString(tables[2]) || strings.Contains(tables[2], "differs") {
		t.Errorf("single runs tell differences from chance\n%s", tables[2])
	}
	rows, err := csv.NewReader(strings.NewReader(read(t, file))).ReadAll()
	if err != nil || len(rows) != 1+3*4 || rows[1][1] != lazy || rows[1][3] != "60" || rows[12][0] != "C" || rows[12][1] != eager || !strings.HasPrefix(rows[0][9], "event_") {
		t.Errorf("%d rows, %v: %v", len(rows), err, rows)
	}

	code, out, stderr = ctl(t, "fork", lazy, "--data", data, "--set", "eagerness=8")
	found := regexp.MustCompile(`(?m)run (\S+): `).FindStringSubmatch(out)
	if code != exitDone || found == nil {
		t.Fatalf("fork: exit code %d\n%s%s", code, out, stderr)
	}
	want(t, exitDone, "", []string{"compare", lazy, found[1], "--data", data}, "parameter eagerness 2 → 8", "which all runs completed")
	want(t, exitUsage, "", []string{"compare", lazy, "--data", data}, "no real data to compare it with")
	want(t, exitUsage, "", []string{"compare", "--data", data}, "no real data to compare it with")
	want(t, exitUsage, "", []string{"timeline", "--data", data}, "no agent named (name an agent")
	want(t, exitUsage, "", []string{"compare", lazy, lazy, "--data", data}, "is named twice")
	want(t, exitUsage, "", []string{"compare", lazy, eager, "--from", "9", "--data", data}, "0 to 3")
	want(t, exitUsage, "", []string{"compare", lazy, "unknown", "--data", data}, "unknown")
}

// TestCompareSeeds checks that runs with different seeds are compared as one, and that other seeds of a setup are found.
func TestCompareSeeds(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	groups := make([]string, 2)
	first := make([]string, 2)
	for i, eagerness := range []string{"1", "8"} {
		for seed := 12; seed > 0; seed-- {
			id := crowdRun(t, data, "--cycles", "1", "--set", "eagerness="+eagerness, "--seed", strconv.Itoa(seed))
			groups[i] += "," + id
			first[i] = id
		}
		groups[i] = groups[i][1:]
	}
	compare := func(args ...string) string {
		t.Helper()
		code, out, stderr := ctl(t, append(append([]string{"compare"}, args...), "--data", data)...)
		if code != exitDone {
			t.Fatalf("%v: exit code %d\n%s", args, code, stderr)
		}
		return out
	}
	named := compare(groups[0], groups[1])
	for _, text := range []string{"The unit is the run; runs with the same seed", "parameter eagerness 1 → 8", ", seed 6, "} {
		if !strings.Contains(named, text) {
			t.Errorf("%q is missing in\n%s", text, named)
		}
	}
	if !regexp.MustCompile(`(?m)^ +ended ok .*\+\d.* points \(\+.*differs$`).MatchString(named) || strings.Contains(named, "seed 1 → ") {
		t.Errorf("more eager shoppers do not differ\n%s", named)
	}
	if found := compare(first[0], first[1], "--replicates"); found != named {
		t.Errorf("found seeds are compared in another way\n%s\n%s", named, found)
	}
	answer := compare(groups[0], groups[1], "--json")
	if strings.Count(answer, `"sessions": 60`) != 24 || !strings.Contains(answer, `"unit": "run"`) || !strings.Contains(answer, `"paired": true`) {
		t.Errorf("the answer is\n%s", answer)
	}
	want(t, exitUsage, "", []string{"compare", first[0] + "," + first[1], groups[1], "--data", data}, "not the same setup with different seeds", "eagerness 1 → 8")
	want(t, exitUsage, "", []string{"compare", groups[0], first[1], "--replicates", "--data", data}, "names several runs")
	again := crowdRun(t, data, "--cycles", "1", "--set", "eagerness=1", "--seed", "1")
	want(t, exitUsage, "", []string{"compare", again + "," + first[0], groups[1], "--data", data}, "have the same seed")
}
