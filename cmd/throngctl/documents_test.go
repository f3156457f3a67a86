package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// Placeholders of the documents. They are replaced by a finished run, or the next one if a command names two; the run of
// the preceding recording; a shop like the mock that needs no token; a database; a webhook; and the run in progress.
const (
	runPlace      = "RUN"
	datedPlace    = "20260301-120000-abcd"
	recordedPlace = "20261122-0715"
	shopPlace     = "https://staging.example.com"
	databasePlace = "postgres://me@db.example.com/results"
	hookPlace     = "https://ntfy.sh/throng-7f3k29x"
	underWayPlace = "20300301-12" // prefix of the newest run's ID
)

// unattended are the commands of the documents that are not executed, with the reason. Those of throngctl are still parsed,
// and targets of make must exist.
var unattended = []struct{ command, why string }{
	{"throngctl mock", "it serves until it is stopped: TestMockAlone, TestMockTheModel"},
	{"throngctl worker", "it works until it is stopped: TestFleetOfOtherMachines"},
	{"throngctl fleet", "needs a run with a fleet: TestFleetCommands"},
	{"throngctl run shopping --fleet :7422", "it waits for workers: TestFleetOfOtherMachines"},
	{"throngctl resume --fleet :7422", "it waits for workers"},
	{"throngctl run shopping --nats", "it asks a NATS cluster: the tests of package bus"},
	{"throngctl record", "it records until it is stopped: TestRecord"},
	{"throngctl prove", "it takes minutes: TestProve"},
	{"throngctl check shopping --set provider=openrouter", "it asks a real provider"},
	{"throngctl run shopping --set provider=openrouter", "it asks a real provider"},
	{"throngctl run conversation --service", "it asks a model server of this machine: TestAModelMustBeNamed"},
	{"throngctl cleanup RUN", "it wants a run whose scenario names a cleanup: TestCleanup"},
	{"throngctl requeue", "needs a failed session: TestSecondTerminal"},
	{"make", "it would build, test and measure all there is"},
	{"go install", "it asks the module proxy for a release"},
	{"go test", "it is what make race does, of one package"},
	{"go run ./cmd/internal/bundle", "builds for minutes; its own tests unpack the result"},
	{"go doc", "it only prints"},
	{"sudo", "it changes the system: make try-package does it in one of its own"},
	{"apk", "it changes Alpine Linux: TestAlpinePackage unpacks the package"},
	{"tar", "TestArchive of the bundle unpacks what it made"},
	{"throng-0.1.0-linux-amd64/install", "TestArchive of the bundle runs it"},
	{"./install", "TestArchive of the bundle runs it"},
	{"shasum", "it wants a download"},
	{"Get-FileHash", "it wants a download, and Windows"},
	{"xattr", "it wants a Mac"},
}

// orderLines are the commands that need a run in progress.
var orderLines = []string{"set", "pause", "continue", "stop", "checkpoint", "retire", "broadcast"}

// fenced returns the code blocks of a document in a language.
func fenced(text, language string) (all []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// documents returns the README, the contributors' documents, and the pages of the guide, by name.
func documents(t *testing.T) (names []string, texts map[string]string) {
	t.Helper()
	texts = map[string]string{"README": read(t, "..", "..", "README.md"), "CONTRIBUTING": read(t, "..", "..", ".github", "CONTRIBUTING.md")}
	names = []string{"README", "CONTRIBUTING"}
	for _, p := range assets.Pages() {
		names, texts[p.Topic] = append(names, p.Topic), p.Text
	}
	return names, texts
}

// page returns a page of the guide.
func page(t *testing.T, topic string) string {
	t.Helper()
	_, texts := documents(t)
	if texts[topic] == "" {
		t.Fatalf("the guide has no page %s", topic)
	}
	return texts[topic]
}

// TestDocumentedCommands executes every command of the README and the guide, on a small scale, and checks the exit code that
// its comment implies. SQL of the guide runs on the database that the commands before it filled. Commands within the text
// come last.
func TestDocumentedCommands(t *testing.T) {
	s := newStage(t)
	names, texts := documents(t)
	ran, passing := 0, spans(names, texts)
	for _, name := range names {
		for i, lines := range append(fenced(texts[name], "sh"), fenced(texts[name], "powershell")...) {
			t.Run(fmt.Sprintf("%s %d", name, i+1), func(t *testing.T) { ran += s.carryOut(t, strings.Split(strings.TrimSpace(lines), "\n")) })
		}
		for i, queries := range fenced(texts[name], "sql") {
			t.Run(fmt.Sprintf("%s SQL %d", name, i+1), func(t *testing.T) { s.ask(t, queries) })
		}
		for i, lines := range passing[name] {
			t.Run(fmt.Sprintf("%s by the way %d", name, i+1), func(t *testing.T) { ran += s.carryOut(t, lines) })
		}
	}
	if ran < 110 {
		t.Errorf("only %d commands were executed", ran)
	}
}

// stage has what the documents' commands need.
type stage struct {
	fixture         string // a store with two runs
	finished, ended string // the two runs: one with checkpoints, one out of budget
	shop, hook      string
	database        string   // "" until needed
	files           []string // names and texts, in turn
}

func newStage(t *testing.T) *stage {
	t.Helper()
	keyring.MockInit()
	self(t) // before HOME changes: Go would build everything again
	for _, name := range []string{"THRONG_DATABASE_URL", "XDG_DATA_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("SHOP_TOKEN", "a-token-of-the-shop")
	s := &stage{fixture: t.TempDir(), shop: openShop(t), hook: newHook(t, http.StatusOK).URL}
	run := func(code int, more ...string) string {
		got, out, stderr := ctl(t, append([]string{
			"run", "shopping", "--data", s.fixture, "--set", "agents=20", "--set", "eagerness=8", "--seed", "7", "--mock-latency", "none",
			"--checkpoint-interval", "1ms", "--keep-checkpoints", "1000", "--no-dashboard",
		}, more...)...)
		if got != code {
			t.Fatalf("exit code %d\n%s%s", got, out, stderr)
		}
		return regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)[1]
	}
	s.finished = run(exitDone, "--cycles", "3")
	s.ended = run(exitFailed, "--cycles", "3", "--max-requests", "250")
	names, texts := documents(t)
	for _, name := range names {
		for _, yaml := range fenced(texts[name], "yaml") {
			if first, _, _ := strings.Cut(yaml, "\n"); strings.HasPrefix(first, "# ") && !slices.Contains(s.files, strings.TrimPrefix(first, "# ")) {
				s.files = append(s.files, strings.TrimPrefix(first, "# "), s.here(yaml))
			}
		}
	}
	folder := t.TempDir()
	if code, out, stderr := ctl(t, "import", s.shop, "-o", filepath.Join(folder, "mine.yaml"), "--data", t.TempDir()); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	s.files = append(s.files, "mine.yaml", read(t, folder, "mine.yaml"), "mine.openapi.json", read(t, folder, "mine.openapi.json"),
		"shop-api.json", read(t, "testdata", "shop-api.json"), "openapi.yaml", read(t, "testdata", "shop-api.json"), "users.csv", "id,username,password\n1,ann,secret\n")
	for _, name := range []string{"visit.har", "first.har", "second.har"} {
		s.files = append(s.files, name, s.here(read(t, "testdata", "visit.har")))
	}
	scenarios := filepath.Join("..", "..", "assets", "scenarios")
	s.files = append(s.files, "new.yaml", read(t, scenarios, "shopping.yaml"), "shopping.star", read(t, scenarios, "shopping.star"), "text.json", `{"text": "The ferry was late."}`)
	return s
}

// openShop starts the mock shop as an external backend: each client gets a token from it.
func openShop(t *testing.T) string {
	t.Helper()
	shop, err := mock.Start(mock.Config{Seed: 7, Secret: "quiet"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shop.Close(); err != nil {
			t.Error(err)
		}
	})
	to, err := neturl.Parse(shop.URL())
	if err != nil {
		t.Fatal(err)
	}
	document, err := filepath.Abs(filepath.Join("testdata", "shop-api.json"))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/openapi.json", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, document) })
	mux.Handle("/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		user := r.In.Header.Get("X-Shopping-Session-Id")
		if user == "" {
			user = "visitor"
		}
		r.Out.Header.Set("Authorization", "Bearer quiet."+user)
	}})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// here replaces the addresses of the documents with existing ones.
func (s *stage) here(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, shopPlace, s.shop), hookPlace, s.hook)
	text = strings.ReplaceAll(text, "127.0.0.1:9464", "127.0.0.1:0") // which may be in use
	return strings.ReplaceAll(text, strings.TrimPrefix(shopPlace, "https://"), strings.TrimPrefix(s.shop, "http://"))
}

// home makes a folder for a block, with the files that its commands name.
func (s *stage) home(t *testing.T, fixture bool) (data string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv(about.DataEnv, "")
	t.Chdir(home)
	data, err := config.DataFolder()
	if err != nil {
		t.Fatal(err)
	}
	if fixture {
		if err := os.CopyFS(data, os.DirFS(s.fixture)); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < len(s.files); i += 2 {
		if err := os.WriteFile(s.files[i], []byte(s.files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// carryOut executes the commands of a block in order, in one folder with the two runs of the fixture. If a command resumes
// a run that no earlier command left, the block is a list of alternatives, and each command gets its own folder.
func (s *stage) carryOut(t *testing.T, lines []string) (n int) {
	var all []documented
	listed, ordered, fetched := false, false, false
	for _, line := range lines {
		words, comment := split(t, line)
		switch words[0] {
		case "throngctl", "bin/throngctl":
		case "make":
			if !strings.Contains(read(t, "..", "..", "Makefile"), "\n"+words[1]+":") {
				t.Errorf("there is no %s", line)
			}
			continue
		case "export":
			name, value, _ := strings.Cut(words[1], "=")
			t.Setenv(name, s.here(value))
			continue
		default:
			if !spared(words) {
				t.Errorf("no run for %s", line)
			}
			continue
		}
		d := documented{line: line, args: words[1:], code: exitDone}
		if strings.Contains(comment, "ends out of budget") {
			d.code = exitFailed
		}
		listed = listed || d.args[0] == "resume" && (len(all) == 0 || all[len(all)-1].code == exitDone)
		ordered = ordered || slices.Contains(orderLines, d.args[0])
		fetched = fetched || d.args[0] == "fetch"
		all = append(all, d)
	}
	data := s.home(t, !fetched)
	if ordered {
		slowRun(t, data)
	}
	for i, d := range all {
		if i > 0 && listed {
			data = s.home(t, true)
		}
		if d.args[0] == "restore" && (i == 0 || listed) {
			s.attended([]string{"delete", s.finished})
		}
		s.do(t, data, d)
	}
	return len(all)
}

// documented is a command in a document.
type documented struct {
	line string
	args []string
	code int // expected exit code
}

// do executes a command, or only parses it.
func (s *stage) do(t *testing.T, data string, d documented) {
	if s.parsed(t, d.args) {
		return
	}
	args := s.filled(t, data, d.args)
	code, out, stderr := s.attended(args)
	if code != d.code {
		t.Errorf("%s\nis throngctl %s: exit code %d, want %d\n%s%s", d.line, strings.Join(args, " "), code, d.code, out, stderr)
	}
	t.Logf("throngctl %s\n%s%s", strings.Join(args, " "), out, stderr)
}

// newest returns the newest run of a store.
func (s *stage) newest(data string) string {
	_, out, _ := s.attended([]string{"runs", "--data", data})
	return strings.Fields(strings.Split(out, "\n")[1])[0]
}

// attended runs throngctl for a user who confirms everything. Each secret is the address of a webhook.
func (s *stage) attended(args []string) (code int, stdout, stderr string) {
	said := "yes\n"
	if args[0] == "secret" {
		said = s.hook + "\n"
	}
	var out, err bytes.Buffer
	code = execute(args, &terminal{in: strings.NewReader(said), out: &out, err: &err, hooks: hooks{host: unseen, env: []string{asToolEnv + "=1"}}})
	return code, out.String(), err.String()
}

// parsed parses a command that is not executed.
func (s *stage) parsed(t *testing.T, args []string) bool {
	t.Helper()
	if slices.Contains(args, "--help") || !spared(append([]string{"throngctl"}, args...)) {
		return false
	}
	all, _ := grammar(args)
	parser, err := flags.NewParser(all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Errorf("throngctl %s: %v", strings.Join(args, " "), err)
	}
	return true
}

// filled replaces the placeholders of a command, and makes its run small.
func (s *stage) filled(t *testing.T, data string, args []string) []string {
	t.Helper()
	runs := []string{s.finished, s.ended}
	if args[0] == "resume" {
		runs = runs[1:]
	}
	for i, word := range args {
		switch word {
		case runPlace, datedPlace:
			args[i], runs = runs[0], runs[1:]
		case recordedPlace:
			args[i] = s.newest(data)
		case underWayPlace:
			args[i] = s.newest(data)[:18]
		case "FILE":
			args[i] = "shopping"
		case "AGENT":
			args[i] = "shopper-7"
		case "COMMAND":
			args[i] = "run"
		case databasePlace, "…":
			if s.database == "" {
				s.database = pgtest.Shared(t).Database(t)
			}
			args[i] = s.database
		default:
			args[i] = s.here(word)
		}
	}
	return brisk(args)
}

// split splits a shell command into words, including quoted ones, and its comment.
func split(t *testing.T, line string) (words []string, comment string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(#.*$)|"([^"]*)"|'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		if m[1] != "" {
			comment = m[1]
			break
		}
		words = append(words, m[2]+m[3]+m[4])
	}
	if len(words) == 0 {
		t.Fatalf("%q is not a command", line)
	}
	return words, comment
}

// ask runs each of the queries. All must return rows, except those about failures, and every column must have a value in
// one of them, except the fork's parent.
func (s *stage) ask(t *testing.T, queries string) {
	if s.database == "" {
		t.Skip("there is no PostgreSQL that anything was sent to")
	}
	conn := pgtest.Connect(t, s.database)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	queries = strings.TrimSpace(regexp.MustCompile(`(?m)^--.*\n`).ReplaceAllString(queries, ""))
	for query := range strings.SplitSeq(strings.TrimSuffix(queries, ";"), ";") {
		rows, err := conn.Query(t.Context(), strings.ReplaceAll(query, datedPlace, s.finished))
		if err != nil {
			t.Fatal(err)
		}
		columns, n, known := rows.FieldDescriptions(), 0, map[string]bool{"parent": true}
		for ; rows.Next(); n++ {
			values, err := rows.Values()
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range columns {
				known[c.Name] = known[c.Name] || values[i] != nil
			}
		}
		if err := rows.Err(); err != nil || n == 0 && !strings.Contains(query, "'failed'") {
			t.Errorf("%s\n%d rows, %v", query, n, err)
		}
		for _, c := range columns {
			if n > 0 && !known[c.Name] {
				t.Errorf("%s\nhas no value of %s", query, c.Name)
			}
		}
	}
}

// TestLinksOfTheReadme checks that the link targets of the README and CONTRIBUTING exist, and that the README links to every
// page of the guide.
func TestLinksOfTheReadme(t *testing.T) {
	root := filepath.Join("..", "..")
	links := map[string]bool{}
	for name, folder := range map[string]string{"README.md": root, filepath.Join(".github", "CONTRIBUTING.md"): filepath.Join(root, ".github")} {
		for _, m := range regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(read(t, root, name), -1) {
			links[m[1]] = true
			if _, err := os.Stat(filepath.Join(folder, m[1])); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
		}
	}
	for _, p := range assets.Pages() {
		if !links[path.Join("assets/guide", p.File)] {
			t.Errorf("the README does not link to %s", p.File)
		}
	}
}

// TestSplit checks that lines are split as in a shell.
func TestSplit(t *testing.T) {
	words, comment := split(t, `throngctl set max-concurrent=30 --why "the shop's own batch" --filter 'a > 3'   # lower "it"`)
	if want := []string{"throngctl", "set", "max-concurrent=30", "--why", "the shop's own batch", "--filter", "a > 3"}; !slices.Equal(words, want) || comment != `# lower "it"` {
		t.Errorf("%q, %q", words, comment)
	}
}
