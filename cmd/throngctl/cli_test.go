package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/config"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestBadInputStartsNothing checks that invalid files and values are reported with exit code 2 and that no store is created.
func TestBadInputStartsNothing(t *testing.T) {
	broken := filepath.Join("testdata", "broken.yaml")
	tests := []struct {
		name string
		args []string
		want []string // in the error
	}{
		{"population of 0", []string{"run", "shopping", "--set", "agents=0"}, []string{"agents", "below 1"}},
		{"limit of 0", []string{"run", "shopping", "--max-concurrent", "0"}, []string{"max-concurrent", "at least 1"}},
		{"unknown parameter", []string{"run", "shopping", "--set", "agent=3"}, []string{"agent", "did you mean agents?"}},
		{"not a number", []string{"run", "shopping", "--set", "agents=many"}, []string{"many", "whole number"}},
		{"unknown agent", []string{"run", "shopping", "--set", "agents=3", "--agents", "shopper-4"}, []string{"shopper-4", "shopper-1"}},
		{"no such file", []string{"run", "nowhere.yaml"}, []string{"throngctl: no such file or built-in scenario: nowhere.yaml", "(built-in scenarios: analysis, conversation, shopping, study, world)\n"}},
		{"broken file", []string{"run", broken}, []string{"broken.yaml:", "errors; nothing was started"}},
		{"unknown flag", []string{"run", "shopping", "--max-concurent", "3"}, []string{"unknown flag", "--max-concurrent"}},
		{"two lengths", []string{"run", "shopping", "--cycles", "3", "--hours", "1"}, []string{"--cycles", "--hours"}},
		{"strange host", []string{"run", "shopping", "--service", "shop=https://shop.example.com"}, []string{"shop.example.com", "--allow"}},
		{"unknown service", []string{"run", "shopping", "--service", "shops=http://127.0.0.1:1"}, []string{"no service shops"}},
		{"unknown fault", []string{"run", "shopping", "--mock-fault", "fire=1"}, []string{"fire", "server_error"}},
		{"no number of requests", []string{"run", "shopping", "--mock-fault", "token_requests=many"}, []string{"token_requests", "for example 20"}},
		{"no quota", []string{"run", "shopping", "--mock-fault", "quota=many"}, []string{"fault quota", "for example 20"}},
		{"a negative quota", []string{"run", "shopping", "--mock-fault", "quota=-1"}, []string{"the quota is -1 requests per second"}},
		{"no capacity", []string{"run", "shopping", "--mock-fault", "capacity=1.5"}, []string{"fault capacity", "not a number of requests"}},
		{"another fault", []string{"run", "shopping", "--mock-fault", "slow=1"}, []string{"unknown fault slow", "token_requests, quota, capacity"}},
		{"a negative number of token requests", []string{"run", "shopping", "--mock-fault", "token_requests=-1"}, []string{"token"}},
		{"share above 1", []string{"run", "shopping", "--mock-fault", "hang=2"}, []string{"fault"}},
		{"warm-up of nonsense", []string{"run", "shopping", "--warm-up", "soon"}, []string{"--warm-up", "soon"}},
		{"nothing to resume", []string{"resume"}, []string{"throngctl: no runs yet; try: throngctl run shopping\n"}},
		{"unknown run", []string{"resume", "20200101-nope"}, []string{"no such run: 20200101-nope", "throngctl runs"}},
		{"no argument", []string{"experiment", "run"}, []string{"the argument <file> is missing"}},
		{"no agent", []string{"retire"}, []string{"the argument <agent> is missing"}},
		{"no command", []string{"--debug"}, []string{"a command is missing; throngctl help lists them"}},
		{"no command of a command", []string{"secret"}, []string{"a command is missing; choose set, forget, check"}},
		{"another command of a command", []string{"secret", "show"}, []string{`unknown command "show"; choose set, forget, check`}},
		{"no value of a parameter", []string{"run", "shopping", "--set", "agents"}, []string{`--set takes NAME=VALUE, not "agents"`}},
		{"a word as a priority", []string{"queue", "priority", "abcd", "high"}, []string{`n: "high" is not a whole number`}},
		{"runs that do not exist", []string{"compare", "nothing"}, []string{"no such run: nothing; throngctl runs lists them"}},
		{"a negative number", []string{"run", "shopping", "--cycles", "-1"}, []string{"write --cycles=-1"}},
		{"open to the world", []string{"mock", "--shop", "0.0.0.0:0"}, []string{"loopback"}},
		{"model open to the world", []string{"mock", "--model", "0.0.0.0:0"}, []string{"loopback"}},
		{"record for the world", []string{"record", "--target", "shop.example", "--listen", "0.0.0.0:0"}, []string{"other machines", "--anywhere"}},
		{"record nothing", []string{"record"}, []string{"--target"}},
		{"record with a password", []string{"record", "--target", "https://ann:pw@shop.example"}, []string{"user or a password"}},
		{"record more hosts", []string{"record", "--target", "https://shop.example", "--host", "a.example"}, []string{"--proxy"}},
		{"nothing to mock", []string{"mock"}, []string{"--shop ADDR", "--model ADDR"}},
		{"quota below 0", []string{"mock", "--model", "127.0.0.1:0", "--requests-per-minute=-1"}, []string{"quota"}},
		{"unknown setting", []string{"settings", "color=red"}, []string{"color", "throngctl settings lists all"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			code, out, stderr := ctl(t, append(tt.args, "--data", data)...)
			if code != exitUsage {
				t.Errorf("exit code %d, want %d\n%s%s", code, exitUsage, out, stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q is missing in\n%s", want, stderr)
				}
			}
			if runs, _ := filepath.Glob(filepath.Join(data, "mock", "*")); len(runs) > 0 {
				t.Errorf("something was started: %v", runs)
			}
		})
	}
}

// TestValidatePrintsEveryError checks that all mistakes in a file are printed.
func TestValidatePrintsEveryError(t *testing.T) {
	for _, name := range []string{"broken", "wrong"} { // the second has the kinds of errors that the first lacks
		code, out, stderr := ctl(t, "validate", filepath.Join("testdata", name+".yaml"))
		if code != exitUsage || out != "" {
			t.Errorf("%s: exit code %d, want %d\n%s", name, code, exitUsage, out)
		}
		golden(t, name+".txt", stderr)
	}
}

func TestValidateShowsThePlan(t *testing.T) {
	code, out, stderr := ctl(t, "validate", "shopping", "--set", "agents=12")
	if code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	golden(t, "plan.txt", out)
}

func TestValidateShowsWhatRunsTogether(t *testing.T) {
	code, out, stderr := ctl(t, "validate", filepath.Join("testdata", "groups.yaml"))
	if code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	golden(t, "groups.txt", out+stderr)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, path); got != want {
		t.Errorf("%s differs: %s", name, difference(want, got))
	}
}

// TestJourney follows the usual steps of a user: run, list, export, delete.
func TestJourney(t *testing.T) {
	data := t.TempDir()
	code, out, stderr := ctl(t, day(data)...)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, want := range []string{"finished", "90 (", "criteria", "pass", "exact", "agents_completed"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in the summary:\n%s", want, out)
		}
	}
	id := regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)[1]

	_, out, _ = ctl(t, "runs", "--data", data)
	if !strings.Contains(out, id) || !strings.Contains(out, "finished") || !strings.Contains(out, "90 (100%)") {
		t.Errorf("runs:\n%s", out)
	}
	for what, header := range map[string]string{
		"metrics":  "timestamp,cycle,agents_processed,agents_shopped,avg_latency_ms,writes_per_sec,cpu_percent,memory_mb,",
		"sessions": "cycle,agent_index,agent,session,outcome,class,step,because,steps,events,acted\n",
		"events":   "cycle,agent_index,agent,session,sequence,step,event,simulated_time,",
		"steps":    "cycle,agent_index,agent,simulated_time,sequence,step,step_name,kind,status,",
		"requests": "cycle,agent_index,agent,simulated_time,sequence,step,step_name,service,endpoint,status,",
		"changes":  "time,cycle,what,old,new,who,why\n",
		"timings":  "cycle,agent_index,agent,take,started,queued_ms,",
		"run":      "{\n",
	} {
		code, out, stderr := ctl(t, "export", "--data", data, "--what", what)
		if code != exitDone || !strings.HasPrefix(out, header) {
			t.Errorf("export %s: exit code %d, begins with %.80q\n%s", what, code, out, stderr)
		}
	}
	if code, _, stderr := ctl(t, "resume", "--data", data, id); code != exitUsage || !strings.Contains(stderr, "has completed all its") {
		t.Errorf("resuming a finished run: exit code %d: %s", code, stderr)
	}
	if code, out, _ := ctl(t, "delete", "--data", data, id); code != exitFailed || !strings.Contains(out, "90 sessions") {
		t.Errorf("delete without an answer: exit code %d\n%s", code, out)
	}
	if code, out, stderr := ctl(t, "delete", "--data", data, "--yes", "--now", id); code != exitDone {
		t.Errorf("delete: exit code %d\n%s%s", code, out, stderr)
	}
	if _, out, _ := ctl(t, "runs", "--data", data); strings.Contains(out, id) {
		t.Errorf("the run is still there:\n%s", out)
	}
	if logs, _ := filepath.Glob(filepath.Join(data, "mock", "*")); len(logs) > 0 {
		t.Errorf("the mock shop's log is still there: %v", logs)
	}
}

// TestFailedCriteriaAreAnExitCode checks the exit code and summary of a run against a shop that fails most requests.
func TestFailedCriteriaAreAnExitCode(t *testing.T) {
	t.Parallel()
	code, out, _ := ctl(t, day(t.TempDir(), "--retries", "2", "--breaker", "off", "--mock-fault", "server_error=0.9", "--mock-fault", "cut=0", "--mock-fault", "bad_body=0")...)
	if code != exitFailed {
		t.Errorf("exit code %d, want %d\n%s", code, exitFailed, out)
	}
	for _, want := range []string{"FAIL", "server_error", "inexact since cycle 0"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in the summary:\n%s", want, out)
		}
	}
}

// TestScarcityIsSaid checks that a run with shared stock is reported and listed as inexact, since its result depends on
// timing.
func TestScarcityIsSaid(t *testing.T) {
	data := t.TempDir()
	code, out, stderr := ctl(t, day(data, "--mock-scarcity")...)
	if code != exitDone || !strings.Contains(out, "inexact since cycle 0: agents share the mock's stock") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if _, out, _ := ctl(t, "runs", "--data", data); !strings.Contains(out, "inexact") {
		t.Errorf("runs:\n%s", out)
	}
}

// slowRun starts a run of several minutes in its own process, and waits until sessions are in flight.
func slowRun(t *testing.T, data string, more ...string) (cmd *exec.Cmd, stdout io.Reader, stderr *bytes.Buffer) {
	t.Helper()
	args := []string{"run", "shopping", "--data", data, "--seed", "7", "--mock-latency", "remote", "--set", "eagerness=10"}
	cmd, _, stderr = process(t, nil, append(args, more...)...)
	cmd.Stdout = nil
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	r := bufio.NewReader(pipe)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the run ended early: %v\n%s", err, stderr)
		}
		if strings.Contains(line, "in flight") && !strings.Contains(line, "in flight 0") {
			return cmd, r, stderr
		}
	}
}

// interrupt starts a run, sends Ctrl+C a number of times and returns the output from then on.
func interrupt(t *testing.T, data string, times int) string {
	t.Helper()
	cmd, stdout, stderr := slowRun(t, data, "--set", "agents=120", "--cycles", "5")
	for range times {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	out, err := io.ReadAll(stdout)
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("ended with %v, want exit code %d\n%s%s", err, exitInterrupted, out, stderr)
	}
	return string(out)
}

// TestInterruptStopsGracefullyAndResumes checks that one Ctrl+C stops a run with a checkpoint, and that the run can be
// resumed.
func TestInterruptStopsGracefullyAndResumes(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if out := interrupt(t, data, 1); !strings.Contains(out, "resume with: throngctl resume") {
		t.Errorf("there is no resume command:\n%s", out)
	}
	if _, out, _ := ctl(t, "checkpoints", "--data", data); !strings.Contains(out, "stop") {
		t.Errorf("no checkpoint was taken:\n%s", out)
	}
	if code, out, stderr := ctl(t, "checkpoints", "--data", data, "--show", "1"); code != exitDone {
		t.Errorf("the checkpoint cannot be shown: %s%s", out, stderr)
	}
	if code, out, stderr := ctl(t, "resume", "--data", data, "--mock-latency", "none", "--max-concurrent", "20"); code != exitDone {
		t.Errorf("resume: exit code %d\n%s%s", code, out, stderr)
	}
	if _, out, _ := ctl(t, "runs", "--data", data); !strings.Contains(out, "(100%)") {
		t.Errorf("after the resume:\n%s", out)
	}
}

// TestSecondInterruptCuts checks that a second Ctrl+C ends a run without waiting for a slow shop.
func TestSecondInterruptCuts(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	interrupt(t, data, 2)
	if code, out, stderr := ctl(t, "resume", "--data", data, "--mock-latency", "none"); code != exitDone || !strings.Contains(out, "exact") {
		t.Errorf("resume: exit code %d\n%s%s", code, out, stderr)
	}
}

// TestSecondProcessIsReadOnly checks that another process can read a run in progress, but not delete, resume or audit
// it.
func TestSecondProcessIsReadOnly(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cmd, _, _ := slowRun(t, data)
	_, out, _ := ctl(t, "runs", "--data", data)
	if !strings.Contains(out, "in progress") {
		t.Errorf("runs:\n%s", out)
	}
	if code, out, stderr := ctl(t, "export", "--data", data, "--what", "sessions"); code != exitDone || !strings.HasPrefix(out, "cycle,") {
		t.Errorf("export while it runs: exit code %d\n%s%s", code, out, stderr)
	}
	id := strings.Fields(strings.Split(out, "\n")[1])[0]
	if code, out, stderr := ctl(t, "delete", "--data", data, "--yes", id); code != exitFailed || !strings.Contains(stderr, "in use") {
		t.Errorf("delete while it runs: exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr := ctl(t, "resume", "--data", data, id); code != exitFailed || !strings.Contains(stderr, "in use by another process; throngctl status shows it") {
		t.Errorf("resume while it runs: exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr := ctl(t, "bundle", "--data", data, "-o", filepath.Join(data, "run.zip")); code != exitUsage || !strings.Contains(stderr, "is in progress (stop it") {
		t.Errorf("bundle while it runs: exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr := ctl(t, "audit", "--data", data); code != exitUsage || !strings.Contains(stderr, "is in progress") {
		t.Errorf("audit while it runs: exit code %d\n%s%s", code, out, stderr)
	}
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the run ended during the reads: %v", err)
	}
}

// TestCheckpointByHand checks that SIGUSR1 takes a checkpoint of a run in progress.
func TestCheckpointByHand(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cmd, stdout, stderr := slowRun(t, data)
	if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(stdout); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the run ended: %v\n%s", err, stderr)
		}
		if strings.Contains(line, "checkpoint taken") {
			break
		}
	}
	if code, out, stderr := ctl(t, "checkpoints", "--data", data); code != exitDone || !strings.Contains(out, "by hand") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}

// TestEverySettingIsAFlag compares the flags with the table of settings: run and fork have all of them, resume only those
// that can change during a run.
func TestEverySettingIsAFlag(t *testing.T) {
	_, run, _ := ctl(t, "run", "--help")
	_, resume, _ := ctl(t, "resume", "--help")
	_, fork, _ := ctl(t, "fork", "--help")
	for _, s := range config.RunSettings() {
		flag := "--" + s.Name + "=" + s.Unit
		if !strings.Contains(run, flag) {
			t.Errorf("run has no flag %s", flag)
		}
		if !strings.Contains(fork, flag) {
			t.Errorf("fork has no flag %s", flag)
		}
		if got, want := strings.Contains(resume, flag), !s.Fixed; got != want {
			t.Errorf("resume has %s = %v, want %v", flag, got, want)
		}
	}
}

// TestSettingsSayWhereTheyComeFrom checks the source shown for a setting: saved, environment, scenario or default.
func TestSettingsSayWhereTheyComeFrom(t *testing.T) {
	data := t.TempDir()
	if code, _, stderr := ctl(t, "settings", "--data", data, "retries=3"); code != exitDone {
		t.Fatalf("settings retries=3: %s", stderr)
	}
	t.Setenv("SIMULATION_MAX_CONCURRENT", "17")
	_, out, _ := ctl(t, "settings", "--data", data, "--file", "shopping")
	for _, want := range []string{
		`max-concurrent +17 +SIMULATION_MAX_CONCURRENT`, `retries +3 +saved`, `cycles +24 +the scenario`, `time-scale +0 +default`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no line %s in\n%s", want, out)
		}
	}
	if code, _, stderr := ctl(t, "settings", "--data", data, "retries=0"); code != exitUsage || !strings.Contains(stderr, "at least 1") {
		t.Errorf("settings retries=0: exit code %d: %s", code, stderr)
	}
}

// TestGuideScenario runs the first example of the guide.
func TestGuideScenario(t *testing.T) {
	_, rest, _ := strings.Cut(page(t, "scenario"), "```yaml\n")
	text, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the guide has no scenario")
	}
	path := filepath.Join(t.TempDir(), "greeters.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := ctl(t, "run", path, "--data", t.TempDir(), "--set", "agents=50", "--cycles", "2", "--mock-latency", "none")
	if code != exitDone || !strings.Contains(out, "100 (") || !strings.Contains(out, "stopped") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}

// TestMockAlone starts the mock shop, sends it requests with a wrong secret, and stops it.
func TestMockAlone(t *testing.T) {
	cmd, _, stderr := process(t, nil, "mock", "--shop", "127.0.0.1:0", "--profile", "none", "--secret", "quiet")
	cmd.Stdout = nil
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(pipe)
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("no output: %v %s", err, stderr)
	}
	url := strings.TrimSpace(strings.TrimPrefix(line, "url "))
	data := t.TempDir()
	code, out, errs := ctl(t, "run", "shopping", "--data", data, "--set", "agents=20", "--set", "eagerness=8", "--cycles", "1",
		"--service", "shop="+url, "--max-concurrent", "4")
	if code != exitFailed || !strings.Contains(out, "client_error") {
		t.Errorf("a shop with another secret accepted the run: exit code %d\n%s%s", code, out, errs)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v %s", err, stderr)
	}
	if !strings.Contains(string(rest), "requests answered") {
		t.Errorf("the output has no summary:\n%s", rest)
	}
}

// TestMockTheModel starts the model server with the shop, sends a request, and stops both.
func TestMockTheModel(t *testing.T) {
	cmd, _, stderr := process(t, nil, "mock", "--shop", "127.0.0.1:0", "--model", "127.0.0.1:0", "--profile", "none", "--secret", "quiet")
	cmd.Stdout = nil
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(pipe)
	said := map[string]string{} // by the first words of a line
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the output ended: %v %s", err, stderr)
		}
		words := strings.Fields(line)
		said[strings.Join(words[:len(words)-1], " ")] = words[len(words)-1]
		if strings.HasPrefix(line, "Press Ctrl+C") {
			break
		}
	}
	if !strings.HasPrefix(said["url"], "http://127.0.0.1:") || said["model key"] != "quiet" {
		t.Errorf("got %v", said)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, said["model url"]+"/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+said["model key"])
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), "mock-1") {
		t.Errorf("%d %s %v", response.StatusCode, body, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v %s", err, stderr)
	}
	if !strings.Contains(string(rest), "1 requests answered by the model") {
		t.Errorf("the output has no summary:\n%s", rest)
	}
}
