package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
)

// TestPythonRunners checks that the flags and variables of Python runners are read in their usual forms, and that flags
// override variables, and variables override saved settings.
func TestPythonRunners(t *testing.T) {
	for _, c := range []struct {
		flags, env, saved string // what is given
		setting           string
		value, from       string
	}{
		{"--hours 6", "", "", "hours", "6", "--hours"},
		{"--time-scale 24", "", "", "time-scale", "24", "--time-scale"},
		{"--max-concurrent 30", "", "", "max-concurrent", "30", "--max-concurrent"},
		{"--max-concurrent 30", "SIMULATION_MAX_CONCURRENT=20", "max-concurrent=10", "max-concurrent", "30", "--max-concurrent"},
		{"", "SIMULATION_MAX_CONCURRENT=20", "max-concurrent=10", "max-concurrent", "20", "SIMULATION_MAX_CONCURRENT"},
		{"", "", "max-concurrent=10", "max-concurrent", "10", "saved"},
		{"", "MAX_WORKERS=12", "max-concurrent=10", "max-concurrent", "12", "MAX_WORKERS"},
		{"", "MAX_WORKERS=12", "", "ceiling", "12", "default, limited by the concurrency limit"},
		{"", "MAX_WORKERS=None", "", "max-concurrent", "50", "default"},
		{"--max-concurrent 8 --ceiling 40", "", "", "ceiling", "40", "--ceiling"},
		{"", "PARALLEL_AGENT_GENERATION=False", "", "sequential-personas", "on", "PARALLEL_AGENT_GENERATION"},
		{"--batch 50", "", "", "batch", "50", "--batch"},
		{"--preset 80/50", "", "", "cpu-low", "50%", "--preset 80/50"},
		{"--checkpoint-interval 300", "", "", "checkpoint-interval", "5m", "--checkpoint-interval"},
		{"", "SIMULATION_CHECKPOINT_INTERVAL=90", "checkpoint-interval=1h", "checkpoint-interval", "1m30s", "SIMULATION_CHECKPOINT_INTERVAL"},
		{"--checkpoint-interval 60", "SIMULATION_CHECKPOINT_INTERVAL=90", "", "checkpoint-interval", "1m", "--checkpoint-interval"},
		{"--adaptive", "", "governor=manual", "governor", "adaptive", "--governor"},
		{"--no-adaptive", "", "", "governor", "manual", "--governor"},
		{"", "SIMULATION_MODE=false", "", "simulation-mode", "off", "SIMULATION_MODE"},
		{"", "SIMULATION_MODE=True", "simulation-mode=off", "simulation-mode", "on", "SIMULATION_MODE"},
		{"--simulation-mode 0", "SIMULATION_MODE=1", "", "simulation-mode", "off", "--simulation-mode"},
		{"", "MAX_CONCURRENT_LLM_CALLS=25", "max-llm-calls=5", "max-llm-calls", "25", "MAX_CONCURRENT_LLM_CALLS"},
		{"--max-llm-calls 7", "MAX_CONCURRENT_LLM_CALLS=25", "", "max-llm-calls", "7", "--max-llm-calls"},
		{"", "CHAIN_TIMEOUT_SECONDS=120", "chain-timeout=9", "chain-timeout", "2m", "CHAIN_TIMEOUT_SECONDS"},
		{"--chain-timeout 30", "CHAIN_TIMEOUT_SECONDS=120", "", "chain-timeout", "30s", "--chain-timeout"},
		{"", "ENABLE_PARALLEL_STEPS=false", "", "sequential-steps", "on", "ENABLE_PARALLEL_STEPS"},
		{"", "ENABLE_PARALLEL_STEPS=1", "sequential-steps=on", "sequential-steps", "off", "ENABLE_PARALLEL_STEPS"},
		{"", "PARALLEL_EXECUTION_TIMEOUT=600", "cycle-timeout=9", "cycle-timeout", "10m", "PARALLEL_EXECUTION_TIMEOUT"},
		{"", "THRONG_DATABASE_URL=postgres://ann@127.0.0.1:1/lab", "database-url=postgres://bob@127.0.0.1:2/lab", "database-url", "127.0.0.1:1/lab", "THRONG_DATABASE_URL"},
		{"--database-url postgres://eve@127.0.0.1:3/lab", "THRONG_DATABASE_URL=postgres://ann@127.0.0.1:1/lab", "", "database-url", "127.0.0.1:3/lab", "--database-url"},
	} {
		t.Run(strings.TrimSpace(c.flags+" "+c.env), func(t *testing.T) {
			data := t.TempDir()
			if c.saved != "" {
				if code, _, stderr := ctl(t, "settings", "--data", data, c.saved); code != exitDone {
					t.Fatal(stderr)
				}
			}
			for _, name := range []string{"THRONG_DATABASE_URL", "SIMULATION_MAX_CONCURRENT", "MAX_WORKERS"} {
				t.Setenv(name, "")
			}
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			code, out, stderr := ctl(t, slices.Concat([]string{"settings", "--data", data, "--json"}, strings.Fields(c.flags))...)
			if code != exitDone {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			var got answer.Settings
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			i := slices.IndexFunc(got.Settings, func(s answer.Setting) bool { return s.Name == c.setting })
			if i < 0 || got.Settings[i].Value != c.value || got.Settings[i].From != c.from {
				t.Errorf("%s is not %s from %s:\n%s", c.setting, c.value, c.from, out)
			}
		})
	}
}

// TestAgentsOfPythonRunners checks that one --agents flag takes several agents.
func TestAgentsOfPythonRunners(t *testing.T) {
	_, out, stderr := ctl(t, "run", "shopping", "--data", t.TempDir(), "--mock-latency", "none", "--agents", "shopper-1", "shopper-2", "shopper-5", "--json")
	var first answer.Started
	if err := json.Unmarshal([]byte(out[:strings.Index(out, "\n")+1]), &first); err != nil || first.Agents != 3 {
		t.Errorf("%v: %s%s", err, out, stderr)
	}
}

// TestRunResume checks run --resume alone, and with a run or a scenario.
func TestRunResume(t *testing.T) {
	data := t.TempDir()
	begin := func() string {
		code, out, stderr := ctl(t, "run", "shopping", "--data", data, "--set", "agents=10", "--mock-latency", "none", "--cycles", "2", "--max-requests", "10")
		if code != exitFailed {
			t.Fatalf("exit code %d\n%s%s", code, out, stderr)
		}
		return out[len("run "):strings.Index(out, ":")]
	}
	for _, c := range []struct {
		line, problem string
	}{
		{"run --resume --set agents=3", "keeps its --set"},
		{"run --resume --seed 3", "keeps its --seed"},
		{"run conversation --resume", "no run of conversation yet"},
		{"run conversation --resume RUN", "is not of conversation"},
		{"run --resume 20990101-", "20990101-"},
		{"run --resume nope", "no run and no scenario named nope"},
		{"run --resume", ""},
		{"run shopping --resume", ""},
		{"run --resume latest", ""},
		{"run --resume RUN", ""},
		{"run --resume=RUN shopping", ""},
	} {
		id := begin()
		args := strings.Fields(strings.ReplaceAll(c.line, "RUN", id))
		code, out, stderr := ctl(t, append(args, "--data", data, "--max-requests", "0")...)
		switch {
		case c.problem != "" && (code != exitUsage || !strings.Contains(stderr, c.problem)):
			t.Errorf("%s: exit code %d\n%s%s", c.line, code, out, stderr)
		case c.problem == "" && (code != exitDone || !strings.HasPrefix(out, "resuming run "+id+":")):
			t.Errorf("%s: exit code %d\n%s%s", c.line, code, out, stderr)
		}
	}
}
