// Package assistant serves throngctl to AI assistants by the Model Context Protocol (MCP): each tool is a command of throngctl with
// JSON output, executed as a process of its own. The rules are those of a person at the terminal, but for two: an assistant can
// neither allow addresses nor start a run that costs money without a budget that the call names.
package assistant

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
)

// Command serves the tools on standard input and output.
type Command struct {
	ReadOnly bool `help:"Offer only tools that change nothing: no runs are started, changed or stopped."`
}

// Help is printed by mcp --help.
func (Command) Help() string {
	return `The program of an assistant starts this command. Those that read a configuration in JSON want this entry:

    {"mcpServers": {"throng": {"command": "throngctl", "args": ["mcp"]}}}

An assistant cannot allow addresses, and starts nothing that costs money without a budget that the call names. Runs that it started are
stopped with a checkpoint when it leaves. The guide has more: throngctl guide terminal`
}

// Terminal is what the command needs of the program.
type Terminal struct {
	In      io.Reader
	Out     io.Writer
	Version string
	Signals <-chan os.Signal // requests to end
	// Process prepares a command line of throngctl as a process that ends with the context. It uses the data folder of this
	// process.
	Process func(ctx context.Context, args ...string) (*exec.Cmd, error)
	// Commands returns the names of all commands, such as "run" and "queue cancel".
	Commands func() []string
}

// about tells an assistant what the tools are.
const about = `Throng runs crowds of simulated agents against services and models. A scenario is a YAML file; the tool "scenarios" lists ` +
	`built-in ones, which work without keys or servers. Experiments are files too, whose names end in ` + experiment.Ending + `. The guide explains ` +
	`everything (tool "guide", with search), and also the commands of the terminal, which only the person you work for can use. ` +
	`An agent whose session has the outcome "stopped" did not fail: a step of the scenario ended its session early, as ` +
	`for a shopper who stays home. When a run is stopped, the sessions that it cuts have no outcome, and run again when it is resumed.
`

// instructions tell an assistant how to use the tools.
const instructions = about + `Usual order: validate, check, run, status with wait_seconds until it has ended, then ` +
	`agents, timeline, transcript or compare. For experiments: validate, experiment_run, experiment with wait_seconds, then experiment_compare.
Two things are left to the person you work for. If an address is not allowed, ask them to allow it themselves; you cannot. If a run can ` +
	`cost money, tell them how much "validate" expects (of an experiment the tool "experiment"), and pass budget_usd only after they agreed to that ` +
	`amount; for models without a known price, pass max_tokens.
One run or experiment is in progress at a time. Others wait in the queue: the tool "queue" lists them, and "queue_cancel" takes one out.
Runs and experiments end when this server ends: they are stopped with a checkpoint, and "resume" continues them without a loss.`

// readerInstructions are for a server that changes nothing.
const readerInstructions = about + `This server is for reading: it cannot start, change or stop runs.`

// Run is called by kong. It returns when the assistant closes the connection, or at a signal.
func (c *Command) Run(ctx context.Context, t *Terminal) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() {
		select {
		case <-t.Signals:
			end()
		case <-ctx.Done():
		}
	}()
	s := &server{process: t.Process, hints: Hints{Commands: t.Commands, Reader: c.ReadOnly}}
	out := &answers{out: t.Out}
	in := io.NopCloser(&messages{in: bufio.NewReader(t.In), out: out})
	err := s.tools(t.Version, c.ReadOnly).Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, s.close())
}

// server executes tools.
type server struct {
	process func(ctx context.Context, args ...string) (*exec.Cmd, error)
	started started
	hints   Hints
}

const (
	// mostAnswer is the length of a tool's answer in bytes. Assistants hold answers in their context, which is small.
	mostAnswer = 60_000
	// mostWait is the longest time that the tool status waits for the end of a run. Assistants give up on tools after a minute.
	mostWait = 50 * time.Second
)

// execute runs a command and returns what it printed. An error is what the command says of it.
func (s *server) execute(ctx context.Context, args ...string) ([]byte, error) {
	cmd, err := s.process(ctx, args...)
	if err != nil {
		return nil, err
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if err != nil && out.Len() == 0 {
		return nil, s.failure(err, errs.String())
	}
	return out.Bytes(), nil // a command that judges, such as check, prints its answer and ends with a code
}

// failure returns the error of a command that printed no answer.
func (s *server) failure(err error, printed string) error {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	text := lines[len(lines)-1]
	if text == "" {
		return fmt.Errorf("throngctl: %w", err)
	}
	if !strings.HasPrefix(text, "{") { // notices
		text = strings.Join(lines, "\n")
	}
	address := strings.Contains(text, "--allow")
	if json.Valid([]byte(text)) {
		text = string(s.hints.inJSON([]byte(text)))
	} else {
		text = s.hints.Translate(text)
	}
	if address {
		text += "\nOnly the person you work for can allow an address: by `throngctl run FILE --allow ADDRESS` in their own terminal, or by launching this file once in the window."
	}
	return errors.New(text)
}

// reply returns the result of a tool, whose texts name commands of the terminal.
func (s *server) reply(text []byte, err error) (*sdk.CallToolResult, any, error) {
	return reply(s.hints.inJSON(text), err)
}

// reply returns the result of a tool.
func reply(text []byte, err error) (*sdk.CallToolResult, any, error) {
	if err != nil {
		return nil, nil, err
	}
	if compact := new(bytes.Buffer); json.Compact(compact, text) == nil { // indentation costs tokens
		text = compact.Bytes()
	}
	shown := string(text)
	if len(text) > mostAnswer {
		shown = strings.ToValidUTF8(shown[:mostAnswer], "") +
			fmt.Sprintf("\n(cut: these are %s of %s; ask for less, such as one agent, one cycle or the last sessions)", engine.FormatBytes(mostAnswer), engine.FormatBytes(int64(len(text))))
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: shown}}}, nil, nil
}
