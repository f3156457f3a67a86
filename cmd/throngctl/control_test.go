package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
)

// TestSecondTerminal steers a run of another process until it stops, and checks the recorded changes with their author and
// reason.
func TestSecondTerminal(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cmd, stdout, stderr := slowRun(t, data, "--no-adaptive")
	_, runs, _ := ctl(t, "runs", "--data", data)
	id := strings.Fields(strings.Split(runs, "\n")[1])[0]
	for _, c := range []struct {
		args      string
		code      int
		out, errs string // regular expressions
	}{
		{"status", exitDone, `^run ` + id + `: .*\n  phase +running\n(.*\n)*  limit +50, \d+ in flight`, ""},
		{"set", exitDone, `^SETTING +VALUE +MEANING\n(.*\n)*max-concurrent +50 +\S`, ""},
		{"set max-concurrent=3", exitDone, `^max-concurrent +50 → 3\n$`, ""},
		{"set " + id[:11] + " max-concurrent=4 --why lunch", exitDone, `^max-concurrent +3 → 4\n$`, ""},
		{"set max-concurrent=2 color=red", exitUsage, "", `nothing was changed: color: cannot be changed .*max-concurrent`},
		{"set max-concurrent=many", exitUsage, "", `nothing was changed: max-concurrent: `},
		{"set limit", exitUsage, "", `limit: expected name=value \(for example max-concurrent=30; `},
		{"set governor=magic", exitUsage, "", `nothing was changed: governor: unknown governor "magic"`},
		{"set max-concurrent=3 what", exitUsage, "", `what: expected name=value`},
		{"pause --why lunch", exitDone, `^run ` + id + `: paused; .*throngctl continue\n$`, ""},
		{"status", exitDone, `  phase +paused: lunch\n(.*\n)*  limit +4, `, ""},
		{"checkpoint " + id, exitDone, `checkpoint taken`, ""},
		{"continue", exitDone, `continued`, ""},
		{"broadcast hello --to shopper-3 shopper-1", exitDone, `sent to shopper-3, shopper-1; `, ""},
		{"broadcast " + id + " all", exitDone, `sent to all; `, ""},
		{"broadcast " + id + " hello --to shopper-2,shopper-5", exitDone, `sent to shopper-2, shopper-5; `, ""},
		{"broadcast too many words", exitUsage, "", `expected one message, got 3 words \(put`},
		{"broadcast hello --to eve", exitUsage, "", `no such agent: eve`},
		{"retire eve", exitUsage, "", `no such agent: eve`},
		{"pause 20200101-000000-none", exitUsage, "", `no such run: 20200101-000000-none`},
		{"stop --now --why enough", exitDone, `stopping "Marketplace shoppers" immediately; `, ""},
	} {
		code, out, errs := ctl(t, append(strings.Fields(c.args), "--data", data)...)
		if code != c.code || !regexp.MustCompile(c.out).MatchString(out) || !regexp.MustCompile(c.errs).MatchString(errs) {
			t.Errorf("%s: exit code %d\n%s%s", c.args, code, out, errs)
		}
	}
	if _, err := io.Copy(io.Discard, stdout); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted || stderr.Len() > 0 {
		t.Errorf("the run ended with %v\n%s", err, stderr)
	}
	checkChanges(t, data)
	for args, want := range map[string]string{
		"status":        `not in progress: stopped, .*\n  ended: enough\n  resume with: throngctl resume ` + id,
		"status --json": `"elapsed_seconds":[1-9.].*"requests":[1-9].*"latency_seconds":\{"mean":[0-9.e-]+.*"ending":"stopped".*"outcomes":\{.*"events":[1-9].*"ceiling":100,.*"checkpoints":[1-9].*"last_checkpoint":"20`,
	} {
		if code, out, errs := ctl(t, append(strings.Fields(args), "--data", data)...); code != exitDone || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s afterwards: exit code %d\n%s%s", args, code, out, errs)
		}
	}
	for args, want := range map[string]string{
		"pause": "no run is in progress; .*throngctl run", "pause " + id: "is not in progress; resume it with: throngctl resume " + id,
	} {
		if code, _, errs := ctl(t, append(strings.Fields(args), "--data", data)...); code != exitFailed || !regexp.MustCompile(want).MatchString(errs) {
			t.Errorf("%s afterwards: exit code %d: %s", args, code, errs)
		}
	}
}

// checkChanges checks the changes that the orders made.
func checkChanges(t *testing.T, data string) {
	t.Helper()
	code, out, stderr := ctl(t, "export", "--what", "changes", "--data", data)
	if code != exitDone {
		t.Fatal(stderr)
	}
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	who := regexp.MustCompile(`^terminal \(.+@\d+\)$`)
	for _, row := range rows[1:] {
		if row[2] != engine.LimitSetting && row[2] != "phase" && row[2] != "inject" || !who.MatchString(row[5]) {
			continue
		}
		if row[2] == "inject" {
			row[4] = "…"
		}
		got = append(got, strings.Join([]string{row[2], row[3], row[4], row[6]}, " "))
	}
	want := []string{
		"max-concurrent 50 3 ", "max-concurrent 3 4 lunch", "phase running paused lunch", "phase paused running ", "inject shopper-3, shopper-1 … ", "inject all … ", "inject shopper-2, shopper-5 … ",
		"phase running stopping enough", "phase stopping canceling enough",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("changes:\n%s\nwant\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), out)
	}
}

// TestFollowedStatus follows the status of a run to its end, as JSON.
func TestFollowedStatus(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cmd, _, _ := slowRun(t, data, "--no-adaptive")
	watch, _, stderr := process(t, nil, "status", "--follow", "--json", "--data", data)
	watch.Stdout = nil
	pipe, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(pipe)
	var first, last view.Status
	if err := lines.Decode(&first); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if first.Phase != "running" || first.Limit != 50 || len(first.Health) == 0 {
		t.Errorf("%+v", first)
	}
	if code, _, stderr := ctl(t, "stop", "--now", "--data", data); code != exitDone {
		t.Fatal(stderr)
	}
	for last = first; ; {
		if err := lines.Decode(&last); err != nil {
			break
		}
	}
	_ = cmd.Wait() // the run was stopped
	if err := watch.Wait(); err != nil || last.Run != first.Run {
		t.Errorf("%v\n%s", err, stderr)
	}
}

func TestPrintStatus(t *testing.T) {
	_, out, _ := ctl(t, "status", "--help")
	if !strings.Contains(out, "--follow") {
		t.Error(out)
	}
	for name, c := range map[string]struct {
		status view.Status
		want   string
	}{
		"little": {view.Status{Progress: view.Progress{Run: "r", Phase: "preparing"}, Title: "T", Steering: view.Steering{Breaker: "closed"}}, `run r: T
  phase        preparing
  progress     0 cycles done; 0 sessions; cycle 0: 0; 0 failed; 0/s
  time         0 s elapsed
  limit        0, 0 in flight
  checkpoints  0
`},
		"a limit that nothing has moved": {view.Status{
			Progress: view.Progress{Run: "r", Phase: "running", Limit: 9}, Title: "T",
			Steering: view.Steering{Breaker: "closed", Floor: 1, Ceiling: 50, Governor: "adaptive", SteeredBy: "resources"},
		}, `run r: T
  phase        running
  progress     0 cycles done; 0 sessions; cycle 0: 0; 0 failed; 0/s
  time         0 s elapsed; estimating…
  limit        9, 0 in flight; adaptive from 1 to 50
  checkpoints  0
`},
		"much": {muchToSay(), `run r: T
  phase          paused: lunch; inexact since cycle 1
  progress       2 of 24 cycles done; 10 of 100 sessions, 10%; cycle 2: 5 of 6; 2 failed; 84/s
  time           1 min elapsed
  limit          20, 7 in flight; adaptive from 1 to 100; resources: 25 → 20: CPU 91%
  breaker        open; half of the cycle failed
  service model  calls 3 of 50; 8/s: a 429 from 10/s; 9 refused (429); breaker half-open: some failed; the quota of the day is gone
  service small  calls 1 of 2; 1,234 waiting; 40/s: doubled, no 429 came yet
  budget         $1.25 of $5; 10 of 1,000 tokens; 1 min of 1 h; dollars will not last
  checkpoints    2
  stall          they wait for model
  in flight      eve; ask model; rate limiter
  in flight      7
  time spent     services 59%, engine 41%
  limited by     This machine is the limit: 97% of its 2 cores are in use; lower the limit
  critical       CPU 95% (above 90%); do less
`},
	} {
		var b strings.Builder
		if err := show.Status(&b, &c.status); err != nil || b.String() != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, b.String(), c.want)
		}
	}
}

// muchToSay returns the status of a run with all fields except times of day.
func muchToSay() view.Status {
	left := 90.
	return view.Status{
		Progress: view.Progress{
			Run: "r", Phase: "paused", Reason: "lunch", Cycle: 2, Cycles: 24, Sessions: 10, Planned: 100, Failed: 2, SessionRate: 84.2, Elapsed: 60,
			Remaining: &left, Limit: 20, InFlight: 7,
		},
		Totals: view.Totals{Inexact: "inexact since cycle 1"},
		Steering: view.Steering{
			Floor: 1, Ceiling: 100, Governor: "adaptive", SteeredBy: "resources", Steered: "25 → 20: CPU 91%", Breaker: "open", BreakerWhy: "half of the cycle failed",
		},
		Title: "T", CycleEnded: 5, CycleTotal: 6,
		Services: []engine.ServiceState{{
			Name: "model", InFlight: 3, Bound: 50, Breaker: engine.BreakerHalfOpen, BreakerWhy: "some failed",
			LimiterState: engine.LimiterState{Rate: 8, RateWhy: "8/s: a 429 from 10/s", Refused: 9, Exhausted: "the quota of the day is gone"},
		}, {
			Name: "small", Kind: "llm", InFlight: 1, Bound: 2, LimiterState: engine.LimiterState{Waiting: 1234, Rate: 40, RateWhy: "40/s: doubled, no 429 came yet"},
		}},
		Budget: &view.Budget{
			Limit: view.Amounts{Cost: 5, Tokens: 1000, Seconds: 3600}, Spent: view.Amounts{Cost: 1.25, Tokens: 10}, Short: "dollars will not last",
		},
		Stall: &view.Stall{Why: "they wait for model"}, Checkpoints: 2,
		Oldest: []engine.Activity{{Place: engine.Place{Agent: 4}, Name: "eve", Path: "ask", Service: "model", ThrottledBy: "rate limiter"}, {Place: engine.Place{Agent: 7}}},
		Health: []health.Finding{
			{Metric: "latency", Level: health.Healthy, Value: "1s"}, {Metric: "CPU", Level: health.Critical, Value: "95%", Threshold: "above 90%", Advice: "do less"},
		},
		Overhead: &view.Overhead{Words: "services 59%, engine 41%", Why: "This machine is the limit: 97% of its 2 cores are in use", Advice: "lower the limit"},
	}
}

// TestGuideOrders checks that the guide and the help name every command for a run in progress.
func TestGuideOrders(t *testing.T) {
	text := page(t, "terminal")
	_, help, _ := ctl(t, "--help")
	if _, rest, _ := strings.Cut(help, "\nThe run in progress:\n"); !strings.HasPrefix(rest, "  status ") {
		t.Errorf("the commands for a run in progress are not in one group\n%s", help)
	}
	for _, order := range []string{"status", "set", "pause", "continue", "stop", "checkpoint", "retire", "requeue", "broadcast"} {
		if !regexp.MustCompile("`throngctl " + order + "[ `]").MatchString(text) {
			t.Errorf("the guide does not mention throngctl %s", order)
		}
		if !regexp.MustCompile(`(?m)^  ` + order + ` `).MatchString(help) {
			t.Errorf("there is no throngctl %s\n%s", order, help)
		}
		if order != "retire" && order != "requeue" && order != "continue" && order != "broadcast" && order != "status" {
			if _, out, _ := ctl(t, order, "--help"); !strings.Contains(out, "--why") {
				t.Errorf("throngctl %s has no --why", order)
			}
		}
	}
}
