package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// people returns a run of testdata/people.yaml.
func people(data string, more ...string) []string {
	return append([]string{
		"run", filepath.Join("testdata", "people.yaml"), "--data", data, "--seed", "7", "--mock-latency", "none", "--no-dashboard",
	}, more...)
}

// who returns the agents of an exported run, each once, in order.
func who(t *testing.T, sessions string) string {
	t.Helper()
	var ids []string
	for _, line := range strings.Split(strings.TrimSpace(sessions), "\n")[1:] {
		if id := strings.Split(line, ",")[2]; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, " ")
}

// TestChosenAgents checks which agents are active with all forms of --agents and --filter.
func TestChosenAgents(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string // the agents
		says string
	}{
		{"the population's filter", nil, "ann bob dan eve fay", "5 of 6 agents"},
		{"a filter", []string{"--filter", "agent.city == 'Ulm' or agent.age > 60"}, "ann dan fay", "3 of 6 agents"},
		{"commas", []string{"--agents", "eve,ann"}, "ann eve", "2 of 6 agents"},
		{"one after the other", []string{"--agents", "eve", "ann", "cay"}, "ann eve", "2 of 6 agents"},
		{"several flags", []string{"--agents", "eve", "--cycles", "1", "--agents", "ann", "bob,dan"}, "ann bob dan eve", "4 of 6 agents"},
		{"both", []string{"--agents", "ann", "bob", "--filter", "agent.age > 30"}, "bob", "1 of 6 agents"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := t.TempDir()
			args := people(data, tt.args...)
			if !slices.Contains(args, "--cycles") {
				args = append(args, "--cycles", "1")
			}
			code, out, stderr := ctl(t, args...)
			if code != exitDone || !strings.Contains(out, tt.says) {
				t.Fatalf("exit code %d, want %q in\n%s%s", code, tt.says, out, stderr)
			}
			_, sessions, _ := ctl(t, "export", "--data", data, "--what", "sessions")
			if got := who(t, sessions); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestNoActiveAgents checks that a run without agents is refused, with the values of the attributes in the filter.
func TestNoActiveAgents(t *testing.T) {
	data := t.TempDir()
	for _, tt := range []struct{ option, value, want string }{
		{"--filter", "agent.age > 99", "agents that the filter of the scenario leaves (agent.age is from 18 to 62)"},
		{"--agents", "cay", `people.yaml:6:11: "agent.age" does not match the chosen agent (agent.age is absent)`},
	} {
		code, out, stderr := ctl(t, people(data, tt.option, tt.value)...)
		if code != exitUsage || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s %s: exit code %d, no %q in\n%s%s", tt.option, tt.value, code, tt.want, out, stderr)
		}
	}
	want(t, exitDone, "", []string{"runs", "--data", data}, "no runs yet")
}

// TestWrongChoicesStartNothing checks the errors of invalid agents and filters.
func TestWrongChoicesStartNothing(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--filter", "agent.agee > 3"}, `filter: agent has no agee here, at column 7 of "agent.agee > 3" (did you mean age?)`},
		{[]string{"--agents", "ann", "zoe"}, "agents: no such agent: zoe"},
		{[]string{"other.yaml"}, "other.yaml: more than one scenario file"},
		{[]string{"--keep-awake", "nope"}, "nope: more than one scenario file (agent IDs follow --agents; a switch takes on or off)"},
	} {
		data := t.TempDir()
		code, out, stderr := ctl(t, people(data, tt.args...)...)
		if code != exitUsage || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: exit code %d, want %q in\n%s%s", tt.args, code, tt.want, out, stderr)
		}
		if _, out, _ := ctl(t, "runs", "--data", data); strings.Contains(out, "Neighbours") {
			t.Errorf("%v: a run was created:\n%s", tt.args, out)
		}
	}
	if code, _, stderr := ctl(t, "resume", "--data", t.TempDir(), "--filter", "True"); code != exitUsage || !strings.Contains(stderr, "unknown flag --filter") {
		t.Errorf("resume accepts a filter: exit code %d: %s", code, stderr)
	}
}

// TestResumeKeepsTheFilter kills a filtered run of a population file, resumes it without naming agents, and compares the
// results with those of an uninterrupted run.
func TestResumeKeepsTheFilter(t *testing.T) {
	const filter = "agent.city != 'Bonn'"
	whole := t.TempDir()
	code, out, stderr := ctl(t, people(whole, "--filter", filter, "--agents", "ann,bob,dan,fay", "--export", filepath.Join(whole, "out"))...)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	sessions, events := read(t, whole, "out", "sessions.csv"), read(t, whole, "out", "events.csv")
	if got := who(t, sessions); got != "ann dan fay" {
		t.Fatalf("active agents: %s", got)
	}
	data := t.TempDir()
	cmd, stdout, errs := process(t, []string{killEnv + "=request:30"}, people(data, "--filter", filter, "--agents", "ann,bob,dan,fay", "--max-concurrent", "2")...)
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the run was not killed: %v\n%s%s", err, stdout, errs)
	}
	code, out, stderr = ctl(t, "resume", "--data", data, "--export", filepath.Join(data, "out"), "--no-dashboard")
	if code != exitDone || !strings.Contains(out, "3 of 6 agents") {
		t.Fatalf("resume: exit code %d\n%s%s", code, out, stderr)
	}
	if got := read(t, data, "out", "sessions.csv"); got != sessions {
		t.Errorf("sessions.csv differs\n%s", difference(sessions, got))
	}
	if got := read(t, data, "out", "events.csv"); got != events {
		t.Errorf("events.csv differs\n%s", difference(events, got))
	}
	var manifest struct {
		Settings struct{ Filter string }
		Scenario struct{ Files map[string]string }
	}
	if err := json.Unmarshal([]byte(read(t, data, "out", "run.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Settings.Filter != filter || manifest.Scenario.Files["people.csv"] != read(t, "testdata", "people.csv") {
		t.Errorf("run.json: got %+v", manifest)
	}
}

// TestGuidePopulation runs the guide's example of a population file.
func TestGuidePopulation(t *testing.T) {
	parts := strings.Split(page(t, "scenario"), "```yaml\n")
	if len(parts) < 3 {
		t.Fatal("the guide has no population")
	}
	text, _, _ := strings.Cut(parts[2], "```")
	dir := t.TempDir()
	for name, content := range map[string]string{
		"s.yaml":     text + "chain c: {step a: {kind: emit, event: e, data: \"${agent.zip}\"}}\n",
		"people.csv": "id,age,zip\nann,30,89073\nbob,41,53111\ncay,,89073\ndan,20,00000\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, stderr := ctl(t, "run", filepath.Join(dir, "s.yaml"), "--data", dir, "--cycles", "1", "--no-dashboard", "--export", dir)
	if code != exitDone || !strings.Contains(out, "2 of 4 agents") {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	if events := read(t, dir, "events.csv"); who(t, events) != "ann bob" || !strings.Contains(events, ",89073\n") {
		t.Errorf("events:\n%s", events)
	}
}
