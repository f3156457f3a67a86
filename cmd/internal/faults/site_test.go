package faults

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest/proxy"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/storage/sqlite"
)

// visitors run about 1,000 sessions per second, each for 20 ms with one or two events, until they are stopped.
const visitors = `
title: Visitors
population:
  count: 100
  attributes: {mood: '${pick(["good", "bad", "böse"])}'}
chain visit:
  step look: {kind: wait, for: "${uniform(0.01, 0.03)}"}
  step came: {kind: emit, event: came, data: {mood: "${agent.mood}", luck: "${uniform(0, 1)}", with: [1, 2, "${agent.index}"]}}
  step left: {kind: emit, event: left, when: agent.index % 2 == 0, data: {hour: "${now.hour}"}}
`

// Options configure a site. Server is required.
type Options struct {
	Server   *pgtest.Server
	Scenario string // source of the scenario; "" is one without services that runs until it is stopped
	Database string // options of CREATE DATABASE
	Query    string // query of the database's address, such as sslmode=require
	Limit    int    // concurrency limit; 0 is 20
	// Before is called with the empty database before the run starts.
	Before func(s *Site)
	// Secrets are the secrets of the scenario by name, in addition to DB, the address of the site's database.
	Secrets map[string]string
}

// Site is a run whose results are sent to a database over a line that can fail, with all files of the run.
type Site struct {
	Server *pgtest.Server
	Line   *proxy.Line
	Name   string // of the database
	User   string // owner of the database; the password is pgtest.Password
	Data   string // folder of the store, the log, the messages to users and, at the end, the export

	Store  *sqlite.Store
	Remote *remote.Sender
	Job    *app.Job

	t        testing.TB
	query    string
	log      *os.File
	words    *os.File
	last     string
	finished bool
}

// Open starts a run, which ends with the test at the latest.
func Open(t testing.TB, o Options) *Site {
	t.Helper()
	s := &Site{t: t, Server: o.Server, Line: proxy.NewLine(t, o.Server.Address()), User: o.Server.Role(t), Data: t.TempDir(), query: o.Query}
	u, err := url.Parse(o.Server.Database(t, "OWNER "+s.User, o.Database))
	s.must(err)
	s.Name = strings.TrimPrefix(u.Path, "/")
	s.log, err = os.Create(filepath.Join(s.Data, "throng.log"))
	s.must(err)
	s.words, err = os.Create(filepath.Join(s.Data, "words.txt"))
	s.must(err)
	logger := slog.New(slog.NewTextHandler(s.log, nil))
	s.Store, err = sqlite.Open(s.Data, sqlite.Options{Logger: logger})
	s.must(err)
	t.Cleanup(s.close)
	s.Remote = remote.New(s.Store, logger)
	s.Use(pgtest.Password)

	text := o.Scenario
	if text == "" {
		text = visitors
	}
	read, err := scenario.Read("visitors.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	s.must(err)
	if o.Before != nil {
		o.Before(s)
	}
	settings := engine.DefaultSettings()
	settings.Retry.Wait = 100 * time.Millisecond
	settings.Cycles, settings.Remote, settings.Limit = 1_000_000, true, cmp.Or(o.Limit, 20)
	if read.Cycles > 0 {
		settings.Cycles = read.Cycles
	}
	l := app.Launch{Services: app.Services{Data: s.Data, Scenario: read, Settings: settings, Remote: s.Remote}, Store: s.Store, Trusted: true, Allow: []string{s.Remote.Target()}}
	l.Secrets.Env = func(name string) string {
		if name == "DB" {
			return s.address(url.UserPassword(s.User, pgtest.Password))
		}
		return o.Secrets[name]
	}
	s.Job, err = l.Start(t.Context())
	s.must(err)
	return s
}

func (s *Site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *Site) close() {
	if s.Job != nil {
		_ = s.Job.Run.Stop("test", "at its end")
		if err := s.Job.Close(); err != nil {
			s.t.Error(err)
		}
	}
	for _, end := range []func() error{s.Remote.Close, s.Store.Close, s.log.Close, s.words.Close} {
		if err := end(); err != nil {
			s.t.Error(err)
		}
	}
}

// Use changes the password that results are sent with, as a user would.
func (s *Site) Use(password string) {
	s.t.Helper()
	s.must(s.Remote.Use(config.Database{URL: s.address(url.User(s.User)), Password: password}))
}

// address returns the address of the site's database over the line.
func (s *Site) address(who *url.Userinfo) string {
	u := url.URL{Scheme: "postgres", User: who, Host: s.Line.Addr().String(), Path: s.Name, RawQuery: s.query}
	return u.String()
}

// Exec runs statements in the site's database as the superuser, on a direct connection.
func (s *Site) Exec(statements ...string) {
	s.t.Helper()
	s.Server.Exec(s.t, s.Name, statements...)
}

// Disconnect closes the connections of the site's user.
func (s *Site) Disconnect() {
	s.t.Helper()
	s.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '" + s.User + "'")
}

func (s *Site) status() postgres.Status {
	st, _ := s.Remote.Status()
	return st
}

// Words returns the status that users see, and whether it is shown as a problem. It is also logged.
func (s *Site) Words() (text string, trouble bool) {
	text, trouble = s.Remote.Words()
	if text != s.last {
		s.last = text
		if _, err := s.words.WriteString(text + "\n"); err != nil {
			s.t.Error(err)
		}
	}
	return text, trouble
}

// told reports whether users see a problem with this message, since when, and where.
func (s *Site) told(says string) bool {
	text, trouble := s.Words()
	return trouble && strings.Contains(text, says) && strings.HasPrefix(text, s.Remote.Target())
}

// patience is how long short operations may take on a busy machine: a circuit breaker that opened because of the load tries
// again once a minute.
const patience = 5 * time.Minute

// Until waits for a condition.
func (s *Site) Until(what string, ok func() bool) {
	s.t.Helper()
	s.within(patience, what, ok)
}

func (s *Site) within(most time.Duration, what string, ok func() bool) {
	s.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(most)
	defer late.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late.C:
			text, _ := s.Words()
			s.t.Fatalf("timed out: %s; the message is %q", what, text)
		}
	}
}

// wait lets the run continue for a while.
func (s *Site) wait(d time.Duration) {
	s.t.Helper()
	if d > 0 {
		until := time.Now().Add(d)
		s.within(d+time.Minute, "the time", func() bool { s.Words(); return time.Now().After(until) })
	}
}

// speed waits for a number of sessions and a moment, and returns the sessions per second.
func (s *Site) speed(sessions int64) float64 {
	s.t.Helper()
	began, from := time.Now(), s.done()
	s.Until("the run continues", func() bool { s.Words(); return s.done() >= from+sessions && time.Since(began) > time.Second/4 })
	return float64(s.done()-from) / time.Since(began).Seconds()
}

func (s *Site) done() int64 { return s.Job.Run.Snapshot().Ended }

// Checkpoint takes a checkpoint.
func (s *Site) Checkpoint() {
	s.t.Helper()
	s.must(s.Job.Run.Checkpoint(s.t.Context(), "by hand"))
}

// Finish stops the run, waits until its rows are confirmed, and exports it to the folder.
func (s *Site) Finish() {
	s.t.Helper()
	if s.finished {
		return
	}
	s.finished = true
	s.must(s.Job.Run.Stop("test", "it is enough"))
	<-s.Job.Run.Done()
	s.must(s.Job.Close())
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	s.must(s.Remote.Drain(ctx, s.Job.Record.ID))
	names, err := review.Names(ctx, s.Store, s.Job.Record.ID)
	s.must(err)
	s.must(storage.ExportAll(ctx, filepath.Join(s.Data, "export"), s.Store, s.Job.Record.ID, names, "test"))
	s.Words()
}

// Leaks returns the files of the run, including its log and messages, that contain one of the secrets, also if it is
// escaped.
func (s *Site) Leaks(secrets ...string) (files []string) {
	s.t.Helper()
	for _, secret := range slices.Clone(secrets) {
		secrets = append(secrets, url.QueryEscape(secret), url.PathEscape(secret), url.UserPassword("", secret).String()[1:])
	}
	s.must(filepath.WalkDir(s.Data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(secrets, func(secret string) bool { return bytes.Contains(content, []byte(secret)) }) {
			files = append(files, path)
		}
		return nil
	}))
	return files
}
