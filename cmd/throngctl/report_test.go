package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestReport writes the reports of a run and of its fork compared with it.
func TestReport(t *testing.T) {
	t.Parallel()
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
	for _, want := range []string{"(run " + parent + ") from ", "Comparison with run " + parent, "parameter eagerness", "figures recomputed, all equal", "criteria", "Services", "<td>shop</td>", "</html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in the report", want)
		}
	}
	if _, again, _ := ctl(t, "report", "--against", parent, "--audit", "-o", "-", "--data", data); again != page {
		t.Error("two reports of the same run differ")
	}
	for args, want := range map[string]string{
		"report unknown":                            "no such run",
		"report --against unknown":                  "not found",
		"report " + parent + " --against " + parent: "is named twice",
	} {
		if code, _, stderr := ctl(t, append(strings.Fields(args), "-o", filepath.Join(dir, "none.html"), "--data", data)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d\n%s", args, code, stderr)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("got files %v", left)
	}
}

func TestReportOfARunInProgress(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	slowRun(t, data)
	code, page, stderr := ctl(t, "report", "-o", "-", "--data", data)
	if code != exitDone || !strings.Contains(page, "in progress") || !strings.Contains(page, "the run is in progress") {
		t.Errorf("exit code %d\n%.600s%s", code, page, stderr)
	}
}

// TestReportInTheExportFolder checks that run, fork and resume write the same report into the export folder as throngctl
// report.
func TestReportInTheExportFolder(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	number := ""
	for i, words := range []string{
		"run shopping --set agents=20 --set eagerness=8 --cycles 4 --max-requests 60 --mock-latency none --checkpoint-interval 1ms",
		"resume --max-requests 0 --mock-latency none",
		"fork --set agents=20 --set eagerness=8 --cycles 4 --max-requests 0 --mock-latency none",
	} {
		args, folder := strings.Fields(words), filepath.Join(dir, strconv.Itoa(i))
		if args[0] == "fork" {
			args = append(args, "--checkpoint", number)
		}
		code, out, stderr := ctl(t, append(args, "--no-dashboard", "--data", data, "--export", folder)...)
		path := filepath.Join(folder, "report.html")
		if want := []int{exitFailed, exitDone, exitDone}[i]; code != want || !strings.Contains(out, path) {
			t.Fatalf("%s: exit code %d, want %d\n%s%s", args[0], code, want, out, stderr)
		}
		page := read(t, path)
		if _, again, _ := ctl(t, "report", "-o", "-", "--data", data); page != again || !strings.Contains(page, "</html>") {
			t.Errorf("%s: throngctl report writes another page, of %d bytes, not %d", args[0], len(again), len(page))
		}
		if strings.Contains(page, "the run is in progress") {
			t.Errorf("%s: the report is of a run in progress", args[0])
		}
		if code, out, stderr := ctl(t, "audit", "--export", folder, "--data", data); code != exitDone {
			t.Errorf("%s: exit code %d\n%s%s", args[0], code, out, stderr)
		}
		_, list, _ := ctl(t, "checkpoints", "--data", data)
		lines := strings.Split(strings.TrimSpace(list), "\n")
		number = strings.Fields(lines[len(lines)-1])[0]
	}
}
