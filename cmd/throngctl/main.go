// Command throngctl runs crowds of simulated agents from a terminal, on the same engine as the window.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/crashes"
	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/prove"
	"github.com/throng-sim/throng/cmd/throngctl/internal/assistant"
	"github.com/throng-sim/throng/cmd/throngctl/internal/bundles"
	"github.com/throng-sim/throng/cmd/throngctl/internal/decisions"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/lab"
	"github.com/throng-sim/throng/cmd/throngctl/internal/line"
	"github.com/throng-sim/throng/cmd/throngctl/internal/machines"
	"github.com/throng-sim/throng/cmd/throngctl/internal/marks"
	"github.com/throng-sim/throng/cmd/throngctl/internal/orders"
	"github.com/throng-sim/throng/cmd/throngctl/internal/questions"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/visible"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1 // the run failed, exceeded its budget, or missed a criterion
	exitUsage       = 2 // wrong usage, or an invalid file
	exitInterrupted = 130
)

// cli has all commands and flags.
type cli struct {
	Common common `embed:""`
	startCommands
	runCommands
	orderCommands
	scenarioCommands
	documentCommands
}

// startCommands start runs.
type startCommands struct {
	Run        runCmd             `cmd:"" help:"Run a scenario." group:"Runs"`
	Experiment lab.Commands       `cmd:"" help:"Execute many runs that differ in parameters and seeds." group:"Runs"`
	Queue      line.Commands      `cmd:"" help:"List what waits to start, or change it." group:"Runs"`
	Resume     resumeCmd          `cmd:"" help:"Resume a run." group:"Runs"`
	Fork       forkCmd            `cmd:"" help:"Fork a run from a checkpoint, with changes." group:"Runs"`
	Survey     questions.Command  `cmd:"" help:"Ask copies of the agents of a run questions, or show the answers." group:"Runs"`
	Worker     machines.WorkerCmd `cmd:"" help:"Execute sessions of a run that another machine coordinates." group:"Runs"`
	Cleanup    cleanupCmd         `cmd:"" help:"Run the cleanup of a scenario to delete what a run created in its services." group:"Runs"`
}

// runCommands are about runs that exist.
type runCommands struct {
	Runs        runsCmd             `cmd:"" help:"List runs, newest first." group:"Runs"`
	Checkpoints checkpointsCmd      `cmd:"" help:"List the checkpoints of a run." group:"Runs"`
	Timeline    timelineCmd         `cmd:"" help:"Show what an agent did, step by step." group:"Runs"`
	Transcript  transcriptCmd       `cmd:"" help:"Print what agents said, decided and sent to each other." group:"Runs"`
	Agents      agentsCmd           `cmd:"" help:"Count outcomes of a cycle, or list the agents with one." group:"Runs"`
	Fetch       fetchCmd            `cmd:"" help:"Fetch a checkpoint that another machine sent to Postgres." group:"Runs"`
	Export      exportCmd           `cmd:"" help:"Export results as CSV, JSON or Parquet." group:"Runs"`
	Report      reportCmd           `cmd:"" help:"Write an HTML report." group:"Runs"`
	Push        pushCmd             `cmd:"" help:"Send results to Postgres, or check the connection." group:"Runs"`
	Compare     compareCmd          `cmd:"" help:"Compare runs, with significance." group:"Runs"`
	Agreement   decisions.Agreement `cmd:"" help:"Compare the answers of models with those of their rules." group:"Runs"`
	Learn       decisions.Learn     `cmd:"" help:"Learn a rule from the answers of a model." group:"Runs"`
	Bundle      bundles.Commands    `cmd:"" help:"Pack a run into one file, or check or open such a file." group:"Runs"`
	Delete      deleteCmd           `cmd:"" help:"Move a run or its checkpoints to the trash, or delete its rows in Postgres." group:"Runs"`
	Prune       pruneCmd            `cmd:"" help:"Move old runs and checkpoints to the trash." group:"Runs"`
	Restore     restoreCmd          `cmd:"" help:"Restore a run or a checkpoint from the trash." group:"Runs"`
	Trash       trashCmd            `cmd:"" help:"List the trash, or empty it." group:"Runs"`
	Note        marks.NoteCmd       `cmd:"" help:"Show or change the note of a run." group:"Runs"`
	Name        marks.NameCmd       `cmd:"" help:"Show or change the name of a run." group:"Runs"`
	Tag         marks.TagCmd        `cmd:"" help:"Show or change the tags of a run." group:"Runs"`
	Star        marks.StarCmd       `cmd:"" help:"Give a run a star, or remove it." group:"Runs"`
	Audit       auditCmd            `cmd:"" help:"Recompute the figures of a run from its journal." group:"Runs"`
}

// orderCommands act on the run in progress.
type orderCommands struct {
	Status     statusCmd         `cmd:"" help:"Show the progress of a run." group:"The run in progress"`
	Set        orders.Set        `cmd:"" help:"Change settings of the run in progress, or list them." group:"The run in progress"`
	Pause      orders.Pause      `cmd:"" help:"Pause the run; sessions in flight finish." group:"The run in progress"`
	Continue   orders.Continue   `cmd:"" help:"Continue a paused run." group:"The run in progress"`
	Stop       orders.Stop       `cmd:"" help:"Stop the run; it can be resumed. A run of an experiment has to be named." group:"The run in progress"`
	Checkpoint orders.Checkpoint `cmd:"" help:"Take a checkpoint now." group:"The run in progress"`
	Retire     orders.Retire     `cmd:"" help:"Retire agents from the next cycle on." group:"The run in progress"`
	Requeue    orders.Requeue    `cmd:"" help:"Retry failed sessions of the current cycle." group:"The run in progress"`
	Broadcast  orders.Broadcast  `cmd:"" help:"Put a message into agents' inboxes." group:"The run in progress"`
	Fleet      machines.Commands `cmd:"" help:"Show the workers of a run that is spread over processes, or change them." group:"The run in progress"`
}

// scenarioCommands prepare runs.
type scenarioCommands struct {
	Import    importCmd         `cmd:"" help:"Make a scenario from a backend's address, an OpenAPI document, a recording or cURL commands." group:"Scenarios, settings and mocks"`
	Scenarios scenariosCmd      `cmd:"" help:"List, show or copy the built-in scenarios." group:"Scenarios, settings and mocks"`
	Validate  validateCmd       `cmd:"" help:"Check a scenario or an experiment and show its plan and forecast." group:"Scenarios, settings and mocks"`
	Check     checkCmd          `cmd:"" help:"Check services, database and machine before a run." group:"Scenarios, settings and mocks"`
	Try       tryCmd            `cmd:"" help:"Run one session and show the input and output of each step; nothing is stored." group:"Scenarios, settings and mocks"`
	Prove     proveCmd          `cmd:"" help:"Prove that results are the same when the process is killed." group:"Scenarios, settings and mocks"`
	Calibrate calibrateCmd      `cmd:"" help:"Find the best concurrency limit for a scenario." group:"Scenarios, settings and mocks"`
	Settings  settingsCmd       `cmd:"" help:"Show settings and where each value comes from, or save some." group:"Scenarios, settings and mocks"`
	Secret    secretCmd         `cmd:"" help:"Save, remove or check a secret." group:"Scenarios, settings and mocks"`
	Allowed   allowedCmd        `cmd:"" help:"List the addresses that scenario files may call, or revoke them." group:"Scenarios, settings and mocks"`
	Mock      mockCmd           `cmd:"" help:"Serve the mock shop, the mock model, or both." group:"Scenarios, settings and mocks"`
	Record    recordCmd         `cmd:"" help:"Record a visit to your backend, to make a scenario of it." group:"Scenarios, settings and mocks"`
	MCP       assistant.Command `cmd:"" name:"mcp" help:"Serve throngctl to AI assistants by the Model Context Protocol." group:"Scenarios, settings and mocks"`
	Metrics   metricsCmd        `cmd:"" help:"List the exported metrics, or print a Grafana dashboard." group:"Scenarios, settings and mocks"`
}

// documentCommands print documentation.
type documentCommands struct {
	Schema     schemaCmd     `cmd:"" help:"Print the JSON Schema of scenario files, or of a command's --json output." group:"Scenarios, settings and mocks"`
	Completion completionCmd `cmd:"" help:"Print a shell completion script." group:"Scenarios, settings and mocks"`
	Man        manCmd        `cmd:"" help:"Print the manual page." group:"Scenarios, settings and mocks"`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" help:"Completions of a command line, for the shell scripts."`
	Licenses   licensesCmd   `cmd:"" help:"Show the licenses of Throng and its dependencies." group:"Scenarios, settings and mocks"`
	Guide      guideCmd      `cmd:"" help:"Read or search the guide." group:"Scenarios, settings and mocks"`
	Help       helpCmd       `cmd:"" help:"Show the overview, or the help of a command." group:"Scenarios, settings and mocks"`
	Version    versionCmd    `cmd:"" help:"Print version and platform." group:"Scenarios, settings and mocks"`
}

// common has the flags of every command.
type common struct {
	Data    string           `help:"Data folder (default: ${data_folder})." placeholder:"DIR" env:"${env_data}"`
	LogFile string           `help:"Log file, as JSON lines (default: a file per run in the logs folder of the data folder)." placeholder:"FILE"`
	Debug   bool             `help:"Log at debug level, to the log file and, without a dashboard, to standard error."`
	Version kong.VersionFlag `short:"v" help:"Print version and platform."`
}

// terminal is the input and output of commands.
type terminal struct {
	in       io.Reader
	out, err io.Writer        // execute wraps them so that control characters are escaped; see show.Raw
	signals  <-chan os.Signal // requests to stop the run
	byHand   <-chan os.Signal // requests for a checkpoint
	lines    *bufio.Reader    // of in; nil before the first question
	exit     func(code int)   // ends the program; nil in tests
	data     string
	screens  *screens
	log      *slog.Logger // discards records if there is no log file
	json     bool         // print answers and errors as JSON
	debug    bool         // log at debug level
	trouble  chan error   // errors of notifications and telemetry; see hear
	hooks    hooks
}

// updatingEvery is the interval of progress messages while an older store is backed up.
const updatingEvery = 5 * time.Second

// hooks let throngctl prove and tests kill the program at a chosen moment, and simulate another machine.
type hooks struct {
	onCommit  func(n int64)
	onRequest func(mock.Request)
	witness   service.Witness
	host      func() engine.HostMetrics
	env       []string                                       // additional variables of the processes of throngctl prove, and of workers
	onMessage func()                                         // of a worker
	workerEnv func(env []string, worker, start int) []string // see [crew.Config]
	cores     int                                            // cores in forecasts; 0 means those of this machine
	trusts    bool                                           // treat every scenario as written by the user, who may call this machine
}

// hooksOf returns the hooks of a process that throngctl prove started.
func hooksOf(c *prove.Counter) hooks {
	if c == nil {
		return hooks{}
	}
	return hooks{
		onCommit:  func(int64) { c.Reached(prove.Commit) },
		onRequest: func(mock.Request) { c.Reached(prove.Request) },
		onMessage: func() { c.Reached(prove.Message) },
		witness: service.Witness{
			Leaving: func(http.Header) { c.Reached(prove.Sending) },
			Arrived: func() { c.Reached(prove.Answer) },
		},
		workerEnv: c.WorkerEnv,
	}
}

func (t *terminal) storeOptions() sqlite.Options {
	var printed time.Time
	updating := func(u sqlite.Update) {
		if now := time.Now(); u.Done == 0 || u.Done == u.Bytes || now.Sub(printed) > updatingEvery {
			printed = now
			fmt.Fprintln(t.err, u)
		}
	}
	return sqlite.Options{Updating: updating, OnCommit: t.hooks.onCommit, OnGone: retention.Gone(t.data, t.log), Logger: t.log}
}

// openApp opens the store for a run, and prints its notices.
func (t *terminal) openApp() (a *app.App, err error) {
	a, err = app.Open(app.Options{
		Data: t.data, Program: crashes.TerminalName, Store: t.storeOptions(), Logger: t.log, Log: t.log,
		Crashed: func(run engine.RunID, value any, stack []byte) { crashed(t, a.Box(), run, value, stack) },
		Host:    t.hooks.host, OnRequest: t.hooks.onRequest, Witness: t.hooks.witness,
	})
	if err == nil {
		printNotices(t, a.Store())
	}
	return a, err
}

// open opens the store and prints its notices.
func (t *terminal) open() (*sqlite.Store, error) {
	// The notices and the reason of a pause show what the store would log.
	store, err := sqlite.Open(t.data, t.storeOptions())
	if err == nil {
		printNotices(t, store)
	}
	return store, err
}

// printNotices prints messages of the store, and crashes of earlier processes.
func printNotices(t *terminal, store *sqlite.Store) {
	if n := store.Notice(); n != "" {
		fmt.Fprintln(t.err, n)
	}
	if n, err := crashes.Crashes(context.Background(), store, t.data); err != nil {
		fmt.Fprintln(t.err, err)
	} else if n != "" {
		fmt.Fprintln(t.err, n)
	}
}

// exitError ends the program with an exit code and no message.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func main() {
	moments := prove.FromEnv(os.Getenv)
	code := execute(os.Args[1:], &terminal{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, signals: heeded(), byHand: byHand(), exit: os.Exit, hooks: hooksOf(moments),
	})
	if err := moments.Write(); err != nil {
		fmt.Fprintf(os.Stderr, "throngctl: %v\n", err)
		code = exitFailed
	}
	os.Exit(code)
}

// grammar returns the commands and flags that a command line may use, and the common flags in them. If the first word names
// a command, it returns only that command, and for the overview commands without flags: parsing the flags of all commands takes
// longer than most commands.
func grammar(args []string) (all any, shared *common) {
	whole := &cli{}
	if len(args) == 0 {
		return whole, &whole.Common
	}
	overview := len(args) == 1 && slices.Contains([]string{"--help", "-h"}, args[0])
	embedded, _ := reflect.TypeFor[cli]().FieldByName("Common")
	parts := []reflect.StructField{embedded}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[cli]()) {
		_, command := field.Tag.Lookup("cmd")
		switch {
		case command && overview:
			parts = append(parts, reflect.StructField{Name: field.Name, Type: reflect.TypeFor[struct{}](), Tag: field.Tag})
		case command && cmp.Or(field.Tag.Get("name"), flags.Kebab(field.Name)) == args[0]:
			parts = append(parts, reflect.StructField{Name: field.Name, Type: field.Type, Tag: field.Tag})
		}
	}
	if len(parts) == 1 {
		return whole, &whole.Common
	}
	some := reflect.New(reflect.StructOf(parts))
	return some.Interface(), some.Elem().Field(0).Addr().Interface().(*common)
}

// model returns the description of all commands and flags.
var model = sync.OnceValue(func() *kong.Application {
	parser, err := flags.NewParser(&cli{})
	if err != nil { // a struct tag is invalid
		panic(err)
	}
	return parser.Model
})

// execute runs a command line and returns its exit code.
func execute(args []string, t *terminal) int {
	out, errs := visible.NewWriter(t.out), visible.NewWriter(t.err)
	t.out, t.err = out, errs
	code := t.execute(args)
	if err := errors.Join(out.Flush(), errs.Flush()); err != nil && code == exitDone {
		return exitFailed
	}
	return code
}

func (t *terminal) execute(args []string) int {
	if len(args) == 0 {
		args = []string{"help"}
	}
	args = marks.TagChanges(args)
	all, shared := grammar(args)
	code := -1
	parser, err := flags.NewParser(all,
		kong.Writers(t.out, t.err),
		kong.Exit(func(n int) { code = n }),
		kong.Vars{"version": version()},
		kong.Help(help),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ValueFormatter(flags.Describe),
	)
	if err != nil { // a struct tag is invalid
		panic(err)
	}
	if _, every := all.(*cli); every {
		err = unknownCommand(args)
	}
	var command *kong.Context
	if err == nil {
		command, err = parser.Parse(args)
		err = flags.Plain(err, node(args))
	}
	switch {
	case code >= 0: // --help
		return code
	case err != nil && slices.Contains(args, "--json"):
		return t.failure(err, exitUsage)
	case err != nil:
		fmt.Fprintf(t.err, "throngctl: %v\nRun '%s --help' for usage.\n", err, named(args))
		return exitUsage
	}
	t.data, t.json, t.debug, t.screens, t.trouble = shared.Data, wantsJSON(command), shared.Debug, &screens{}, make(chan error, mostTrouble)
	if err := flags.CheckEmpty(command); err != nil {
		return t.fail(err)
	}
	if t.data == "" {
		if t.data, err = config.DataFolder(); err != nil {
			return t.fail(err)
		}
	}
	closeLog, err := openLog(t, shared, command.Command())
	if err != nil {
		return t.fail(err)
	}
	defer closeLog()
	t.bind(command)
	return t.fail(command.Run(t))
}

// bind hands the commands of other packages what they need of the program.
func (t *terminal) bind(command *kong.Context) {
	command.BindTo(context.Background(), (*context.Context)(nil))
	command.Bind(&line.Terminal{Out: t.out, JSON: t.json, Data: t.data})
	command.Bind(&lab.Terminal{
		Out: t.out, Err: t.err, JSON: t.json, Data: t.data, Trusted: t.hooks.trusts, Signals: t.signals, Start: t.start(t), Open: t.openApp, Interrupted: exitError(exitInterrupted), Failed: exitError(exitFailed),
	})
	steering := orders.Terminal{Out: t.out, JSON: t.json, Data: t.data, Steer: t.steer, InProgress: t.current}
	command.Bind(&steering)
	command.Bind(&machines.Terminal{
		Terminal: steering, Signals: t.signals, Log: t.log, Interrupted: exitError(exitInterrupted), With: t.with, Hooks: crew.Hooks{Witness: t.hooks.witness, Message: t.hooks.onMessage},
	})
	command.Bind(&assistant.Terminal{
		In: t.in, Out: show.Raw(t.out), Version: about.Read().Version, Signals: t.signals,
		Process:  func(ctx context.Context, args ...string) (*exec.Cmd, error) { return t.process(ctx, t.data, args...) },
		Commands: func() []string { return flags.Commands(model()) },
	})
	command.Bind(&bundles.Terminal{Out: t.out, JSON: t.json, Data: t.data, Failed: exitError(exitFailed), With: t.with, Process: t.process})
	command.Bind(&marks.Terminal{Out: t.out, JSON: t.json, With: t.with})
	command.Bind(&decisions.Terminal{Out: t.out, JSON: t.json, With: t.with})
	command.Bind(&questions.Terminal{
		Out: t.out, JSON: t.json, Data: t.data, Trusted: t.hooks.trusts, With: t.withNewest,
		Execute: func(ctx context.Context, l app.Launch, export string) error {
			return carryOut(ctx, t, l, output{Export: export}, databaseFlag{})
		},
		Export: exportRun,
	})
}

// process prepares a command line of throngctl as a process of its own, with a data folder.
func (t *terminal) process(ctx context.Context, data string, args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the path of this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, append(slices.Clone(args), "--data="+data)...)
	cmd.Env = append(os.Environ(), t.hooks.env...)
	return cmd, nil
}

// version returns what --version prints.
func version() string {
	a := about.Read()
	return "throngctl " + a.String() + "\nGo " + a.Go + ", " + a.System
}

// fail prints an error and returns its exit code.
func (t *terminal) fail(err error) int {
	var code exitError
	var mistakes *scenario.Mistakes
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case t.json:
		return t.failure(err, exitOf(err))
	case errors.As(err, &mistakes):
		if err := mistakes.Print(t.err); err != nil {
			return exitFailed
		}
		fmt.Fprintf(t.err, "%d %s; nothing was started\n", mistakes.Count(), show.Plural(mistakes.Count(), "error", "errors"))
		return exitUsage
	default:
		fmt.Fprintf(t.err, "throngctl: %s\n", secrets.Redact(err.Error()))
		return exitOf(err)
	}
}

// codeOf returns the exit code for the error of a command.
func codeOf(err error) int {
	var code exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	}
	return exitOf(err)
}

// exitOf returns exitUsage for a user's mistake, and exitFailed for anything else.
func exitOf(err error) int {
	var mistakes *scenario.Mistakes
	var field *engine.FieldError
	if errors.As(err, &mistakes) || errors.As(err, &field) || errors.Is(err, engine.ErrNotFound) || errors.Is(err, errNoRun) || errors.Is(err, os.ErrNotExist) {
		return exitUsage
	}
	return exitFailed
}
