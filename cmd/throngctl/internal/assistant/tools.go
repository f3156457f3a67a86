package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine/audit"
	"github.com/throng-sim/throng/engine/experiment"
)

// file names a scenario.
type file struct {
	File       string         `json:"file" jsonschema:"path of a scenario file, or the name of a built-in scenario"`
	Parameters map[string]any `json:"parameters,omitempty" jsonschema:"values of the scenario's parameters, by name: texts, numbers or booleans"`
}

// args returns the words of a command line. A parameter's value that is neither text, number nor boolean is its JSON text, which
// the command refuses if the parameter does not take that.
func (f file) args() []string {
	list := []string{f.File}
	for _, name := range slices.Sorted(maps.Keys(f.Parameters)) {
		value, ok := f.Parameters[name].(string)
		if !ok {
			text, _ := json.Marshal(f.Parameters[name]) // it was decoded from JSON
			value = string(text)
		}
		list = append(list, "--set="+name+"="+value)
	}
	return list
}

// check refuses files that cannot be scenarios or experiments: answers repeat lines of them, and the person you work for may have
// files that an assistant must not read.
func (f file) check() error { return checkName(f.File) }

func checkName(name string) error {
	if ext := filepath.Ext(name); filepath.Base(name) == name && ext == "" || ext == ".yaml" || ext == ".yml" {
		return nil
	}
	return fmt.Errorf("%q is neither a built-in scenario nor a .yaml file", name)
}

// settings are those of a run.
type settings struct {
	Cycles        int     `json:"cycles,omitempty" jsonschema:"how often each agent has a session"`
	Seed          *int64  `json:"seed,omitempty" jsonschema:"random seed; the same seed has the same result"`
	MaxConcurrent int     `json:"max_concurrent,omitempty" jsonschema:"sessions in flight, at most"`
	Filter        string  `json:"filter,omitempty" jsonschema:"run only agents that match this expression, such as agent.index < 50"`
	BudgetUSD     float64 `json:"budget_usd,omitempty" jsonschema:"the run stops before it spends more than this on models; needed if it can cost money"`
	MaxTokens     int64   `json:"max_tokens,omitempty" jsonschema:"the run stops before it uses more tokens of models than this; needed instead of budget_usd if the price of a model is not known"`
}

func (s settings) args() (list []string) {
	if s.Cycles != 0 {
		list = append(list, "--cycles="+strconv.Itoa(s.Cycles))
	}
	if s.Seed != nil {
		list = append(list, "--seed="+strconv.FormatInt(*s.Seed, 10))
	}
	if s.MaxConcurrent != 0 {
		list = append(list, "--max-concurrent="+strconv.Itoa(s.MaxConcurrent))
	}
	if s.BudgetUSD != 0 { // 0 would be without a bound
		list = append(list, "--budget="+strconv.FormatFloat(s.BudgetUSD, 'f', -1, 64))
	}
	if s.MaxTokens != 0 {
		list = append(list, "--max-tokens="+strconv.FormatInt(s.MaxTokens, 10))
	}
	return list
}

type runInput struct {
	file
	settings
}

type oneRun struct {
	Run string `json:"run,omitempty" jsonschema:"ID or name of a run; the newest if left out"`
}

// args returns the run as an argument, if it is given.
func (r oneRun) args() []string {
	if r.Run == "" {
		return nil
	}
	return []string{r.Run}
}

// running names a run in progress.
type running struct {
	Run string `json:"run,omitempty" jsonschema:"ID or name of a run in progress; if left out, the one that is in progress"`
}

func (r running) args() []string { return word(r.Run) }

type (
	stopInput struct {
		Run string `json:"run,omitempty" jsonschema:"ID or name of a run in progress; if left out, the one that is in progress, unless it belongs to an experiment"`
	}
	entryInput struct {
		ID string `json:"id" jsonschema:"ID in the queue, which the tool queue lists"`
	}
	statusInput struct {
		oneRun
		WaitSeconds float64 `json:"wait_seconds,omitempty" jsonschema:"wait for the end of the run, up to this many seconds (at most 50)"`
	}
	limitInput struct {
		running
		MaxConcurrent int `json:"max_concurrent" jsonschema:"sessions in flight, at most, from now on"`
	}
	resumeInput struct {
		Run       string  `json:"run" jsonschema:"ID or name of a run that was stopped or failed"`
		AsItWas   bool    `json:"as_it_was,omitempty" jsonschema:"use the scenario that is stored with the run even if its file has changed"`
		BudgetUSD float64 `json:"budget_usd,omitempty" jsonschema:"budget for models in US dollars, with what was already spent; needed if the run has cost money"`
		MaxTokens int64   `json:"max_tokens,omitempty" jsonschema:"budget in tokens of models, with those already used; needed instead of budget_usd if the price of a model is not known"`
	}
	agentsInput struct {
		oneRun
		Cycle *int   `json:"cycle,omitempty" jsonschema:"cycle, from 0; the newest with results if left out"`
		Where string `json:"where,omitempty" jsonschema:"list the agents that match this expression, such as agent.age > 30"`
		State string `json:"state,omitempty" jsonschema:"list the agents with this outcome: ok, stopped (by a step of the scenario: it did not fail), failed, timeout or canceled"`
	}
	agentInput struct {
		oneRun
		Agent string `json:"agent" jsonschema:"ID of the agent, or its index from 0"`
		Cycle *int   `json:"cycle,omitempty" jsonschema:"only this cycle, from 0"`
		Last  *int   `json:"last,omitempty" jsonschema:"show the newest sessions, so many (default: 50); 0 shows all"`
	}
	transcriptInput struct {
		oneRun
		Agent string `json:"agent,omitempty" jsonschema:"only this agent: its ID, or its index from 0"`
		Cycle *int   `json:"cycle,omitempty" jsonschema:"only this cycle, from 0"`
		Find  string `json:"find,omitempty" jsonschema:"only lines that contain this text"`
	}
	compareInput struct {
		Runs []string `json:"runs" jsonschema:"IDs or names of runs; all are compared with the first. Commas join runs with different seeds: A1,A2 B1,B2"`
	}
	runsInput struct {
		Find string `json:"find,omitempty" jsonschema:"list only runs that contain these words in name, title, tags, note or state"`
	}
	guideInput struct {
		Page   string `json:"page,omitempty" jsonschema:"page to read; without page and search, all pages are listed"`
		Search string `json:"search,omitempty" jsonschema:"print passages that contain all of these words"`
	}
	scenariosInput struct {
		Name string `json:"name,omitempty" jsonschema:"built-in scenario to show; all are listed if left out"`
	}
)

// flag returns a flag with a value, or nothing if the value is its zero value.
func flag[T comparable](name string, value T) []string {
	var zero T
	if value == zero {
		return nil
	}
	return []string{fmt.Sprintf("--%s=%v", name, value)}
}

// optional returns a flag with a value, or nothing for nil.
func optional(name string, value *int) []string {
	if value == nil {
		return nil
	}
	return []string{"--" + name + "=" + strconv.Itoa(*value)}
}

// tools returns the server with its tools.
func (s *server) tools(version string, readOnly bool) *sdk.Server {
	options := &sdk.ServerOptions{Instructions: instructions}
	if readOnly {
		options.Instructions = readerInstructions
	}
	m := sdk.NewServer(&sdk.Implementation{Name: "throng", Title: "Throng", Version: version}, options)
	s.reading(m)
	s.readingExperiments(m)
	if !readOnly {
		s.changing(m)
		s.changingExperiments(m)
	}
	return m
}

// reading adds the tools that change nothing.
func (s *server) reading(m *sdk.Server) {
	read := &sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	add(s, m, read, "scenarios", "List the built-in scenarios, or show the text of one.", func(in scenariosInput) []string {
		return command("scenarios", word(in.Name))
	})
	add(s, m, read, "validate", "Check a scenario or an experiment without running it: mistakes with lines; of a scenario also the services that it calls, and a forecast of sessions, length and cost.", func(in file) []string {
		return command("validate", in.args())
	})
	add(s, m, read, "runs", "List runs, newest first.", func(in runsInput) []string { return command("runs", strings.Fields(in.Find)) })
	add(s, m, read, "agents", "Count the outcomes of a cycle, with the reasons of sessions that a step stopped, or list the agents with one.", func(in agentsInput) []string {
		return command("agents", in.args(), optional("cycle", in.Cycle), flag("where", in.Where), flag("state", in.State))
	})
	add(s, m, read, "timeline", "Show what one agent did, step by step, with its memory.", func(in agentInput) []string {
		return command("timeline", in.args(), word(in.Agent), optional("cycle", in.Cycle), optional("last", in.Last), []string{"--persona"})
	})
	add(s, m, read, "transcript", "Show what agents said, decided and sent to each other.", func(in transcriptInput) []string {
		return command("transcript", in.args(), flag("agent", in.Agent), optional("cycle", in.Cycle), flag("find", in.Find))
	})
	add(s, m, read, "compare", "Compare runs: each figure with its difference, interval and significance.", func(in compareInput) []string {
		return command("compare", in.Runs)
	})
	add(s, m, read, "checkpoints", "List the checkpoints of a run.", func(in oneRun) []string { return command("checkpoints", in.args()) })
	sdk.AddTool(m, tool("audit", "Recompute the figures of a run from its journal, say whether they are the same, and list those that differ.", read),
		func(ctx context.Context, _ *sdk.CallToolRequest, in oneRun) (*sdk.CallToolResult, any, error) {
			return s.reply(s.audit(ctx, in))
		})
	add(s, m, read, "guide", "Read or search the guide: the scenario language, settings, models, databases.", func(in guideInput) []string {
		return command("guide", word(in.Page), flag("search", in.Search))
	})
	sdk.AddTool(m, tool("queue", "List the runs and experiments that wait to start, in their order, and those of this server that left the queue without a start.", read),
		func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			return s.reply(s.queue(ctx))
		})
	sdk.AddTool(m, tool("status", "Show the progress of a run, or the result of one that has ended.", read),
		func(ctx context.Context, _ *sdk.CallToolRequest, in statusInput) (*sdk.CallToolResult, any, error) {
			return s.reply(s.status(ctx, in))
		})
}

// changing adds the tools that start, change and stop runs.
func (s *server) changing(m *sdk.Server) {
	no := false
	starts := &sdk.ToolAnnotations{DestructiveHint: &no}
	steers := &sdk.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no}
	add(s, m, starts, "check", "Check before a run that services answer, that the database can be reached and that the machine is large enough. It calls the services.", func(in file) []string {
		return command("check", in.args())
	})
	sdk.AddTool(m, tool("run", "Start a run. It returns when the run has started; the tool status waits for its end.", starts),
		func(ctx context.Context, _ *sdk.CallToolRequest, in runInput) (*sdk.CallToolResult, any, error) {
			return s.reply(s.run(ctx, in))
		})
	sdk.AddTool(m, tool("resume", "Resume a run that was stopped, from the step after its last one.", starts),
		func(ctx context.Context, _ *sdk.CallToolRequest, in resumeInput) (*sdk.CallToolResult, any, error) {
			return s.reply(s.resume(ctx, in))
		})
	for _, order := range []struct{ name, about string }{
		{"pause", "Pause a run; sessions in flight finish."},
		{"continue", "Continue a paused run."},
	} {
		add(s, m, steers, order.name, order.about, func(in running) []string { return command(order.name, in.args()) })
	}
	add(s, m, steers, "stop", "Stop a run with a checkpoint; it can be resumed. It says what it stops. A run of an experiment has to be named, and stops the experiment.",
		func(in stopInput) []string { return command("stop", word(in.Run)) })
	add(s, m, steers, "queue_cancel", "Take a run or an experiment that waits out of the queue: it starts nothing.", func(in entryInput) []string {
		return command("queue", []string{"cancel", in.ID})
	})
	add(s, m, steers, "limit", "Change the concurrency limit of the run in progress.", func(in limitInput) []string {
		return command("set", in.args(), []string{"max-concurrent=" + strconv.Itoa(in.MaxConcurrent)})
	})
}

// tool describes a tool.
func tool(name, about string, notes *sdk.ToolAnnotations) *sdk.Tool {
	return &sdk.Tool{Name: name, Description: about, Annotations: notes}
}

// quotes are the tools whose answers are texts of others: agents, scenarios and the guide.
var quotes = map[string]bool{"guide": true, "scenarios": true, "transcript": true, "timeline": true, "agents": true, "runs": true}

// add adds a tool that executes one command line.
func add[In any](s *server, m *sdk.Server, notes *sdk.ToolAnnotations, name, about string, line func(In) []string) {
	sdk.AddTool(m, tool(name, about, notes), func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		args := line(in)
		err := plain(args)
		if f, ok := any(in).(interface{ check() error }); ok {
			err = errors.Join(err, f.check())
		}
		if err != nil {
			return nil, nil, err
		}
		if quotes[name] {
			return reply(s.execute(ctx, args...))
		}
		return s.reply(s.execute(ctx, args...))
	})
}

// ours are the flags that command lines of tools have.
var ours = []string{
	"--json", "--persona", "--set=", "--cycles=", "--seed=", "--max-concurrent=", "--filter=", "--budget=", "--max-tokens=", "--cycle=", "--where=", "--state=",
	"--agent=", "--find=", "--search=", "--follow", "--last=", "--as-it-was",
}

// plain refuses words of an assistant that would be read as flags.
func plain(args []string) error {
	for _, a := range args {
		if strings.HasPrefix(a, "-") && !slices.ContainsFunc(ours, func(f string) bool {
			return a == f || strings.HasSuffix(f, "=") && strings.HasPrefix(a, f)
		}) {
			return fmt.Errorf("%q begins with a hyphen, so it is not a name", a)
		}
	}
	return nil
}

// word returns a word as an argument, if there is one.
func word(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// command returns a command line with JSON output.
func command(name string, parts ...[]string) []string {
	return append([]string{name}, append(slices.Concat(parts...), "--json")...)
}

// status returns the status of a run, after waiting for its end if the call asks for that.
func (s *server) status(ctx context.Context, in statusInput) ([]byte, error) {
	args := command("status", in.args())
	if err := plain(args); err != nil {
		return nil, err
	}
	own := s.own(in.Run)
	if wait := min(time.Duration(in.WaitSeconds*float64(time.Second)), mostWait); wait > 0 {
		within, end := context.WithTimeout(ctx, wait)
		defer end()
		if own != nil {
			own.wait(within)
		} else if _, err := s.execute(within, append(args, "--follow")...); err != nil && within.Err() == nil {
			return nil, err
		}
	}
	text, err := s.execute(ctx, args...)
	if err != nil && own != nil { // a run cannot be reached while it begins or ends
		within, end := context.WithTimeout(ctx, settleWait)
		defer end()
		own.wait(within)
		return s.execute(ctx, args...)
	}
	return text, err
}

// audit returns the result of an audit. Of its figures, which are hundreds, it returns those that differ.
func (s *server) audit(ctx context.Context, in oneRun) ([]byte, error) {
	args := command("audit", in.args())
	if err := plain(args); err != nil {
		return nil, err
	}
	text, err := s.execute(ctx, args...)
	if err != nil {
		return nil, err
	}
	var found answer.Audit
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("the answer of throngctl audit: %w", err)
	}
	found.Figures = slices.DeleteFunc(found.Figures, func(f audit.Figure) bool { return f.Differ == 0 })
	return json.Marshal(found)
}

// run starts a run, if it is free or has a budget.
func (s *server) run(ctx context.Context, in runInput) ([]byte, error) {
	if strings.HasSuffix(in.File, experiment.Ending) {
		return nil, errors.New("it is an experiment: use the tool experiment_run")
	}
	args := slices.Concat(in.file.args(), in.settings.args())
	if err := errors.Join(plain(args), in.check()); err != nil {
		return nil, err
	}
	if in.BudgetUSD == 0 {
		text, err := s.execute(ctx, command("validate", args)...)
		if err != nil {
			return nil, err
		}
		if err := free(text, in.MaxTokens); err != nil {
			return nil, err
		}
	}
	return s.start(ctx, command("run", args, flag("filter", in.Filter))...)
}

// ask is the end of the refusal of a run that may cost money.
const ask = "nothing was started; ask the person you work for, and pass budget_usd with the amount that they agree to"

// askTokens is that of a run whose models have no known price.
const askTokens = "nothing was started; ask the person you work for, and pass max_tokens with the number of tokens that they agree to"

// free returns an error if the answer of validate expects a run to cost money, or does not know its cost and no number of tokens was
// agreed to.
func free(validated []byte, tokens int64) error {
	var plan struct {
		Forecast struct {
			Calls struct{ High float64 }  `json:"model_calls"`
			Cost  *struct{ High float64 } `json:"cost_usd"`
		} `json:"forecast"`
	}
	if err := json.Unmarshal(validated, &plan); err != nil {
		return fmt.Errorf("the answer of throngctl validate: %w", err)
	}
	switch cost := plan.Forecast.Cost; {
	case cost == nil && plan.Forecast.Calls.High > 0 && tokens <= 0:
		return errors.New("the price of a model is not known, so the run may cost money; " + askTokens)
	case cost != nil && cost.High > 0:
		return fmt.Errorf("the run may cost up to $%.2f for models; %s", max(cost.High, 0.01), ask)
	}
	return nil
}

// resume resumes a run, if it has cost nothing or gets a budget.
func (s *server) resume(ctx context.Context, in resumeInput) ([]byte, error) {
	args := command("resume", []string{in.Run}, settings{BudgetUSD: in.BudgetUSD, MaxTokens: in.MaxTokens}.args())
	if in.AsItWas {
		args = append(args, "--as-it-was")
	}
	if err := plain(args); err != nil {
		return nil, err
	}
	if in.BudgetUSD == 0 {
		text, err := s.execute(ctx, "status", in.Run, "--json")
		if err != nil {
			return nil, err
		}
		var was struct {
			Cost *float64 `json:"cost_usd"`
		}
		if err := json.Unmarshal(text, &was); err != nil {
			return nil, fmt.Errorf("the answer of throngctl status: %w", err)
		}
		if was.Cost == nil && in.MaxTokens <= 0 {
			return nil, errors.New("the run has used models whose price is not known, and may use more; " + askTokens)
		}
		if was.Cost != nil && *was.Cost > 0 {
			return nil, errors.New("the run has paid for models, and may pay for more; " + ask)
		}
	}
	return s.start(ctx, args...)
}
