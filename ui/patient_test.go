package ui

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/outcomes"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/calibrate"
	"github.com/throng-sim/throng/ui/compare"
	"github.com/throng-sim/throng/ui/editor"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/live"
	"github.com/throng-sim/throng/ui/results"
	"github.com/throng-sim/throng/ui/runs"
	"github.com/throng-sim/throng/ui/settings"
	"github.com/throng-sim/throng/ui/setup"
)

// The desks embed the interface for methods that no test calls. Calling one panics.
type patientSetup struct {
	setup.Desk
	*patience
}

func (p patientSetup) Choices(context.Context) ([]setup.Choice, error) {
	p.wait("Choices")
	return []setup.Choice{{Name: "shopping", Title: "Marketplace shoppers", About: "They shop.", BuiltIn: true}}, nil
}

func (patientSetup) Recheck()          {}
func (patientSetup) Fleet() fleet.Host { return nil }

func (p patientSetup) ForkFrom(ctx context.Context, _ setup.Fork, given map[string]string) (*setup.Scenario, error) {
	return p.Scenario(ctx, "shopping", given)
}

func (p patientSetup) Scenario(_ context.Context, name string, _ map[string]string) (*setup.Scenario, error) {
	p.wait("Scenario")
	s := engine.DefaultSettings()
	s.Cycles = 24
	return &setup.Scenario{
		Name: name, Title: "Marketplace shoppers", Agents: 372, Cycle: time.Hour, Settings: s,
		Parameters: []setup.Parameter{{ParameterSpec: view.ParameterSpec{Name: "agents", Title: "Shoppers"}, Min: 1, Max: 1e6, Kind: setup.Whole, Default: "372"}},
		Services:   []setup.Service{{Name: "shop", Kind: "http", URL: "https://shop.example.com"}},
	}, nil
}

func (p patientSetup) Choose(context.Context, setup.Order) (int, error) {
	p.wait("Choose")
	return 372, nil
}

func (p patientSetup) Requirements(context.Context, setup.Order) (o setup.Requirements, _ error) {
	p.wait("Requirements")
	return o, nil
}

func (p patientSetup) Forecast(context.Context, setup.Order) (f engine.Forecast, _ error) {
	p.wait("Forecast")
	return f, nil
}

func (p patientSetup) Preset(context.Context) (string, error) {
	p.wait("Preset")
	return "This machine is a laptop.", nil
}

func (p patientSetup) KeepSecret(context.Context, string, string) error {
	p.wait("KeepSecret")
	return nil
}

func (p patientSetup) Unallowed(context.Context, setup.Order) ([]engine.Destination, error) {
	p.wait("Unallowed")
	return nil, nil
}

func (p patientSetup) Launch(context.Context, setup.Order, func(done, total int)) error {
	p.wait("Launch")
	return nil
}

func (p patientSetup) Remote() string { return "" }

func (p patientSetup) InProgress() string { return "" }

func (p patientSetup) TestService(context.Context, setup.Order, setup.Service) (string, error) {
	p.wait("TestService")
	return "200", nil
}

func (p patientSetup) Favor(context.Context, string, bool) error {
	p.wait("Favor")
	return nil
}

func (p patientSetup) Preflight(context.Context, setup.Order, bool, func([]engine.Check)) ([]engine.Check, error) {
	p.wait("Preflight")
	return nil, nil
}

func (p patientSetup) Allow(context.Context, setup.Order) error {
	p.wait("Allow")
	return nil
}

func (p patientSetup) LowerConnections(context.Context, int) error {
	p.wait("LowerConnections")
	return nil
}

type patientLive struct {
	live.Desk
	*patience
}

func (p patientLive) Job() *live.Job                   { return p.job }
func (p patientLive) Logged() (int, string, time.Time) { return 0, "", time.Time{} }
func (p patientLive) RemoteState() (string, bool)      { return "", true }

func (p patientLive) Export(context.Context, engine.RunID, string) (string, error) {
	p.wait("Export")
	return "", nil
}

func (p patientLive) Past(context.Context, engine.RunID) (*live.Job, error) {
	p.wait("Past")
	return p.job, nil
}

type patientRuns struct {
	runs.Desk
	*patience
}

func (p patientRuns) Runs(context.Context) ([]engine.RunRecord, error) {
	p.wait("Runs")
	return []engine.RunRecord{record("new"), record("old")}, nil
}

func (p patientRuns) Checkpoints(_ context.Context, run engine.RunID) ([]engine.CheckpointRecord, error) {
	p.wait("Checkpoints")
	return []engine.CheckpointRecord{{Run: run, Number: 2, Newest: true, Reason: "pause"}, {Run: run, Number: 1, Reason: "interval"}}, nil
}

func (p patientRuns) Footprint(context.Context, engine.RunID) (d view.Footprint, _ error) {
	p.wait("Footprint")
	return d, nil
}

func (p patientRuns) Old(context.Context, runs.Age) (o runs.Old, _ error) {
	p.wait("Old")
	return o, nil
}

func (p patientRuns) Resume(context.Context, engine.RunID, runs.Resumption) (string, error) {
	p.wait("Resume")
	return "", nil
}

func (p patientRuns) Experiment(engine.RunID) string           { return "" }
func (p patientRuns) Busy() engine.RunID                       { return "" }
func (p patientRuns) Remote() string                           { return "db.example.com/throng" }
func (p patientRuns) Send(context.Context, engine.RunID) error { p.wait("Send"); return nil }

func (p patientRuns) RemoteRuns(context.Context) (_ []runs.RemoteRun, _ error) {
	p.wait("RemoteRuns")
	return nil, nil
}

func (p patientRuns) DeleteCheckpoint(context.Context, engine.RunID, int) error {
	p.wait("DeleteCheckpoint")
	return nil
}

func (p patientRuns) ResumeFrom(context.Context, engine.RunID, int, runs.Resumption) (string, error) {
	p.wait("ResumeFrom")
	return "", nil
}

func (p patientRuns) Sizes(context.Context) (map[engine.RunID]int64, error) {
	p.wait("Sizes")
	return map[engine.RunID]int64{"new": 1000}, nil
}

func (p patientRuns) Rename(context.Context, engine.RunID, string) error {
	p.wait("Rename")
	return nil
}

func (p patientRuns) Tag(context.Context, engine.RunID, []string, []string) error {
	p.wait("Tag")
	return nil
}

func (p patientRuns) Star(context.Context, engine.RunID, bool) error {
	p.wait("Star")
	return nil
}

func (p patientRuns) Note(context.Context, engine.RunID, string) error {
	p.wait("Note")
	return nil
}

func (p patientRuns) Prune(context.Context, runs.Age, bool) (o runs.Old, _ error) {
	p.wait("Prune")
	return o, nil
}

func (p patientRuns) Trashed(context.Context) ([]runs.Trashed, error) {
	p.wait("Trashed")
	return nil, nil
}

func (p patientRuns) Restore(context.Context, runs.Thing) error {
	p.wait("Restore")
	return nil
}

func (p patientRuns) DeleteTrashed(context.Context, runs.Thing) error {
	p.wait("DeleteTrashed")
	return nil
}

func (p patientRuns) EmptyTrash(context.Context, time.Time) (int, error) {
	p.wait("EmptyBin")
	return 0, nil
}

type patientResults struct {
	results.Desk
	*patience
}

func (p patientResults) Runs(context.Context) ([]engine.RunRecord, error) {
	p.wait("Runs of results")
	return []engine.RunRecord{record("new"), record("old")}, nil
}

func (p patientResults) Totals(context.Context, engine.RunID) (t engine.Totals, _ error) {
	p.wait("Totals")
	return t, nil
}

func (p patientResults) Changes(context.Context, engine.RunID) ([]engine.ChangeRow, error) {
	p.wait("Changes")
	return nil, nil
}

func (p patientResults) Failed(context.Context, engine.RunID, *engine.Totals) (string, error) {
	p.wait("Failed")
	return "", nil
}

func (p patientResults) Audit(context.Context, engine.RunID) (string, bool, error) {
	p.wait("Audit")
	return "all equal", true, nil
}

func (p patientResults) LatestErrors(context.Context, engine.RunID, int) ([][]engine.ErrorNote, error) {
	p.wait("LatestErrors")
	return nil, nil
}

func (p patientResults) Unconfirmed(context.Context, engine.RunID, int) (engine.UnconfirmedList, error) {
	p.wait("Unconfirmed")
	return engine.UnconfirmedList{}, nil
}

func (p patientResults) Checks(context.Context, engine.RunID) ([]engine.Check, error) {
	p.wait("Checks")
	return nil, nil
}

func (p patientResults) Send(context.Context, engine.RunID) error {
	p.wait("Send")
	return nil
}

func (p patientResults) ExportAs(context.Context, engine.RunID, string, string) (string, error) {
	p.wait("ExportAs")
	return "/there", nil
}

func (p patientResults) Details(context.Context, engine.RunID) (*view.Details, error) {
	p.wait("Details")
	return &view.Details{Outcomes: &outcomes.Outcomes{}}, nil
}

func (p patientResults) Report(context.Context, engine.RunID, string) (string, error) {
	p.wait("Report")
	return "", nil
}

func (p patientResults) Note(context.Context, engine.RunID, string) error {
	p.wait("Note")
	return nil
}

type patientCompare struct {
	compare.Desk
	*patience
}

func (p patientCompare) Runs(context.Context) ([]engine.RunRecord, error) {
	p.wait("Runs of compare")
	return []engine.RunRecord{record("new"), record("old")}, nil
}

func (p patientCompare) Compare(_ context.Context, all []engine.RunID, _ bool) (*compare.Comparison, error) {
	p.wait("Compare")
	c := &compare.Comparison{To: 2}
	for _, id := range all {
		c.Runs = append(c.Runs, compare.Run{ID: id})
	}
	c.Series = []compare.Series{{Name: "Sessions that acted", Values: make([][]float64, len(all))}}
	return c, nil
}

type patientCalibrate struct {
	calibrate.Desk
	*patience
}

func (p patientCalibrate) Choices(context.Context) ([]calibrate.Choice, error) {
	p.wait("Choices of calibrate")
	return []calibrate.Choice{{Name: "shopping", Title: "Marketplace shoppers"}}, nil
}

func (p patientCalibrate) Start(context.Context, calibrate.Order) error {
	p.wait("Start")
	return nil
}

func (p patientCalibrate) State() *calibrate.State { return nil }
func (p patientCalibrate) Stop()                   {}

func (p patientCalibrate) Earlier(context.Context) ([]calibrate.Found, string, error) {
	p.wait("Earlier")
	return nil, "", nil
}

func (p patientCalibrate) Machine(context.Context) (calibrate.Machine, error) {
	p.wait("Machine")
	return calibrate.Machine{Words: "mac: 8 cores", Cores: 8}, nil
}

type patientSettings struct {
	settings.Desk
	*patience
}

func (p patientSettings) Connection(context.Context) (c settings.Connection, _ error) {
	p.wait("Connection")
	return settings.Connection{URL: "postgres://me@db.example.com/throng", From: "saved", CA: "mine"}, nil
}

func (p patientSettings) TestConnection(context.Context, string, string) ([]settings.Line, error) {
	p.wait("TestConnection")
	return nil, nil
}

func (p patientSettings) SaveConnection(context.Context, string, string) error {
	p.wait("SaveConnection")
	return nil
}

func (p patientSettings) Allowed(context.Context) ([]settings.Allowed, error) {
	p.wait("Allowed")
	return nil, nil
}

func (p patientSettings) Hook(context.Context) (h settings.Hook, _ error) {
	p.wait("Hook")
	return h, nil
}

func (p patientSettings) TestHook(context.Context, string, string) (string, error) {
	p.wait("TestHook")
	return "", nil
}

func (p patientSettings) SaveHook(context.Context, string, string) error {
	p.wait("SaveHook")
	return nil
}

func (p patientSettings) LogLevel() (string, []string) {
	p.wait("LogLevel")
	return "info", []string{"info"}
}

func (p patientSettings) SetLogLevel(context.Context, string) error {
	p.wait("SetLogLevel")
	return nil
}

func (p patientSettings) RemoveCA(context.Context) error             { p.wait("RemoveCA"); return nil }
func (p patientSettings) RemoteState() (string, settings.State)      { return "", settings.Plain }
func (p patientSettings) DataFolder() string                         { p.wait("DataFolder"); return "/data" }
func (p patientSettings) Save(context.Context, string, string) error { p.wait("Save"); return nil }

func (p patientSettings) Saved(context.Context) ([]settings.Setting, error) {
	p.wait("Saved")
	return []settings.Setting{{Name: "keep-awake", Title: "Keep awake", Group: "Machine and services", Value: "on", From: "default", Help: "keep the machine from sleeping"}}, nil
}

// patientEditor is the desk of the editor.
type patientEditor struct{ *patience }

func (p patientEditor) Templates(context.Context) ([]editor.Template, error) {
	p.wait("Templates")
	return []editor.Template{{Name: "templates/one.yaml", Title: "One", About: "The first."}}, nil
}

func (p patientEditor) Open(_ context.Context, name string) (*editor.Document, error) {
	p.wait("Open")
	return &editor.Document{Name: name, Files: []editor.File{{Name: "shopping.yaml", Text: []byte("scenario: shop\n")}}}, nil
}

func (p patientEditor) Check(context.Context, editor.Order) (f editor.Findings, _ error) {
	p.wait("Check")
	return f, nil
}

func (p patientEditor) Save(_ context.Context, _ string, files []editor.File, _ bool) ([]editor.File, error) {
	p.wait("Save")
	return files, nil
}

func (p patientEditor) SaveAs(_ context.Context, o editor.Order, _ string, _ bool) (string, error) {
	p.wait("SaveAs")
	return o.Name, nil
}

func (p patientEditor) Changed(context.Context, string, []editor.File) ([]editor.File, error) {
	p.wait("Changed")
	return nil, nil
}

func (p patientEditor) Keep(context.Context, editor.Order) error {
	p.wait("Save")
	return nil
}

func (p patientEditor) Put(context.Context, editor.Order, editor.Values) (string, []byte, error) {
	p.wait("Put")
	return "", nil, nil
}

func (p patientEditor) Unallowed(context.Context, editor.Trial) ([]engine.Destination, error) {
	p.wait("Unallowed")
	return nil, nil
}

func (p patientEditor) Try(context.Context, editor.Trial) (*engine.Trial, error) {
	p.wait("Try")
	return &engine.Trial{}, nil
}

func (p patientRuns) Waiting(context.Context) ([]runs.Waiting, error) {
	p.wait("Waiting of runs")
	return nil, nil
}
