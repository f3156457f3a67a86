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
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/crashes"
	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/prove"
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
	exitFailed      = 1 // the run failed, ran out of budget, or missed a criterion
	exitUsage       = 2 // wrong use, or a bad file
	exitInterrupted = 130
)

// cli is the whole command line.
type cli struct {
	Common common `embed:""`

	Run         runCmd         `cmd:"" help:"Run a scenario to its end." group:"Runs"`
	Resume      resumeCmd      `cmd:"" help:"Go on with a run that was stopped or interrupted." group:"Runs"`
	Fork        forkCmd        `cmd:"" help:"Start a new run where a checkpoint of another stands, with anything changed." group:"Runs"`
	Cleanup     cleanupCmd     `cmd:"" help:"Remove at services what the agents of a run made there, as its scenario says." group:"Runs"`
	Runs        runsCmd        `cmd:"" help:"List the runs in the store, newest first." group:"Runs"`
	Checkpoints checkpointsCmd `cmd:"" help:"List the checkpoints of a run." group:"Runs"`
	Timeline    timelineCmd    `cmd:"" help:"Show what an agent did, step by step, and where each answer came from." group:"Runs"`
	Agents      agentsCmd      `cmd:"" help:"Count how the agents ended a cycle, and list who ended it how." group:"Runs"`
	Fetch       fetchCmd       `cmd:"" help:"Bring a checkpoint from a Postgres database that another machine sent it to." group:"Runs"`
	Export      exportCmd      `cmd:"" help:"Write what a run gave, as CSV, JSON or Parquet." group:"Runs"`
	Report      reportCmd      `cmd:"" help:"Write what is to be told of a run as one HTML page, with charts." group:"Runs"`
	Push        pushCmd        `cmd:"" help:"Send what a run gave to a Postgres database, or check that database." group:"Runs"`
	Compare     compareCmd     `cmd:"" help:"Tell what runs differ in, and whether by chance." group:"Runs"`
	Delete      deleteCmd      `cmd:"" help:"Put a run or some of its checkpoints into the trash, or delete its rows in Postgres, after showing what will go." group:"Runs"`
	Prune       pruneCmd       `cmd:"" help:"Put old runs and checkpoints into the trash, after showing what will go." group:"Runs"`
	Restore     restoreCmd     `cmd:"" help:"Take a run that was deleted, or a checkpoint, out of the trash." group:"Runs"`
	Trash       trashCmd       `cmd:"" help:"Show what was deleted and can be restored, or delete it for good." group:"Runs"`
	Note        noteCmd        `cmd:"" help:"Keep your own words with a run, or show them." group:"Runs"`
	Audit       auditCmd       `cmd:"" help:"Recompute the figures of a run from its journal and compare." group:"Runs"`

	Status     statusCmd     `cmd:"" help:"Show how a run is doing." group:"The run in progress"`
	Set        setCmd        `cmd:"" help:"Change the run in progress, or list what can be changed." group:"The run in progress"`
	Pause      pauseCmd      `cmd:"" help:"Let the sessions in flight end and start no other." group:"The run in progress"`
	Continue   continueCmd   `cmd:"" help:"Go on with a run that is paused." group:"The run in progress"`
	Stop       stopCmd       `cmd:"" help:"End the run in progress; it can be resumed." group:"The run in progress"`
	Checkpoint checkpointCmd `cmd:"" help:"Take a checkpoint now." group:"The run in progress"`
	Retire     retireCmd     `cmd:"" help:"Let agents take part no more, from the next cycle on." group:"The run in progress"`
	Requeue    requeueCmd    `cmd:"" help:"Have sessions of the open cycle that ended badly run once more." group:"The run in progress"`
	Tell       tellCmd       `cmd:"" help:"Put a message into the agents' inboxes." group:"The run in progress"`

	Scenarios  scenariosCmd  `cmd:"" help:"List the scenarios that come along, show one, or write a copy to begin with." group:"Scenarios, settings and mocks"`
	Validate   validateCmd   `cmd:"" help:"Check a scenario and show what it would do." group:"Scenarios, settings and mocks"`
	Check      checkCmd      `cmd:"" help:"Look whether the services, the database and this machine are ready for a run." group:"Scenarios, settings and mocks"`
	Try        tryCmd        `cmd:"" help:"Run one session of one agent and show what each of its steps is given and gives; nothing is kept." group:"Scenarios, settings and mocks"`
	Prove      proveCmd      `cmd:"" help:"Show that a scenario gives the same when its process is killed, again and again." group:"Scenarios, settings and mocks"`
	Calibrate  calibrateCmd  `cmd:"" help:"Find how many sessions at once this machine and the services bear." group:"Scenarios, settings and mocks"`
	Settings   settingsCmd   `cmd:"" help:"Show the run settings in force and where they come from, or save some." group:"Scenarios, settings and mocks"`
	Secret     secretCmd     `cmd:"" help:"Keep, forget or look for a secret that scenarios name." group:"Scenarios, settings and mocks"`
	Allowed    allowedCmd    `cmd:"" help:"List which addresses each scenario file may call, or take that back." group:"Scenarios, settings and mocks"`
	Mock       mockCmd       `cmd:"" help:"Start the mock shop, its model server or both alone." group:"Scenarios, settings and mocks"`
	Metrics    metricsCmd    `cmd:"" help:"List the metrics that Prometheus and OpenTelemetry are told, or print a dashboard of them for Grafana." group:"Scenarios, settings and mocks"`
	Completion completionCmd `cmd:"" help:"Print the script by which a shell completes command lines of throngctl." group:"Scenarios, settings and mocks"`
	Man        manCmd        `cmd:"" help:"Print the manual page, for man." group:"Scenarios, settings and mocks"`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:"" help:"What a command line may go on with: for the scripts of completion."`
	Licences   licencesCmd   `cmd:"" help:"Show under what terms Throng and all that it is made of are used." group:"Scenarios, settings and mocks"`
	Guide      guideCmd      `cmd:"" help:"List the pages of the guide, print one, or search them." group:"Scenarios, settings and mocks"`
}

// common are the flags of all commands.
type common struct {
	Data    string           `help:"Folder of the store." placeholder:"DIR" env:"${env_data}"`
	LogFile string           `help:"Write the log there, as lines of JSON; a run's is in logs of the data folder without." placeholder:"FILE"`
	Debug   bool             `help:"Log more, whatever throngctl settings log-level says: to the file and, where there is no dashboard, to standard error."`
	Version kong.VersionFlag `help:"Show the version and the system it was built for."`
}

// terminal is what commands talk to.
type terminal struct {
	in       io.Reader
	out, err io.Writer        // from execute on, text of others is safe to show there; see raw
	signals  <-chan os.Signal // ask the run to stop
	byHand   <-chan os.Signal // ask for a checkpoint
	lines    *bufio.Reader    // of in; nil until something is asked
	exit     func(code int)   // ends the program at once; nil, in tests, does not
	data     string
	screens  *screens
	log      *slog.Logger // a file, or nothing
	json     bool         // answers and errors are for programs
	debug    bool         // more is logged
	trouble  chan error   // what goes wrong beside a run; see hear
	hooks    hooks
}

// updatingEvery is how often it is said how far the backup of an older store is.
const updatingEvery = 5 * time.Second

// hooks let throngctl prove and tests kill the program at a chosen moment, and make another machine of this one.
type hooks struct {
	onCommit  func(n int64)
	onRequest func(mock.Request)
	witness   service.Witness
	host      func() engine.HostMetrics
	env       []string // of the processes that throngctl prove starts, beside its own
	cores     int      // of the machine in forecasts; 0 is as it is
	trusts    bool     // every scenario is taken for the person's own, so that it may call this machine
}

// hooksOf are the hooks of a process that throngctl prove started.
func hooksOf(c *prove.Counter) hooks {
	if c == nil {
		return hooks{}
	}
	return hooks{
		onCommit:  func(int64) { c.Reached(prove.Commit) },
		onRequest: func(mock.Request) { c.Reached(prove.Request) },
		witness: service.Witness{
			Leaving: func(http.Header) { c.Reached(prove.Sending) },
			Arrived: func() { c.Reached(prove.Answer) },
		},
	}
}

func (t *terminal) storeOptions() sqlite.Options {
	var told time.Time
	updating := func(u sqlite.Update) {
		if now := time.Now(); u.Done == 0 || u.Done == u.Bytes || now.Sub(told) > updatingEvery {
			told = now
			fmt.Fprintln(t.err, u)
		}
	}
	return sqlite.Options{Updating: updating, OnCommit: t.hooks.onCommit, OnGone: retention.Gone(t.data, t.log), Logger: t.log}
}

// openApp opens the store for a run, and prints its notices.
func (t *terminal) openApp() (a *app.App, err error) {
	a, err = app.Open(app.Options{
		Data: t.data, Program: crashes.TerminalName, Store: t.storeOptions(), Logger: t.log, Log: t.log,
		Crashed: func(run engine.RunID, value any, stack []byte) { t.crashed(a.Box(), run, value, stack) },
		Host:    t.hooks.host, OnRequest: t.hooks.onRequest, Witness: t.hooks.witness,
	})
	if err == nil {
		t.notices(a.Store())
	}
	return a, err
}

// open opens the store and prints its notices.
func (t *terminal) open() (*sqlite.Store, error) {
	// What the store would log reaches the terminal in other ways: its notice, and the reason of a pause.
	store, err := sqlite.Open(t.data, t.storeOptions())
	if err == nil {
		t.notices(store)
	}
	return store, err
}

// notices prints what a person should know of the store and of earlier processes.
func (t *terminal) notices(store *sqlite.Store) {
	if n := store.Notice(); n != "" {
		fmt.Fprintln(t.err, n)
	}
	if n, err := crashes.Crashes(context.Background(), store, t.data); err != nil {
		fmt.Fprintln(t.err, err)
	} else if n != "" {
		fmt.Fprintln(t.err, n)
	}
}

// raw is the writer that gets what is written as it is: for control of the terminal, and for what is no text.
func raw(w io.Writer) io.Writer {
	if safe, ok := w.(*visible.Writer); ok {
		return safe.Unwrap()
	}
	return w
}

// exitError ends the program with a code and nothing to say.
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

// grammar is what a command line may be, and where the flags of all commands are put. Where the first word names a command,
// it is that of this command alone: reading the flags of all of them takes longer than most commands do.
func grammar(args []string) (all any, flags *common) {
	whole := &cli{}
	if len(args) == 0 {
		return whole, &whole.Common
	}
	of := reflect.TypeFor[cli]()
	for field := range of.Fields() {
		if _, command := field.Tag.Lookup("cmd"); command && cmp.Or(field.Tag.Get("name"), kebab(field.Name)) == args[0] {
			flags, _ := of.FieldByName("Common")
			one := reflect.New(reflect.StructOf([]reflect.StructField{flags, field}))
			return one.Interface(), one.Elem().Field(0).Addr().Interface().(*common)
		}
	}
	return whole, &whole.Common
}

const description = "Runs crowds of simulated agents. On a fresh machine, try: throngctl run shopping"

// model is what the whole command line may be.
var model = sync.OnceValue(func() *kong.Application {
	parser, err := newParser(&cli{}, kong.Description(description))
	if err != nil { // the command line above is wrong
		panic(err)
	}
	return parser.Model
})

// execute carries out a command line and returns its exit code.
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
	all, flags := grammar(args)
	code := -1
	parser, err := newParser(all,
		kong.Description(description),
		kong.Writers(t.out, t.err),
		kong.Exit(func(n int) { code = n }),
		kong.UsageOnError(),
		kong.Vars{"version": version()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil { // the command line above is wrong
		panic(err)
	}
	command, err := parser.Parse(args)
	switch {
	case code >= 0: // --help
		return code
	case err != nil && slices.Contains(args, "--json"):
		return t.failure(err, exitUsage)
	case err != nil:
		fmt.Fprintf(t.err, "throngctl: %v\nTry: throngctl --help\n", err)
		return exitUsage
	}
	t.data, t.json, t.debug, t.screens, t.trouble = flags.Data, wantsJSON(command), flags.Debug, &screens{}, make(chan error, 8)
	if err := unsaid(command); err != nil {
		return t.fail(err)
	}
	if t.data == "" {
		if t.data, err = config.DataFolder(); err != nil {
			return t.fail(err)
		}
	}
	closeLog, err := t.openLog(flags, command.Command())
	if err != nil {
		return t.fail(err)
	}
	defer closeLog()
	command.BindTo(context.Background(), (*context.Context)(nil))
	return t.fail(command.Run(t))
}

// version is what --version shows.
func version() string {
	a := about.Read()
	return "throngctl " + a.String() + "\nGo " + a.Go + ", " + a.System
}

// fail tells a person what went wrong and finds the exit code that it means.
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
		fmt.Fprintf(t.err, "%d %s; nothing was started\n", mistakes.Count(), plural(mistakes.Count(), "mistake", "mistakes"))
		return exitUsage
	default:
		fmt.Fprintf(t.err, "throngctl: %s\n", secrets.Redact(err.Error()))
		return exitOf(err)
	}
}

// codeOf is the exit code of what a command returned.
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

// exitOf tells a person's mistake from what failed.
func exitOf(err error) int {
	var mistakes *scenario.Mistakes
	var field *engine.FieldError
	if errors.As(err, &mistakes) || errors.As(err, &field) || errors.Is(err, engine.ErrNotFound) || errors.Is(err, errNoRun) || errors.Is(err, os.ErrNotExist) {
		return exitUsage
	}
	return exitFailed
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
