package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"
	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// canaries is a scenario that sends all kinds of secrets to a server that repeats them in every way, to a database, and to
// a port without a server. Its parameter is not a secret.
const canaries = `
parameters:
  word: {default: nothing}
  CANARY_PARAMETER: {secret: true, title: the key of a partner}
population: {count: 3}
clock: {cycles: 2}
services:
  bearer: {kind: http, url: %[1]s, auth: {bearer: secret:CANARY_BEARER}, limits: {timeout: 150ms}}
  jwt: {kind: http, url: %[1]s, auth: {jwt: {secret: secret:CANARY_JWT, claims: {sub: "${agent.id}"}}}, limits: {timeout: 150ms}}
  login:
    kind: http
    url: %[1]s
    auth: {login: {post: /login, json: {user: "${agent.id}", password: "secret:CANARY_PASSWORD"}, token: body.token}}
    limits: {timeout: 150ms}
  turned:
    kind: http
    url: %[1]s
    auth: {login: {post: /login/refused, json: {password: "secret:CANARY_PASSWORD"}, token: body.token}}
  lost:
    kind: http
    url: %[1]s
    auth: {login: {post: /login/garbled, form: {password: "secret:CANARY_PASSWORD"}, token: body.token}}
  basic: {kind: http, url: %[1]s, auth: {basic: {user: "${agent.id}", password: secret:CANARY_BASIC}}, limits: {timeout: 150ms}}
  header: {kind: http, url: %[1]s, auth: {header: {name: X-Key, value: "Key ${secret:CANARY_HEADER}"}}, limits: {timeout: 150ms}}
  query: {kind: http, url: %[1]s, auth: {query: {name: k, value: secret:CANARY_QUERY}}, limits: {timeout: 150ms}}
  cookie: {kind: http, url: %[1]s, auth: {cookie: {name: k, value: secret:CANARY_COOKIE}}, limits: {timeout: 150ms}}
  jar:
    kind: http
    url: %[1]s
    cookies: on
    redirects: follow
    auth: {login: {post: /login/jar, form: {password: "secret:CANARY_PASSWORD"}}}
    limits: {timeout: 150ms}
  oauth: {kind: http, url: %[1]s, auth: {oauth2: {grant: client_credentials, post: "%[1]s/login/oauth", client: app, secret: secret:CANARY_OAUTH}}, limits: {timeout: 150ms}}
  denied: {kind: http, url: %[1]s, auth: {oauth2: {grant: password, post: /login/refused, client: app, secret: secret:CANARY_OAUTH, client_auth: form, user: me, password: secret:CANARY_PASSWORD}}}
  sent: {kind: http, url: %[1]s, headers: {X-Own: secret:CANARY_OWN}, limits: {timeout: 150ms}}
  missing: {kind: http, url: "http://127.0.0.1:1", auth: {bearer: secret:CANARY_BEARER}}
  tls: {kind: http, url: "%[2]s", auth: {bearer: secret:CANARY_BEARER}}
  model: {kind: llm, url: %[1]s/v1, model: m, auth: {bearer: secret:CANARY_KEY}}
  db: {kind: postgres, url: "secret:CANARY_DB"}
  shut: {kind: postgres, url: "secret:CANARY_SHUT"}
  own: {kind: postgres, url: "%[3]s", auth: {password: secret:CANARY_DB_PASSWORD}}
chain c:
%[4]s  step told: {kind: emit, event: told, data: {word: "${params.word}", good: "${steps.bearer_good}", encoded: "${steps.sent_encoded}", jar: "${[steps.jar_good.headers, steps.jar_changed, steps.oauth_good]}", said: "${steps.read.first}", chat: "${steps.chat.text}", row: "${steps.row.first}"}}
  step failed: {kind: http, service: bearer, get: "/refused", query: {word: "${params.word}"}}
`

// canarySteps returns one step for each wrong response with each token, and one for each login, model and database that
// fails.
func canarySteps() string {
	var all strings.Builder
	step := func(format string, args ...any) { fmt.Fprintf(&all, "  step "+format+"\n", args...) }
	for _, service := range []string{"bearer", "jwt", "login"} {
		for _, way := range []string{"refused", "broken", "away", "malformed", "cut", "garbled", "slow"} {
			step("%s_%s: {kind: http, service: %s, post: /%s, on_error: continue}", service, way, service, way)
		}
		step("%s_good: {kind: http, service: %s, get: /good}", service, service)
	}
	for _, way := range []string{"refused", "malformed", "encoded"} {
		step("oauth_%s: {kind: http, service: oauth, post: /%s, on_error: continue}", way, way)
	}
	for _, service := range []string{"basic", "header", "query", "cookie"} {
		for _, way := range []string{"refused", "encoded", "malformed", "garbled", "slow"} {
			step("%s_%s: {kind: http, service: %s, post: /%s, on_error: continue}", service, way, service, way)
		}
	}
	for _, way := range []string{"refused", "broken", "encoded", "garbled", "slow"} {
		step(`sent_%s: {kind: http, service: sent, post: "/%s?at=${secret:CANARY_PARAMETER}", on_error: continue, query: {k: secret:CANARY_SENT}, headers: {X-Step: "v1 ${secret:CANARY_SENT}"}, json: {k: ["is ${secret:CANARY_PARAMETER}"]}}`, way, way)
	}
	for _, way := range []string{"broken", "away", "garbled", "slow", "good"} { // a service that repeats its own cookies in a body publishes them
		step(`jar_%s: {kind: http, service: jar, post: "/%s?c=${cookie('sid')}", on_error: continue, headers: {X-Step: "v1 ${cookie('sid')}"}, multipart: {k: "${secret:CANARY_SENT} ${cookie('sid')}"}}`, way, way)
		step("oauth_%s: {kind: http, service: oauth, post: /%s, on_error: continue}", way, way)
	}
	step(`jar_changed: {kind: http, service: jar, post: /cookie, json: {k: "${cookie('sid')}"}}`)
	step(`jar_last: {kind: http, service: jar, post: /garbled, form: {k: "${cookie('sid')}"}, on_error: continue}`)
	step("denied: {kind: http, service: denied, get: /, on_error: continue}")
	step(`form: {kind: http, service: sent, post: "/refused/${secret:CANARY_SENT}", on_error: continue, form: {k: secret:CANARY_PARAMETER}}`)
	step(`text: {kind: http, service: sent, post: /encoded, on_error: continue, body: "key ${secret:CANARY_SENT}"}`)
	step(`args: {kind: sql, service: own, query: "select refuse($1)", args: ["secret:CANARY_SENT"], on_error: continue}`)
	step(`read: {kind: sql, service: own, query: "select $1::text as said", args: ["is ${secret:CANARY_SENT}"]}`)
	for _, service := range []string{"turned", "lost", "missing", "tls"} {
		step("%s: {kind: http, service: %s, post: /, on_error: continue}", service, service)
	}
	step(`chat: {kind: llm, service: model, prompt: "which key?", stream: true}`)
	step(`row: {kind: sql, service: db, query: "select current_user as name"}`)
	step(`wrong: {kind: sql, service: own, query: "select refuse($1)", args: ["${params.word}"], on_error: continue}`)
	step(`shut: {kind: sql, service: shut, query: "select 1", on_error: continue}`)
	return all.String()
}

// nest is the environment of a run with canaries.
type nest struct {
	file, data, temp string
	database         string // database of the results
	results          string // the same in the form of --allow
	env              []string
	parrot           *parrot
	said             bytes.Buffer // everything that throngctl wrote
	word             string
	parameter        string // a secret one
}

func newNest(t *testing.T, word string) *nest {
	t.Helper()
	t.Setenv("THRONG_DATABASE_URL", "")
	n := &nest{data: t.TempDir(), temp: t.TempDir(), parrot: &parrot{}, word: word}
	door := httptest.NewServer(n.parrot)
	t.Cleanup(door.Close)
	untrusted := httptest.NewUnstartedServer(n.parrot)
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	server := pgtest.Shared(t)
	address, err := url.Parse(server.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	n.database, n.results = address.String(), address.Host+address.Path
	open, shut := *address, *address
	open.User = url.User(address.User.Username())
	shut.User = url.UserPassword(address.User.Username(), n.parrot.learn("canary wrong?/@"))
	n.parrot.learn(pgtest.Password)
	for name, value := range map[string]string{
		"CANARY_BEARER": `canary<bearer>&"quoted"/+=`, "CANARY_JWT": "canary-jwt-secret-4711", "CANARY_PASSWORD": `canary "pass" word&/%+`,
		"CANARY_KEY": "sk-canary-key-4711", "CANARY_DB": address.String(), "CANARY_SHUT": shut.String(), "CANARY_DB_PASSWORD": pgtest.Password,
		"CANARY_BASIC": "canary-basic-4711/+", "CANARY_HEADER": `canary-"header"-4711`, "CANARY_QUERY": "canary query&4711", "CANARY_COOKIE": "canary-cookie-4711",
		"CANARY_OAUTH": "canary/oauth+4711",
		"CANARY_OWN":   "canary-own-ä-4711", "CANARY_SENT": `canary "sent" %4711/ü`, "CANARY_PARAMETER": "canary-parameter-4711%",
	} {
		if name == "CANARY_PARAMETER" { // the first run has it, and a resume needs it
			n.parameter = value
		}
		n.env = append(n.env, name+"="+value)
		n.parrot.learn(value)
	}
	n.env = append(n.env, "TMPDIR="+n.temp, "THRONG_DATABASE_URL="+n.database)
	text := fmt.Sprintf(canaries, door.URL, untrusted.URL, open.String(), canarySteps())
	n.file = write(t, filepath.Join(t.TempDir(), "canaries.yaml"), text)
	return n
}

// ctl runs throngctl in its own process and keeps its output. kill is the moment that ends it; "" for none.
func (n *nest) ctl(t *testing.T, kill string, args ...string) {
	t.Helper()
	cmd, out, stderr := process(t, append(n.env, killEnv+"="+kill), append(args, "--data", n.data)...)
	err := cmd.Run()
	n.said.Write(out.Bytes())
	n.said.Write(stderr.Bytes())
	var exit *exec.ExitError
	switch {
	case kill != "" && (!errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL):
		t.Fatalf("%q was not killed: %v\n%s%s", args, err, out, stderr)
	case kill == "" && err != nil && (!errors.As(err, &exit) || exit.ExitCode() != exitFailed):
		t.Fatalf("%q: %v\n%s%s", args, err, out, stderr)
	}
}

// fly runs the scenario with everything that can happen to it.
func (n *nest) fly(t *testing.T) {
	t.Helper()
	n.ctl(t, "commit:12", "run", n.file, "--set", "word="+n.word, "--set", "CANARY_PARAMETER="+n.parameter, "--breaker", "off", "--retry-wait", "1ms", "--retries", "2",
		"--keep-share", "1", "--seed", "7", "--max-concurrent", "3", "--record", "--checkpoint-interval", "50ms", "--allow", n.results)
	n.ctl(t, "", "resume", "--export", filepath.Join(n.data, "out"))
	n.ctl(t, "", "audit")
	n.ctl(t, "", "report", "--out", filepath.Join(n.data, "out", "report.html"))
	n.ctl(t, "", "export", "--what", "events", "--format", "jsonl", "--out", filepath.Join(n.data, "out", "events.jsonl"))
	n.ctl(t, "", "timeline", "1")
	n.ctl(t, "", "fork", "--seed", "8")
	n.panics(t)
	n.ctl(t, "", "push")
	n.ctl(t, "", "export", "--what", "run")
	n.ctl(t, "", "checkpoints")
	n.ctl(t, "", "runs")
	n.ctl(t, "", "validate", n.file)
}

// panics crashes a separate run with a given text.
func (n *nest) panics(t *testing.T) {
	t.Helper()
	cmd, out, stderr := process(t, append(n.env, panicEnv+"=1"), "run", n.file, "--data", n.data, "--breaker", "off")
	if err := cmd.Run(); err == nil {
		t.Fatalf("no panic\n%s%s", out, stderr)
	}
	n.said.Write(out.Bytes())
	n.said.Write(stderr.Bytes())
	if texts, err := filepath.Glob(filepath.Join(n.data, "crashes", "*")); err != nil || len(texts) == 0 {
		t.Fatalf("there is no crash report: %v", err)
	}
}

// places returns everything that a run left behind, by place.
func (n *nest) places(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{"what throngctl said": n.said.Bytes()}
	for _, dir := range []string{n.data, n.temp} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && entry.Type().IsRegular() {
				all[filepath.Base(path)] = []byte(read(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	all["the store, unfolded"] = unfolded(t, n.data)
	all["Postgres"] = everyRow(t, n.database)
	return all
}

// unfolded returns every value of the store, decompressed.
func unfolded(t *testing.T, data string) []byte {
	t.Helper()
	stores, err := filepath.Glob(filepath.Join(data, "*.db"))
	if err != nil || len(stores) != 1 {
		t.Fatalf("stores: %v %v", stores, err)
	}
	db, err := sql.Open("sqlite3", "file:"+stores[0]) // the driver of the store
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	zip, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer zip.Close()
	var all bytes.Buffer
	for _, table := range column(t, db, "select name from sqlite_master where type = 'table'") {
		rows, err := db.QueryContext(t.Context(), fmt.Sprintf("select * from %q", table))
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range values(t, rows) {
			all.Write(value)
			if _, packed, ok := bytes.Cut(value, []byte("\x28\xb5\x2f\xfd")); ok {
				raw, err := zip.DecodeAll(append([]byte("\x28\xb5\x2f\xfd"), packed...), nil)
				if err != nil {
					t.Errorf("a value of %s cannot be decompressed: %v", table, err)
				}
				all.Write(raw)
			}
			all.WriteByte('\n')
		}
	}
	return all.Bytes()
}

// column returns the result of a query as texts.
func column(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values(t, rows) {
		all = append(all, string(v))
	}
	return all
}

// values returns all values of all rows.
func values(t *testing.T, rows *sql.Rows) (all [][]byte) {
	t.Helper()
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row, to := make([][]byte, len(names)), make([]any, len(names))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		all = append(all, row...)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// everyRow returns the contents of all tables of throng as text.
func everyRow(t *testing.T, address string) []byte {
	t.Helper()
	conn := pgtest.Connect(t, address)
	defer func() { _ = conn.Close(context.Background()) }()
	var all string
	var tables []string
	if err := conn.QueryRow(t.Context(), "select array_agg(table_name::text) from information_schema.tables where table_schema = 'throng' and table_type = 'BASE TABLE'").Scan(&tables); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		var rows string
		if err := conn.QueryRow(t.Context(), fmt.Sprintf("select coalesce(string_agg(x::text, E'\n'), '') from throng.%q x", table)).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		all += rows + "\n"
	}
	return []byte(all)
}

// forms returns the encodings in which a secret could occur.
func forms(secret string) []string {
	quoted, _ := json.Marshal(secret)
	all := []string{
		secret, string(quoted[1 : len(quoted)-1]), strings.ReplaceAll(secret, `"`, `""`), strings.ReplaceAll(secret, `"`, `\"`),
		url.QueryEscape(secret), url.PathEscape(secret), hex.EncodeToString([]byte(secret)),
	}
	units, octets := "", ""
	for _, u := range utf16.Encode([]rune(secret)) {
		units += fmt.Sprintf(`\u%04x`, u)
	}
	for _, b := range []byte(secret) {
		octets += fmt.Sprintf("%%%02x", b)
	}
	wide := utf16.Encode([]rune(secret))
	low, high := make([]byte, 0, 2*len(wide)), make([]byte, 0, 2*len(wide))
	for _, u := range wide {
		low, high = append(low, byte(u), byte(u>>8)), append(high, byte(u>>8), byte(u))
	}
	all = append(all, units, octets, string(low), string(high))
	for _, before := range []string{"", "u", "us", "somebody:"} {
		text := base64.RawStdEncoding.EncodeToString([]byte(before + secret))
		all = append(all, text[(len(before)*8+5)/6:len(text)-2])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestCanaries searches everything that a run leaves behind for its secrets: after wrong answers of every kind, a kill, a
// resume, an export, a report and a push.
func TestCanaries(t *testing.T) {
	keyring.MockInit()
	n := newNest(t, "chirp-is-no-secret")
	if err := config.SaveDatabase(n.data, config.Database{URL: n.database}); err != nil {
		t.Fatal(err)
	}
	n.fly(t)
	secrets := n.parrot.known()
	if len(secrets) < 12 {
		t.Fatalf("only %d secrets: %q", len(secrets), secrets)
	}
	places := n.places(t)
	for where, kept := range places {
		for _, secret := range secrets {
			for _, form := range forms(secret) {
				if i := bytes.Index(kept, []byte(form)); i >= 0 {
					t.Errorf("%s has %q: %q", where, form, kept[max(0, i-80):min(len(kept), i+len(form)+40)])
				}
			}
		}
	}
	for _, where := range []string{"the store, unfolded", "events.csv", "Postgres"} {
		if !bytes.Contains(places[where], []byte(`your key is ….`)) {
			t.Errorf("%s does not have the model's answer", where)
		}
	}
	for _, where := range []string{"the store, unfolded", "events.csv", "events.jsonl", "run.json", "report.html", "Postgres", "throng.db"} {
		if _, ok := places[where]; !ok || !bytes.Contains(places[where], []byte(n.word)) {
			t.Errorf("a value that is not secret is not found in %s (%t): the search proves nothing", where, ok)
		}
	}
}
