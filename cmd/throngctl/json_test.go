package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
)

// withoutJSON are the commands without --json, with the reason.
var withoutJSON = map[string]string{
	"help":              "text for a person",
	"worker":            "its lines are a log; fleet status has the facts",
	"version":           "one line",
	"experiment export": "what it writes is for programs already: CSV, JSON Lines and Parquet",
	"export":            "what it writes is for programs already: CSV, JSON Lines, Parquet and JSON",
	"completion":        "a script for a shell",
	"man":               "a page for man",
	"mcp":               "a protocol for assistants, which is JSON already",
}

// TestEveryCommandAnswersPrograms checks that each command has --json or is in withoutJSON.
func TestEveryCommandAnswersPrograms(t *testing.T) {
	parser, err := flags.NewParser(&cli{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, leaf := range parser.Model.Leaves(false) {
		name := leaf.Name
		for n := leaf.Parent; n != nil && n.Parent != nil; n = n.Parent {
			name = n.Name + " " + name
		}
		if strings.HasPrefix(name, "__") {
			continue
		}
		found[name] = true
		has := slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == "json" && f.Help != "" })
		if why := withoutJSON[name]; has == (why != "") {
			t.Errorf("%s: has --json: %v; reason for none: %q", name, has, why)
		}
	}
	for name := range withoutJSON {
		if !found[name] {
			t.Errorf("there is no command %s", name)
		}
	}
	if len(found) < 30 {
		t.Errorf("only %d commands", len(found))
	}
}

// names collects the keys of all objects in a JSON value, except keys that are data.
func names(v any, all map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			all[name] = true
			switch name {
			case "outcomes", "events", "persona", "memory", "data", "session_seconds", "headers":
			default:
				names(inner, all)
			}
		}
	case []any:
		for _, inner := range v {
			names(inner, all)
		}
	}
}

// TestAnswersForPrograms runs commands with --json. Standard output must be only JSON, with the expected content and
// consistent names.
func TestAnswersForPrograms(t *testing.T) {
	data := t.TempDir()
	t.Setenv("THRONG_DATABASE_URL", "")
	_, out, stderr := ctl(t, "run", "shopping", "--data", data, "--set", "agents=10", "--set", "eagerness=8", "--cycles", "2", "--mock-latency", "none", "--seed", "7", "--checkpoint-interval", "1ms", "--keep-checkpoints", "1000", "--json")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var first answer.Started
	var last answer.Ended
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.Event != answer.StartedEvent || first.Agents != 10 || first.Seed != 7 {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Event != answer.EndedEvent || last.Ending != "finished" || !last.Passed || last.Sessions != 20 || last.Outcomes["ok"]+last.Outcomes["stopped"] != 20 || last.Run != first.Run || last.Code != exitDone || len(last.Criteria) == 0 {
		t.Fatalf("%v: %s", err, lines[len(lines)-1])
	}
	var middle answer.Progress
	if err := json.Unmarshal([]byte(lines[len(lines)-2]), &middle); err != nil || middle.Event != answer.ProgressEvent || middle.Phase != "ended" || middle.Sessions != 20 {
		t.Errorf("%v: %s", err, lines[len(lines)-2])
	}
	run := string(first.Run)
	if _, out, stderr = ctl(t, "run", "shopping", "--data", data, "--set", "agents=10", "--set", "eagerness=8", "--cycles", "2", "--mock-latency", "none", "--seed", "8", "--checkpoint-interval", "1ms", "--keep-checkpoints", "1000", "--json"); stderr != "" {
		t.Error(stderr)
	}
	var other answer.Started
	if err := json.Unmarshal([]byte(out[:strings.Index(out, "\n")]), &other); err != nil {
		t.Fatal(err)
	}
	id := string(other.Run)
	for _, c := range []struct {
		line string
		code int
		want []string
	}{
		{"runs", exitDone, []string{`"run": "` + run, `"state": "finished"`, `"exact": true`, `"passed": true`, `"seed": 7`}},
		{"checkpoints " + run, exitDone, []string{`"run": "` + run, `"number": 1`, `"kind": "by time"`, `"bytes": `}},
		{"checkpoints " + run + " --show 1", exitDone, []string{`"memory": `, `"limit": 50`}},
		{"status", exitDone, []string{`"phase":"ended"`, `"sessions":20`}},
		{"agents " + run, exitDone, []string{`"agents": 10`, `"no_session": 0`, `"outcomes": {`}},
		{"agents " + run + " --state stopped", exitDone, []string{`"state": "stopped"`, `"who": [`}},
		{"timeline " + run + " shopper-3", exitDone, []string{`"id": "shopper-3"`, `"sessions": [`, `"total_ms": `, `"path": "decide_shop"`}},
		{"compare " + run + " " + id + " --cycles", exitDone, []string{`"from_cycle": 0`, `"to_cycle": 2`, `"kind": "share of sessions"`, `"against": [`, `"per_cycle": [`, `"seed 7 → 8"`}},
		{"audit " + run, exitDone, []string{`"equal": true`, `"figures": [`, `"recomputed": `}},
		{"validate shopping", exitDone, []string{`"title": "Marketplace shoppers"`, `"name": "eagerness"`, `"kind": "http"`, `"name": "decide_shop"`, `"metric": "error_rate"`, `"cycle_seconds": {`, `"warnings": []`}},
		{"check", exitDone, []string{`"grade": `, `"checks": [`}},
		{"settings", exitDone, []string{`"name": "retries"`, `"from": "default"`, `"SIMULATION_MAX_CONCURRENT"`}},
		{"try shopping --agent shopper-3", exitDone, []string{`shopper-3`}},
		{"calibrate --presets", exitDone, []string{`"table": "system"`, `"in_flight": "2–4"`, `"this_machine": true`}},
		{"calibrate shopping --set agents=20 --levels 1,2 --repeats 1 --duration 50ms --mock-latency none", exitDone, []string{`"levels": [`, `"cores": `}},
		{"note " + run + " slow <since> the new prices", exitDone, []string{`"note": "slow <since> the new prices"`}},
		{"note " + run, exitDone, []string{`"note": "slow <since> the new prices"`}},
		{"name " + run + " Friday prices", exitDone, []string{`"name": "Friday prices"`}},
		{"tag " + run + " +b2b prices", exitDone, []string{`"tags": [`, `"b2b"`, `"starred": false`}},
		{"star " + run, exitDone, []string{`"starred": true`, `"prices"`}},
		{"runs friday --tag b2b --star", exitDone, []string{`"name": "Friday prices"`, `"title": "Marketplace shoppers"`, `"outcome": "`, `"stored_bytes": `, `"Shoppers 10"`}},
		{"guide", exitDone, []string{`"topic": "terminal"`, `"title": "In a terminal"`}},
		{"guide backend", exitDone, []string{`"text": "# `}},
		{"guide --search budget", exitDone, []string{`"heading": `}},
		{"guide nothing", exitUsage, nil},
		{"nothing", exitUsage, nil},
		{"report " + run + " -o " + filepath.Join(data, "report.html"), exitDone, []string{`"run": "` + run, `"file": "` + filepath.Join(data, "report.html")}},
		{"report " + run + " -o -", exitUsage, nil},
		{"metrics", exitDone, []string{`"name": "throng_`, `"kind": "histogram"`, `"labels": [`}},
		{"licenses", exitDone, []string{`"module": "github.com/mattn/go-sqlite3"`, `"license": "MIT"`}},
		{"licenses sqlite", exitDone, []string{`"text": "`}},
		{"prune --keep-runs 1 --dry-run", exitDone, []string{`"run": "` + run, `"whole": true`, `"sessions": 20`, `"deleted": 0`}},
		{"prune --keep-runs 1", exitUsage, nil},
		{"delete " + run, exitUsage, nil},
		{"delete " + run + " --yes", exitDone, []string{`"in_trash": true`}},
		{"trash", exitDone, []string{`"run": "` + run, `"until": `}},
		{"trash --empty", exitUsage, nil},
		{"restore " + run, exitDone, []string{`"done": "run ` + run}},
		{"prune --keep-runs 1 --yes", exitDone, []string{`"deleted": 1`}},
		{"trash --empty --yes", exitDone, []string{`"deleted": 1`}},
		{"resume " + id, exitUsage, nil},
		{"fork " + id + " --checkpoint 1 --cycles 3 --mock-latency none", exitDone, []string{`"event":"started"`, `"parent":"` + id, `"event":"ended"`}},
		{"audit " + run, exitUsage, nil},
		{"set max-concurrent=3", exitFailed, nil},
		{"pause", exitFailed, nil},
		{"secret check NO_SUCH_SECRET", exitUsage, nil},
		{"validate testdata/broken.yaml", exitUsage, nil},
		{"push", exitUsage, nil},
	} {
		code, out, stderr := ctl(t, append(strings.Fields(c.line), "--data", data, "--json")...)
		if code != c.code {
			t.Errorf("%s: exit code %d, want %d\n%s%s", c.line, code, c.code, out, stderr)
			continue
		}
		text := out
		if c.want == nil {
			if out != "" {
				t.Errorf("%s: %s", c.line, out)
			}
			var e answer.Error
			last := stderr[strings.LastIndex(strings.TrimSpace(stderr), "\n")+1:]
			if err := json.Unmarshal([]byte(last), &e); err != nil || e.Error == "" || e.Code != code || code == exitUsage && strings.HasPrefix(c.line, "validate") && e.Mistakes[0].Line == 0 {
				t.Errorf("%s: %v\n%s", c.line, err, stderr)
			}
			text = last
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %s in\n%s%s", c.line, want, out, stderr)
			}
		}
		all := map[string]bool{}
		for dec := json.NewDecoder(bytes.NewBufferString(text)); dec.More(); {
			var v any
			if err := dec.Decode(&v); err != nil {
				t.Errorf("%s: %v\n%s", c.line, err, text)
				break
			}
			names(v, all)
		}
		for name := range all {
			if !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(name) {
				t.Errorf("%s: %q is not a name", c.line, name)
			}
		}
	}
}

// TestMistakesInJSON checks that each mistake has its own entry.
func TestMistakesInJSON(t *testing.T) {
	code, _, stderr := ctl(t, "run", "shopping", "--data", t.TempDir(), "--json", "--max-concurrent", "many", "--hours", "x")
	var e answer.Error
	if err := json.Unmarshal([]byte(stderr), &e); err != nil || code != exitUsage {
		t.Fatalf("%v: %s", err, stderr)
	}
	var fields []string
	for _, m := range e.Mistakes {
		fields = append(fields, m.Field)
	}
	slices.Sort(fields)
	if want := []string{"--hours", "--max-concurrent"}; !reflect.DeepEqual(fields, want) {
		t.Errorf("%v, want %v", fields, want)
	}
}
