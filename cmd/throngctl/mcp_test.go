package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// helper is an assistant that uses throngctl.
type helper struct {
	*testing.T
	*sdk.ClientSession
}

// assist starts throngctl mcp as an assistant's program does.
func assist(t *testing.T, data string, more ...string) helper {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), self(t), append([]string{"mcp", "--data", data}, more...)...)
	cmd.Env = append(os.Environ(), asToolEnv+"=1", "OPENAI_API_KEY=sk-none")
	session, err := sdk.NewClient(&sdk.Implementation{Name: "assistant"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd, TerminateDuration: time.Minute}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return helper{t, session}
}

// use calls a tool and returns its answer, or the error that the assistant sees.
func (h helper) use(tool string, args map[string]any) (text string, failed bool) {
	h.Helper()
	ctx, end := context.WithTimeout(h.Context(), 2*time.Minute)
	defer end()
	r, err := h.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error(), true
	}
	content, ok := r.Content[0].(*sdk.TextContent)
	if !ok {
		h.Fatalf("%s answers with %T", tool, r.Content[0])
	}
	return content.Text, r.IsError
}

// must calls a tool, which must not fail, and decodes its answer.
func (h helper) must(tool string, args map[string]any, into any) string {
	h.Helper()
	text, failed := h.use(tool, args)
	if failed {
		h.Fatalf("%s: %s", tool, text)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			h.Fatalf("%s: %v in %.300s", tool, err, text)
		}
	}
	return text
}

// refused calls a tool, which must fail with these words.
func (h helper) refused(tool string, args map[string]any, words ...string) {
	h.Helper()
	text, failed := h.use(tool, args)
	if !failed {
		h.Errorf("%s %v is not refused: %.300s", tool, args, text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			h.Errorf("%s %v: no %q in %.900s", tool, args, w, text)
		}
	}
}

// TestAssistantRunsAScenario has an assistant validate, run, watch and compare.
func TestAssistantRunsAScenario(t *testing.T) {
	h := assist(t, t.TempDir())
	if info := h.InitializeResult(); info.Instructions == "" || info.ServerInfo.Name != "throng" {
		t.Errorf("it introduces itself as %+v", info)
	}
	shoppers := map[string]any{"file": "shopping", "parameters": map[string]string{"agents": "20"}, "cycles": 2, "filter": "agent.index < 12"}
	var plan struct {
		Agents, Cycles int
	}
	if h.must("validate", map[string]any{"file": "shopping", "parameters": map[string]string{"agents": "20"}}, &plan); plan.Agents != 20 {
		t.Errorf("the plan is %+v", plan)
	}
	var runs [2]struct{ Run string }
	for i := range runs {
		shoppers["seed"] = i + 1
		h.must("run", shoppers, &runs[i])
		var end struct {
			Phase, Ending string
			Sessions      int
		}
		if h.must("status", map[string]any{"run": runs[i].Run, "wait_seconds": 50}, &end); end.Phase != "ended" || end.Ending != "finished" || end.Sessions != 24 {
			t.Errorf("run %d ended as %+v", i, end)
		}
	}
	if text := h.must("compare", map[string]any{"runs": []string{runs[0].Run, runs[1].Run}}, nil); !strings.Contains(text, runs[1].Run) {
		t.Errorf("compared: %s", text)
	}
	var listed []struct{ ID string }
	if text := h.must("runs", nil, nil); !strings.Contains(text, runs[0].Run) || json.Unmarshal([]byte(text), &listed) != nil || len(listed) != 2 {
		t.Errorf("listed: %s", text)
	}
	h.must("timeline", map[string]any{"agent": "3", "run": runs[0].Run}, nil)
	var same struct{ Equal bool }
	if h.must("audit", map[string]any{"run": runs[0].Run}, &same); !same.Equal {
		t.Error("the figures differ")
	}
	if text := h.must("guide", map[string]any{"search": "budget"}, nil); !strings.Contains(text, "budget") {
		t.Errorf("the guide says %s", text)
	}
	h.refused("status", map[string]any{"run": "nothing"}, "no such run: nothing", "the tool runs lists them")
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("population: {count: 2}\nchain c: {step divide: {kind: emit, event: x, data: \"${1 // agent.index}\"}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.must("run", map[string]any{"file": bad, "cycles": 1}, nil)
	var failed struct {
		Errors []struct{ Step, Message string }
	}
	if text := h.must("status", map[string]any{"wait_seconds": 50}, &failed); len(failed.Errors) != 1 || failed.Errors[0].Step != "divide" {
		t.Errorf("a run with a failure: %s", text)
	}
	shoppers["parameters"] = map[string]any{"agents": 20, "eagerness": 0.5} // numbers are what most assistants send
	h.must("run", shoppers, nil)
	h.refused("validate", map[string]any{"file": "--help"}, "hyphen")
}

// TestAssistantNeedsConsent checks that an assistant can neither have an address called that the user has not allowed, nor start
// or resume a run that costs money without a budget.
func TestAssistantNeedsConsent(t *testing.T) {
	dir := t.TempDir()
	h := assist(t, filepath.Join(dir, "data"))
	path := filepath.Join(dir, "away.yaml")
	text := "services:\n  shop: {kind: http, url: 'http://192.0.2.1'}\nchain visit:\n- {name: look, kind: http, service: shop, get: /products}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h.refused("run", map[string]any{"file": path}, "192.0.2.1", "Only the person you work for can allow")
	paid := map[string]any{"file": "conversation", "parameters": map[string]string{"provider": "openai"}}
	h.refused("run", paid, "may cost up to $", "budget_usd")
	paid["budget_usd"] = 1
	h.refused("run", paid, "api.openai.com") // the budget is there, the consent is not
	paid["budget_usd"] = -1
	h.refused("run", paid, "budget")
	paid = map[string]any{"file": "conversation", "parameters": map[string]string{"provider": "openai", "model": "unheard-of"}}
	h.refused("run", paid, "price", "max_tokens")
	paid["max_tokens"] = 1000
	h.refused("run", paid, "api.openai.com")
	secrets := filepath.Join(dir, "secrets.txt")
	if err := os.WriteFile(secrets, []byte("canary-5f1c: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"validate", "check", "run", "experiment", "experiment_compare"} {
		if text, failed := h.use(tool, map[string]any{"file": secrets}); !failed || strings.Contains(text, "canary") {
			t.Errorf("%s reads any file: %s", tool, text)
		}
	}
	h.refused("run", map[string]any{"file": "prices.experiment.yaml"}, "experiment_run")
	h.refused("experiment_run", map[string]any{"file": "shopping"}, "the tool run")
}

// TestAssistantWritesNonsense checks that other lines than messages are answered with an error of JSON-RPC, and that the session continues.
func TestAssistantWritesNonsense(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), self(t), "mcp", "--data", t.TempDir())
	cmd.Env = append(os.Environ(), asToolEnv+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, `oops
[{"jsonrpc":"2.0","id":1,"method":"ping"}]

{"jsonrpc":"2.0"}
{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
`); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, want := range []string{"-32700", "-32600", "-32600", `"serverInfo"`} {
		if lines.Scan(); !strings.Contains(lines.Text(), want) {
			t.Errorf("no %s in %q", want, lines.Text())
		}
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// TestAssistantRunsAnExperiment has an assistant execute an experiment and read its answer. One that may cost money needs a budget in its
// file that is not above the amount agreed to, and one that is in progress stops when the assistant leaves.
func TestAssistantRunsAnExperiment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	h := assist(t, data)
	write := func(name, text string) map[string]any {
		t.Helper()
		path := filepath.Join(dir, name+".experiment.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return map[string]any{"file": path}
	}
	small := write("small", "scenario: shopping\nparams: {agents: 5}\nsettings: {cycles: 1}\nvary: {params.eagerness: [0.5, 1]}\nreplicates: {seeds: 2}\nmeasures: [events.order]\n")
	var plan struct{ Points int }
	if h.must("validate", small, &plan); plan.Points != 2 {
		t.Errorf("the plan is %+v", plan)
	}
	h.must("experiment_run", small, nil)
	small["wait_seconds"] = 50
	var state struct {
		State string
		Runs  struct{ All, Done int }
		List  []any
	}
	if h.must("experiment", small, &state); state.State != "complete" || state.Runs.All != 4 || state.Runs.Done != 4 || len(state.List) != 0 {
		t.Errorf("the experiment is %+v", state)
	}
	delete(small, "wait_seconds")
	if text := h.must("experiment_run", small, nil); !strings.Contains(text, "No run is missing") {
		t.Errorf("run again: %s", text)
	}
	if text := h.must("experiment_compare", small, nil); !strings.Contains(text, `"measure":"events.order"`) {
		t.Errorf("the answer is %s", text)
	}

	const talk = "scenario: conversation\nparams: {provider: openai}\nvary: {settings.cycles: [1, 2]}\nreplicates: {seeds: 2}\nmeasures: [outcomes]\n"
	paid := write("paid", talk)
	h.refused("experiment_run", paid, "may cost up to $", "budget_usd")
	paid["budget_usd"] = 2
	h.refused("experiment_run", paid, "no budget of at most $2")
	paid = write("paid", talk+"budget: {usd: 3}\n")
	paid["budget_usd"] = 2
	h.refused("experiment_run", paid, "no budget of at most $2")
	paid["budget_usd"] = 3
	h.refused("experiment_run", paid, "api.openai.com", "Only the person you work for can allow") // the budget is there, the consent is not

	long := write("long", "scenario: shopping\nsettings: {cycles: 100000}\nvary: {params.eagerness: [0.5, 1]}\nreplicates: {seeds: 2}\nmeasures: [events.order]\n")
	h.must("experiment_run", long, nil)
	waitFor(t, "a run of the experiment", func() bool {
		text, failed := h.use("stop", nil)
		return failed && strings.Contains(text, "nothing was stopped") && strings.Contains(text, "the tool experiment_stop (file: "+long["file"].(string)+")")
	})
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	var listed []struct{ File, State string }
	assist(t, data, "--read-only").must("experiments", nil, &listed)
	if len(listed) == 0 || listed[0].File != long["file"] || listed[0].State != "stopped" {
		t.Errorf("after the assistant left: %+v", listed)
	}
}

// TestAssistantLeaves checks that a run of an assistant that leaves is stopped with a checkpoint and can be resumed by the next.
func TestAssistantLeaves(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	h := assist(t, data)
	var run struct{ Run string }
	h.must("run", map[string]any{"file": "shopping", "cycles": 100_000}, &run)
	h.must("pause", nil, nil)
	h.must("limit", map[string]any{"run": run.Run, "max_concurrent": 7}, nil)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	reader := assist(t, data, "--read-only")
	var end struct{ Phase, Ending string }
	if reader.must("status", nil, &end); end.Ending != "stopped" {
		t.Errorf("after the assistant left: %+v", end)
	}
	tools, err := reader.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is offered to readers", tool.Name)
		}
	}
	reader.refused("resume", map[string]any{"run": run.Run})
	next := assist(t, data)
	var again struct {
		Run     string
		Resumed bool
	}
	if next.must("resume", map[string]any{"run": run.Run}, &again); again.Run != run.Run || !again.Resumed {
		t.Errorf("resumed: %+v", again)
	}
	if text := next.must("stop", nil, nil); !strings.Contains(text, "the tool resume (run: "+run.Run+")") || strings.Contains(text, "throngctl") {
		t.Errorf("stopped: %s", text)
	}
}

// TestAssistantSeesTheQueue checks that an assistant learns that its run waits, sees it in the queue, and can take it out.
func TestAssistantSeesTheQueue(t *testing.T) {
	t.Parallel()
	h := assist(t, t.TempDir())
	var first struct{ Run string }
	h.must("run", map[string]any{"file": "shopping", "cycles": 100_000}, &first)
	h.must("pause", nil, nil)
	var second, third struct{ Event, Queue, Run, For string }
	h.must("run", map[string]any{"file": "shopping", "cycles": 1}, &second)
	h.must("run", map[string]any{"file": "shopping", "cycles": 1, "seed": 2}, &third)
	if second.Event != "waiting" || second.Queue == "" || second.Run == "" || !strings.Contains(second.For, first.Run) {
		t.Fatalf("the second run: %+v", second)
	}
	var state struct{ Phase, Ending, Queue string }
	if h.must("status", map[string]any{"run": second.Run}, &state); state.Phase != "waiting" || state.Ending != "" || state.Queue != second.Queue {
		t.Errorf("the run that waits: %+v", state)
	}
	h.refused("resume", map[string]any{"run": second.Run}, "the tool queue_cancel (id: "+second.Queue+")")
	h.refused("queue_cancel", map[string]any{"id": "none"}, "the tool queue lists what waits")
	type queue struct {
		Waiting []struct{ ID string }
		Gone    []struct{ ID, Error string } `json:"not_started"`
	}
	var line queue
	if h.must("queue", nil, &line); len(line.Waiting) != 2 || line.Waiting[0].ID != second.Queue || line.Waiting[1].ID != third.Queue || len(line.Gone) != 0 {
		t.Errorf("the queue: %+v", line)
	}
	h.must("queue_cancel", map[string]any{"id": second.Queue}, nil)
	waitFor(t, "the end of the run that waited", func() bool {
		line = queue{}
		h.must("queue", nil, &line)
		return len(line.Gone) == 1
	})
	if len(line.Waiting) != 1 || line.Gone[0].ID != second.Queue || !strings.Contains(line.Gone[0].Error, "canceled in the queue") {
		t.Errorf("after the cancellation: %+v", line)
	}
	h.must("stop", map[string]any{"run": first.Run}, nil)
	var end struct{ Ending string }
	waitFor(t, "the end of the third run", func() bool {
		text, failed := h.use("status", map[string]any{"run": third.Run, "wait_seconds": 20})
		return !failed && json.Unmarshal([]byte(text), &end) == nil && end.Ending == "finished"
	})
}
