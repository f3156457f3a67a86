package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReport writes the report of a run and of its fork beside it, and of one that goes on.
func TestReport(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	code, out, stderr := ctl(t, day(data, "--checkpoint-interval", "1ms", "--keep-checkpoints", "1000")...)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	parent := regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)[1]
	_, list, _ := ctl(t, "checkpoints", "--data", data)
	lines := strings.Split(strings.TrimSpace(list), "\n")
	first := strings.Fields(lines[len(lines)-1])[0]
	if code, out, stderr := ctl(t, "fork", parent, "--checkpoint", first, "--set", "eagerness=3", "--no-dashboard", "--data", data); code == exitUsage {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	path := filepath.Join(dir, "report.html")
	code, out, stderr = ctl(t, "report", "--against", parent, "--audit", "-o", path, "--data", data)
	if code != exitDone || !strings.Contains(out, path) {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	page := read(t, path)
	for _, want := range []string{"Forked from run " + parent, "Beside run " + parent, "parameter eagerness", "figures recomputed, all equal", "criteria", "Services", "<td>shop</td>", "</html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	if _, again, _ := ctl(t, "report", "--against", parent, "--audit", "-o", "-", "--data", data); again != page {
		t.Error("the same run gives another report")
	}
	for args, want := range map[string]string{
		"report nobody":                             "not found",
		"report --against nobody":                   "not found",
		"report " + parent + " --against " + parent: "is named twice",
	} {
		if code, _, stderr := ctl(t, append(strings.Fields(args), "-o", filepath.Join(dir, "none.html"), "--data", data)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d\n%s", args, code, stderr)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
}

func TestReportOfARunInProgress(t *testing.T) {
	data := t.TempDir()
	slowRun(t, data)
	code, page, stderr := ctl(t, "report", "-o", "-", "--data", data)
	if code != exitDone || !strings.Contains(page, "in progress") || !strings.Contains(page, "the run is still going on") {
		t.Errorf("exit code %d\n%.600s%s", code, page, stderr)
	}
}
