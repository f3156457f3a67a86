package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// named returns a check by name; the test fails if there is none.
func named(t *testing.T, all []engine.Check, name string) engine.Check {
	t.Helper()
	i := slices.IndexFunc(all, func(c engine.Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no check %q among %+v", name, all)
	}
	return all[i]
}

// expect compares a check with its expected result.
func expect(t *testing.T, c engine.Check, grade engine.Grade, mend, says string) {
	t.Helper()
	if c.Grade != grade || c.Fix != mend || !strings.Contains(c.Text, says) {
		t.Errorf("got %s, %s: %s [%s]; want %s with %q [%s]", c.Name, c.Grade, c.Text, c.Fix, grade, says, mend)
	}
}

// TestChecksOfTheMock checks that there are no problems, that the list is reported first, and that no files are left.
func TestChecksOfTheMock(t *testing.T) {
	keyring.MockInit()
	s, err := authoring.Load("shopping", nil)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	host := func() engine.HostMetrics {
		return engine.HostMetrics{MemoryTotal: 16e9, Available: 12e9, DiskFree: 50e9}
	}
	var told [][]engine.Check
	var list app.Preflight
	all := list.Run(t.Context(), app.Launch{Services: app.Services{Scenario: s, Settings: engine.DefaultSettings(), Data: data}, Host: host}, config.Database{}, false,
		func(now []engine.Check) { told = append(told, now) })
	if worst := engine.WorstGrade(all); worst > engine.GradeWarning { // this machine may be on battery
		t.Errorf("found %+v", all)
	}
	expect(t, named(t, all, "Service shop"), engine.GradeOK, "", "starts with the run")
	expect(t, named(t, all, "X-Simulation-Mode"), engine.GradeOK, "", "the mock lifts its rate limits")
	expect(t, named(t, all, "Database"), engine.GradeOK, "", "stored on this machine")
	expect(t, named(t, all, "Disk"), engine.GradeOK, "", "50 GB free")
	if len(told) != len(all)+1 || slices.ContainsFunc(told[0], func(c engine.Check) bool { return c.Grade != engine.GradeAwaited || c.Name == "" }) {
		t.Errorf("got %d lists for %d checks, the first %+v", len(told), len(all), told[0])
	}
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("left files %v, %v", left, err)
	}
}

// TestTheModeIsCheckedForHTTPOnly checks that scenarios without HTTP services have no check of the header X-Simulation-Mode.
func TestTheModeIsCheckedForHTTPOnly(t *testing.T) {
	keyring.MockInit()
	s, err := authoring.Load("world", nil)
	if err != nil {
		t.Fatal(err)
	}
	l := app.Launch{Services: app.Services{Scenario: s, Settings: engine.DefaultSettings(), Data: t.TempDir()}}
	all := new(app.Preflight).Run(t.Context(), l, config.Database{}, false, nil)
	for _, c := range all {
		if c.Name == "X-Simulation-Mode" {
			t.Errorf("got %+v", c)
		}
		if strings.Contains(c.Text, "about up to") {
			t.Errorf("%s: %s", c.Name, c.Text)
		}
	}
}

// staging returns a scenario with a service at an address and its auth.
func staging(t *testing.T, address, auth string) *scenario.Scenario {
	t.Helper()
	text := fmt.Sprintf("population: {count: 2}\nservices: {shop: {kind: http, url: %q%s}}\nchain c: {step a: {kind: http, service: shop, get: /}}\n", address, auth)
	s, err := scenario.Read("x.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestChecksOfServices checks that only allowed services are called, and each one once until something changes.
func TestChecksOfServices(t *testing.T) {
	keyring.MockInit()
	const token = ", auth: {bearer: \"secret:SHOP_TOKEN\"}"
	var asked atomic.Int64
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch {
		case r.URL.Path == "/down":
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/closed" && r.Header.Get("Authorization") != "Bearer good":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/kept", r.URL.Path == "/lifted" && r.Header.Get("X-Simulation-Mode") == "":
			w.Header().Set("X-RateLimit-Limit", "60")
		}
	}))
	defer shop.Close()
	data := t.TempDir()
	check := func(path, auth, secret string, change func(*app.Launch)) []engine.Check {
		address := shop.URL + path
		if strings.HasPrefix(path, "http") {
			address = path
		}
		l := app.Launch{Services: app.Services{Scenario: staging(t, address, auth), Settings: engine.DefaultSettings(), Data: data}, Trusted: true}
		l.Secrets.Env = func(string) string { return secret }
		if change != nil {
			change(&l)
		}
		var list app.Preflight
		return list.Run(t.Context(), l, config.Database{}, false, nil)
	}
	service := func(all []engine.Check) engine.Check { return named(t, all, "Service shop") }
	expect(t, service(check("", "", "", nil)), engine.GradeOK, "", "answered 200 OK")
	expect(t, service(check("/down", "", "", nil)), engine.GradeWarning, "again", "503")
	expect(t, service(check("/closed", token, "good", nil)), engine.GradeOK, "", "200")
	refused := service(check("/closed", token, "stale", nil))
	expect(t, refused, engine.GradeProblem, "again", "rejects the token SHOP_TOKEN (401)")
	if strings.Contains(refused.Text, "stale") {
		t.Error("the result contains the token")
	}
	expect(t, service(check("/closed", "", "", nil)), engine.GradeWarning, "again", "answered 401 Unauthorized")
	expect(t, service(check("", token, "", nil)), engine.GradeProblem, "secret SHOP_TOKEN", "SHOP_TOKEN")
	expect(t, service(check("http://127.0.0.1:1", "", "", nil)), engine.GradeProblem, "again", "does not answer")

	mode := func(path string, change func(*app.Launch)) engine.Check {
		return named(t, check(path, "", "", change), "X-Simulation-Mode")
	}
	expect(t, mode("/lifted", nil), engine.GradeOK, "", "rate limit lifted by shop")
	expect(t, mode("/kept", nil), engine.GradeWarning, "", "unchanged at shop (60)")
	expect(t, mode("", nil), engine.GradeUnknown, "", "announces no rate limit")
	expect(t, mode("", func(l *app.Launch) { l.Settings.Simulation = false }), engine.GradeWarning, "settings", "not sent")

	before := asked.Load()
	expect(t, service(check("http://shop.example.com", "", "", nil)), engine.GradeWarning, "allow shop.example.com", "have not allowed it yet")
	if asked.Load() != before {
		t.Error("a service that is not allowed was called")
	}
	var list app.Preflight
	again := func() int64 {
		before := asked.Load()
		list.Run(t.Context(), app.Launch{Services: app.Services{Scenario: staging(t, shop.URL, ""), Settings: engine.DefaultSettings(), Data: data}, Trusted: true}, config.Database{}, false, nil)
		return asked.Load() - before
	}
	if first, second := again(), again(); first == 0 || second != 0 {
		t.Errorf("got %d requests, then %d", first, second)
	}
	list.Forget()
	if again() == 0 {
		t.Error("no request after Forget")
	}
}

// TestChecksOfTheDatabase uses a server for ten clients, three of them superusers.
func TestChecksOfTheDatabase(t *testing.T) {
	keyring.MockInit()
	server := pgtest.New(t, pgtest.Options{MaxConnections: 10})
	db := config.Database{URL: server.Database(t)}
	l := app.Launch{Services: app.Services{Settings: engine.DefaultSettings(), Data: t.TempDir()}}
	check := func() []engine.Check {
		var list app.Preflight
		return list.Run(t.Context(), l, db, false, nil)
	}
	expect(t, named(t, check(), "Database"), engine.GradeOK, "", "stay on this machine")
	l.Settings.Remote = true
	all := check()
	expect(t, named(t, all, "Database"), engine.GradeOK, "", "PostgreSQL")
	expect(t, named(t, all, "Server connections"), engine.GradeWarning, "connections 4", "of 7 in use")
	expect(t, named(t, all, "Idle in a transaction"), engine.GradeOK, "", "none")
	expect(t, named(t, all, "Database size"), engine.GradeOK, "", "SQL cannot report the free disk space")
	expect(t, named(t, all, "Pool"), engine.GradeOK, "", "opened 4 connections")
	db.Limits.Connections = 2
	expect(t, named(t, check(), "Server connections"), engine.GradeOK, "", "uses up to 2")

	idle := pgtest.Connect(t, db.URL)
	if _, err := idle.Exec(t.Context(), "begin"); err != nil {
		t.Fatal(err)
	}
	expect(t, named(t, check(), "Idle in a transaction"), engine.GradeWarning, "again", "1 client")
	if err := idle.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Stop(t)
	all = check()
	expect(t, named(t, all, "Database"), engine.GradeWarning, "settings", "")
	expect(t, named(t, all, "Pool"), engine.GradeUnknown, "", "does not answer")
}

// unlucky is a scenario in which every fourth agent fails.
const unlucky = `title: Unlucky
population: {count: 12, id: 'who-${agent.index}'}
clock: {cycle: 1h, cycles: 2}
success: {error_rate: "< 10%", agents_completed: "> 10%"}
chain c:
  step a: {kind: emit, event: met, data: "${1 / (agent.index % 4)}"}
`

// TestChecksAfterARun checks the results, failures and leftovers that are reported.
func TestChecksAfterARun(t *testing.T) {
	d := newTown(t)
	_, _, job := d.run(d.read(unlucky, nil), func(l *app.Launch) { l.Settings.Metrics = true })
	record, err := d.store.Run(t.Context(), job.Record.ID)
	if err != nil {
		t.Fatal(err)
	}
	all := app.CheckAfterRun(t.Context(), d.store, &record)
	expect(t, named(t, all, "Success criteria"), engine.GradeProblem, "", "1 of 2 met\nerror_rate")
	expect(t, named(t, all, "Completed sessions"), engine.GradeOK, "", "24 of 24 sessions ended")
	failures := named(t, all, "Errors")
	expect(t, failures, engine.GradeProblem, "", "6 sessions failed or timed out\nscript × 6, last: agent who-")
	if got := strings.Count(failures.Text, "    cycle 1, agent who-"); got != 3 {
		t.Errorf("%d of the latest errors are listed:\n%s", got, failures.Text)
	}
	expect(t, named(t, all, "Failed agents"), engine.GradeWarning, "export", "3: who-0, who-4, who-8")
	expect(t, named(t, all, "Unsent rows"), engine.GradeOK, "", "on this machine only")
	expect(t, named(t, all, "Open transactions"), engine.GradeOK, "", "not sent to a database")
	if c := named(t, all, "Unneeded checkpoints"); c.Grade != engine.GradeOK {
		t.Errorf("checkpoints: %+v", c)
	}
	met := record
	met.Verdict = slices.Clone(record.Verdict)
	for i := range met.Verdict {
		met.Verdict[i].Passed = true
	}
	if all := app.CheckAfterRun(t.Context(), d.store, &met); engine.WorstGrade(all) != engine.GradeWarning {
		t.Errorf("a run that met its criteria has problems: %+v", all)
	}
	keyring.MockInit()
	db := config.Database{URL: pgtest.Shared(t).Database(t)}
	if err := config.SaveDatabase(d.data, db); err != nil {
		t.Fatal(err)
	}
	if err := d.store.Subscribe(t.Context(), record.ID, db.Target()); err != nil {
		t.Fatal(err)
	}
	record.Settings.Remote = true
	idle := pgtest.Connect(t, db.URL)
	if _, err := idle.Exec(t.Context(), "begin"); err != nil {
		t.Fatal(err)
	}
	all = app.CheckAfterRun(t.Context(), d.store, &record)
	expect(t, named(t, all, "Unsent rows"), engine.GradeWarning, "send", "rows wait for "+db.Target())
	expect(t, named(t, all, "Open transactions"), engine.GradeWarning, "", "idle in a transaction on "+db.Target())

	record.ID, record.Settings.Remote = "missing", false
	for _, c := range app.CheckAfterRun(t.Context(), d.store, &record) {
		if c.Grade > engine.GradeOK && c.Name != "Success criteria" {
			t.Errorf("a missing run: got %+v", c)
		}
	}
}
