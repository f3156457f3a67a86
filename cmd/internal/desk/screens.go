package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/desk/team"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/live"
	"github.com/throng-sim/throng/ui/results"
	"github.com/throng-sim/throng/ui/runs"
	"github.com/throng-sim/throng/ui/settings"
)

// liveDesk serves the Live screen.
type liveDesk struct{ *Desk }

var _ live.Desk = liveDesk{}

// Logged implements [live.Desk].
func (d liveDesk) Logged() (errors int, last string, at time.Time) {
	if d.log == nil {
		return 0, "", time.Time{}
	}
	return d.log.newest()
}

// RemoteState describes the state of sending the newest run's results. They wait for their own database if another is configured now.
func (d liveDesk) RemoteState() (text string, healthy bool) {
	if job, target := d.Job(), d.remote.Target(); job != nil && job.Remote != target {
		if target == "" {
			return "kept here; no database is set now", false
		}
		return "kept here for " + job.Remote + "; another database is set now", false
	}
	text, trouble := d.remote.Words()
	return text, !trouble
}

// runsDesk serves the Runs screen.
type runsDesk struct{ *Desk }

var _ runs.Desk = runsDesk{}

// Runs lists the runs, newest first, without those that wait for their first start.
func (d runsDesk) Runs(ctx context.Context) ([]engine.RunRecord, error) {
	all, err := d.store.Runs(ctx)
	return slices.DeleteFunc(all, func(r engine.RunRecord) bool { return r.Queued != "" && r.Cycle == 0 && r.Done == 0 }), err
}

// Checkpoints lists the checkpoints of a run, newest first.
func (d runsDesk) Checkpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error) {
	return d.store.Checkpoints(ctx, run)
}

// Resume resumes a run. Its file keeps the permissions of its launch.
func (d runsDesk) Resume(ctx context.Context, run engine.RunID, how runs.Resumption) (note string, err error) {
	record, err := d.store.Run(ctx, run)
	if err != nil {
		return "", err
	}
	o := app.ResumeOptions{AsItWas: how.AsItWas, Limit: how.Limit}
	if o.Limit <= 0 {
		o.Limit = record.Limit
	}
	if setting, _, _ := record.Bound(); setting != "" && how.Bound != "" {
		o.Settings = map[string]string{setting: how.Bound}
	}
	l, note, err := app.Resumed(ctx, d.store, d.data, &record, o)
	if err != nil {
		return "", changed(err)
	}
	return note, d.continueRun(ctx, l, run, how.Fleet)
}

// ResumeFrom starts a fork at a checkpoint of a run, with its scenario and settings.
func (d runsDesk) ResumeFrom(ctx context.Context, run engine.RunID, checkpoint int, how runs.Resumption) (note string, err error) {
	parent, err := app.FindParent(ctx, d.store, d.data, run, checkpoint)
	if err != nil {
		return "", err
	}
	order := app.Order{Env: os.Getenv, Settings: map[string]string{}}
	if setting, _, _ := parent.Record.Bound(); setting != "" && how.Bound != "" {
		order.Settings[setting] = how.Bound
	}
	l, err := parent.Launch(order)
	if err != nil {
		return "", err
	}
	if how.Limit > 0 {
		l.Settings.Limit = how.Limit
		l.Settings.Ceiling = max(l.Settings.Ceiling, how.Limit)
	}
	l.Name = parent.Record.Name
	return strings.Join(l.Warnings(), "\n"), d.continueRun(ctx, l, parent.Record.ID, how.Fleet)
}

// continueRun starts a launch that continues a run, on workers if use says so. Its secrets must be known and its addresses allowed, and it
// must be decided whether workers execute the sessions if they did before.
func (d runsDesk) continueRun(ctx context.Context, l app.Launch, run engine.RunID, use *fleet.Use) error {
	l.Remote = d.remote
	if err := permitted(l); err != nil {
		return err
	}
	if use == nil {
		had, err := team.Had(ctx, d.store, run)
		if err != nil {
			return err
		}
		if had != (fleet.Plan{}) && l.CheckCrew() == nil {
			return &runs.HadWorkers{Plan: had, Secrets: team.Secrets(l)}
		}
		use = &fleet.Use{}
	}
	return d.team.Start(ctx, l, *use, nil, func(l app.Launch) error { return d.start(ctx, l, nil) })
}

// permitted returns an error if a launch that continues a run lacks secrets, or may not call an address.
func permitted(l app.Launch) error {
	if err := locked(l); err != nil {
		return err
	}
	for _, to := range l.Permits().Unallowed() {
		return fmt.Errorf("the service %s is at %s, which %s may not call: launch the scenario once in Setup, or do this in a terminal with --allow %s",
			to.Service, to.Address(), l.Scenario.Source.Name, to.Address())
	}
	return nil
}

// Sizes returns how many bytes each run uses in the store.
func (d runsDesk) Sizes(ctx context.Context) (map[engine.RunID]int64, error) {
	return d.store.Sizes(ctx)
}

// Rename names a run.
func (d runsDesk) Rename(ctx context.Context, run engine.RunID, name string) error {
	return d.store.Rename(ctx, run, name)
}

// Tag adds and removes tags of a run.
func (d runsDesk) Tag(ctx context.Context, run engine.RunID, add, remove []string) error {
	_, err := d.store.Tag(ctx, run, add, remove)
	return err
}

// Star sets or removes the star of a run.
func (d runsDesk) Star(ctx context.Context, run engine.RunID, star bool) error {
	return d.store.Star(ctx, run, star)
}

// changed converts the error of a changed scenario for the screen.
func changed(err error) error {
	if c, ok := errors.AsType[*app.ChangedError](err); ok {
		return &runs.Changed{What: c.Describe(), Checkpoint: c.Checkpoint, Readable: c.Unreadable == nil}
	}
	return err
}

// Busy returns the run that this process works on.
func (d runsDesk) Busy() engine.RunID {
	if job := d.current(); job != nil {
		return job.Record.ID
	}
	return ""
}

// Send starts sending a run's rows that have not arrived in the remote database.
func (d *Desk) Send(ctx context.Context, run engine.RunID) error { return d.remote.Send(ctx, run) }

// Remote names the database for results.
func (d *Desk) Remote() string { return d.remote.Target() }

// RemoteRuns lists the runs of all machines in that database.
func (d runsDesk) RemoteRuns(ctx context.Context) (all []runs.RemoteRun, err error) {
	db, err := d.saved()
	if err != nil {
		return nil, err
	}
	found, err := remote.Runs(ctx, db)
	for _, r := range found {
		all = append(all, runs.RemoteRun(r))
	}
	return all, err
}

// RemoteCheckpoints lists the checkpoints of a run in that database.
func (d runsDesk) RemoteCheckpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error) {
	db, err := d.saved()
	if err != nil {
		return nil, err
	}
	_, all, err := remote.Checkpoints(ctx, db, run)
	return all, err
}

// Fetch copies a checkpoint from that database.
func (d runsDesk) Fetch(ctx context.Context, run engine.RunID, number int, told func(done, total int)) error {
	db, err := d.saved()
	if err != nil {
		return err
	}
	_, _, err = remote.Fetch{Store: d.store, Data: d.data, Database: db, Run: run, Number: number, Progress: told}.Do(ctx)
	return err
}

// saved returns the database of the settings.
func (d runsDesk) saved() (config.Database, error) {
	return config.FindDatabase(nil, os.Getenv, d.data)
}

// resultsDesk serves the Results screen.
type resultsDesk struct{ *Desk }

var _ results.Desk = resultsDesk{}

// Runs lists the runs whose results are on this machine, newest first.
func (d resultsDesk) Runs(ctx context.Context) ([]engine.RunRecord, error) {
	all, err := d.store.Runs(ctx)
	return slices.DeleteFunc(all, func(r engine.RunRecord) bool { return r.Fetched != nil }), err
}

// Totals returns the figures of a run.
func (d resultsDesk) Totals(ctx context.Context, run engine.RunID) (engine.Totals, error) {
	return d.store.Totals(ctx, run)
}

// Changes returns the changes during a run, and when it was interrupted and resumed.
func (d resultsDesk) Changes(ctx context.Context, run engine.RunID) ([]engine.ChangeRow, error) {
	c, err := history.Outline(ctx, d.store, run)
	if err != nil {
		return nil, err
	}
	return view.WithRestarts(c, time.Time{}), nil
}

// Details returns the outcomes, charts, steps and inputs of a run.
func (d resultsDesk) Details(ctx context.Context, run engine.RunID) (*view.Details, error) {
	return review.Details(ctx, d.store, run)
}

// Audit recalculates a run's figures from its journal.
func (d resultsDesk) Audit(ctx context.Context, run engine.RunID) (summary string, equal bool, err error) {
	report, err := review.Audit(ctx, d.store, run)
	if err != nil {
		return "", false, err
	}
	return report.Summary(), report.Equal(), nil
}

// settingsDesk serves the Settings screen.
type settingsDesk struct{ *Desk }

var _ settings.Desk = settingsDesk{}

// Connection returns the configured database.
func (d settingsDesk) Connection(context.Context) (settings.Connection, error) {
	db, err := config.FindDatabase(nil, os.Getenv, d.data)
	c := settings.Connection{URL: db.URL, From: db.From, HasPassword: db.Password != "", Asks: db.Asks}
	if offer, ok := config.FindDatabaseOffer(os.Getenv, d.data); ok {
		c.Offer = offer.Target
	}
	if ca, problem := config.SavedCA(d.data); problem != nil {
		c.CAProblem = problem.Error()
		if field, ok := errors.AsType[*engine.FieldError](problem); ok {
			c.CAProblem = field.Problem + "; " + field.Hint
		}
	} else if ca != nil {
		c.CA = ca.String()
	}
	if keychain := secrets.KeychainProblem(); keychain != nil {
		c.Keychain = keychain.Error()
	}
	return c, err
}

// AnswerOffer saves the offered database, or stores that the user declined it.
func (d settingsDesk) AnswerOffer(_ context.Context, use bool) error {
	offer, ok := config.FindDatabaseOffer(os.Getenv, d.data)
	switch {
	case !ok:
		return nil
	case !use:
		return offer.Decline(d.data)
	}
	if err := offer.Accept(d.data); err != nil {
		return err
	}
	return d.reconnect()
}

// TestConnection tests the server.
func (d settingsDesk) TestConnection(ctx context.Context, url, password string) ([]settings.Line, error) {
	lines, err := app.CheckDatabase(ctx, d.database(url, password))
	out := make([]settings.Line, len(lines))
	for i, l := range lines {
		out[i] = settings.Line{Name: l.Name, Value: l.Value, State: states[l.Grade]}
	}
	return out, err
}

// states maps the grades of app to states.
var states = map[app.Grade]settings.State{
	app.Plain: settings.Plain, app.Good: settings.Good, app.Doubtful: settings.Warning, app.Bad: settings.Bad,
}

// database returns a database to test; an empty password is the saved one.
func (d settingsDesk) database(url, password string) config.Database {
	db := config.Database{URL: url, Password: password, CA: config.CAFile(d.data)}
	if password == "" {
		db.Password = config.KeptPassword(url)
	}
	return db
}

// SaveConnection saves the database, and sends results to it from now on.
func (d settingsDesk) SaveConnection(_ context.Context, url, password string) error {
	err := config.SaveDatabase(d.data, config.Database{URL: url, Password: password})
	if _, mistake := errors.AsType[*engine.FieldError](err); mistake {
		return err
	}
	if err != nil && url == "" {
		err = fmt.Errorf("the address was removed, but its password may still be stored: %w", err)
	}
	return errors.Join(err, d.reconnect()) // without a keychain the address is still saved
}

// ImportCA imports CA certificates for the server.
func (d settingsDesk) ImportCA(_ context.Context, path string) (string, error) {
	ca, err := config.ImportCA(d.data, path)
	if err != nil {
		return "", err
	}
	return ca.Name, d.reconnect()
}

// RemoveCA removes them.
func (d settingsDesk) RemoveCA(context.Context) error {
	return errors.Join(config.RemoveCA(d.data), d.reconnect())
}

// RemoteState describes the state of sending.
func (d settingsDesk) RemoteState() (text string, state settings.State) {
	text, trouble := d.remote.Words()
	switch {
	case text == "":
		return text, settings.Plain
	case trouble:
		return text, settings.Warning
	}
	return text, settings.Good
}

// Allowed lists the permissions of scenario files.
func (d settingsDesk) Allowed(context.Context) ([]settings.Allowed, error) {
	var all []settings.Allowed
	for _, g := range app.Consents(d.data).All() {
		of := settings.Allowed{File: g.File}
		for _, to := range g.Grants {
			of.Addresses = append(of.Addresses, settings.AllowedAddress{Address: to.Address, Secrets: to.Secrets, At: to.At})
		}
		all = append(all, of)
	}
	return all, nil
}

// Forget removes the permissions of a scenario file.
func (d settingsDesk) Forget(_ context.Context, file string) error {
	return app.Consents(d.data).Forget(file)
}

// DataFolder returns the folder of the store.
func (d settingsDesk) DataFolder() string { return d.data }

// MoveData changes the data folder from the next start.
func (d settingsDesk) MoveData(_ context.Context, dir string) error {
	if os.Getenv(about.DataEnv) != "" {
		return fmt.Errorf("the environment variable %s sets it", about.DataEnv)
	}
	return config.ChooseDataFolder(dir)
}

// Saved returns the current run settings.
func (d settingsDesk) Saved(context.Context) ([]settings.Setting, error) {
	origins, err := config.Sources{Data: d.data}.InForce()
	var all []settings.Setting
	for i := range config.Settings {
		if s := &config.Settings[i]; s.Title != "" && origins != nil {
			o := origins[s.Name]
			all = append(all, settings.Setting{Name: s.Name, Title: s.Title, Group: s.Group, Value: cmp.Or(o.Own, o.Value), Shown: s.Words(o.Value), Why: o.Why(), From: o.From, Help: s.Help})
		}
	}
	return all, err
}

// Save saves a run setting; "" resets it.
func (d settingsDesk) Save(_ context.Context, name, value string) error {
	err := d.saveSetting(name, value)
	if s := config.FindSetting(name); err == nil && s != nil && s.Scope == config.DatabaseScope {
		return d.reconnect()
	}
	if err != nil {
		if field, ok := errors.AsType[*engine.FieldError](err); ok {
			return field
		}
		return fmt.Errorf("save %s: %w", name, err)
	}
	return nil
}

// saveSetting saves a setting. Another address of the endpoint takes effect immediately, and is saved only if it can be
// opened; other settings of telemetry take effect with the next run.
func (d settingsDesk) saveSetting(name, value string) error {
	if name == config.ListenKey && os.Getenv(config.ListenEnv) == "" {
		t, err := config.ListenOn(value)
		if err == nil {
			err = d.outlets.listen(t)
		}
		if err != nil {
			return err
		}
	}
	return config.Save(d.data, map[string]string{name: value})
}
