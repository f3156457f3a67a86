package chain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/batch"
	"github.com/throng-sim/throng/engine/service/mcp"
)

// ownTools are tools of the file: an expression, a chain, and one that hangs in an endless script.
const ownTools = `
tools:
  find: {about: Finds products., input: {words: string, "most?": int}, call: "input.words.upper() + '!' * (input.most or 1)"}
  fails: {about: Fails., call: fail_now(agent)}
  order: {about: Orders., input: {n: int}, chain: order}
chain order:
  step buy: {kind: http, service: shop, post: "/orders/${input.n}"}
  step tell: {kind: emit, event: ordered, data: "${input.n}"}
  step result: {kind: python, call: "{'got': steps.buy.n}"}
`

const ownFunctions = "def fail_now(agent):\n    fail(\"no luck for \" + agent.id)\n"

// shopOfTools answers orders, and counts them by path.
type shopOfTools struct {
	mu   sync.Mutex
	seen map[string]int
}

func (s *shopOfTools) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	s.seen[r.URL.Path]++
	s.mu.Unlock()
	n := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if n == "404" {
		js(w, 404, `{"error":"sold out"}`)
		return
	}
	js(w, 200, `{"n":`+n+`}`)
}

// results returns the results of calls in the last request.
func results(o *oracle) (all []string) {
	seen := o.asked()
	for _, m := range seen[len(seen)-1].Messages {
		if m.Role == "tool" {
			all = append(all, m.Content)
		}
	}
	return all
}

// TestToolsOfTheFile checks the results that a model receives, and the records of the steps.
func TestToolsOfTheFile(t *testing.T) {
	long := strings.Repeat("x", 300)
	for name, tt := range map[string]struct {
		limits  string
		answers []string
		told    []string
		steps   string
		fails   string
	}{
		"an expression":       {"", []string{`call find {"words":"tea","most":2}`, "done"}, []string{"TEA!!"}, "a:ok a[0].find:ok", ""},
		"two calls":           {"", []string{"call find {\"words\":\"a\"}\ncall find {\"words\":\"b\"}", "done"}, []string{"A!", "B!"}, "a:ok a[0].find:ok a[1].find:ok", ""},
		"two rounds":          {"", []string{`call find {"words":"a"}`, `call find {"words":"b"}`, "done"}, []string{"A!", "B!"}, "a:ok a[0].find:ok a[1].find:ok", ""},
		"a chain":             {"", []string{`call order {"n":7}`, "done"}, []string{`{"got":7}`}, "a:ok a[0].order:ok a[0].order.buy:ok a[0].order.tell:ok a[0].order.result:ok", ""},
		"a chain that fails":  {"", []string{`call order {"n":404}`, "done"}, []string{`Error: status 404: "{\"error\":\"sold out\"}"`}, "a:ok a[0].order:failed:client_error a[0].order.buy:failed:client_error a[0].order.tell:canceled a[0].order.result:canceled", ""},
		"a script that fails": {"", []string{"call fails {}", "done"}, []string{"Error: no luck for a0"}, "a:ok a[0].fails:failed:script", ""},
		"an unknown tool":     {"", []string{"call fly {}", "done"}, []string{`Error: there is no tool "fly"; there are find, fails, order`}, "a:ok a[0].tools:failed:bad_answer", ""},
		"a misfit":            {"", []string{`call find {"words":3}`, "done"}, []string{"Error: the arguments do not fit: words: got number, want string"}, "a:ok a[0].tools:failed:bad_answer", ""},
		"no JSON":             {"", []string{"call fails {", "done"}, []string{"Error: the arguments do not fit: they are not JSON"}, "a:ok a[0].tools:failed:bad_answer", ""},
		"a long result":       {", tool_limits: {bytes: 100}", []string{`call find {"words":"` + long + `"}`, "done"}, []string{strings.ToUpper(long[:100]) + "\n[cut after 100 B of 301 B]"}, "a:ok a[0].find:ok", ""},
		"a loop":              {", tool_limits: {rounds: 2}", []string{`call find {"words":"a"}`}, []string{"A!", "A!"}, "a:failed:loop_limit a[0].find:ok a[1].find:ok", "the model asks for tools after 2 answers that did; `tool_limits: {rounds: …}` allows more"},
	} {
		o, shop := says(tt.answers...), &shopOfTools{}
		row := stage{
			steps: "step a: {kind: llm, service: model, prompt: hi, tools: [find, fails, order]" + tt.limits + "}", others: ownTools, functions: ownFunctions,
			more: o.models(t), address: serve(t, shop.ServeHTTP),
		}.one(t)
		if told := results(o); !slices.Equal(told, tt.told) || steps(&row) != tt.steps || !strings.Contains(row.Error, tt.fails) || (row.Outcome == engine.OK) != (tt.fails == "") {
			t.Errorf("%s: told %q, want %q\nsteps %s\nwant  %s\n%v %s", name, told, tt.told, steps(&row), tt.steps, row.Outcome, row.Error)
		}
	}
}

// TestManyCalls checks that one answer cannot ask for any number of calls.
func TestManyCalls(t *testing.T) {
	o := says(strings.Repeat("call find {\"words\":\"a\"}\n", 20), "done")
	row := stage{steps: "step a: {kind: llm, service: model, prompt: hi, tools: [find]}", others: ownTools, functions: ownFunctions, more: o.models(t)}.one(t)
	told := results(o)
	if row.Outcome != engine.OK || len(told) != 20 || told[15] != "A!" || told[16] != "Error: too many calls in one answer" {
		t.Errorf("%v %s: told %q", row.Outcome, row.Error, told)
	}
}

// TestUseOfToolsCosts adds up the cost of all rounds by hand, and checks the budget between them.
func TestUseOfToolsCosts(t *testing.T) {
	o := says(`call find {"words":"a"}`, `call find {"words":"b"}`, "done")
	row := stage{steps: "step a: {kind: llm, service: model, prompt: hi, tools: [find]}", others: ownTools, functions: ownFunctions, more: o.models(t)}.one(t)
	u := row.Steps[0].Usage
	// Three calls with 5 tokens of input and 2 of output each, at a dollar per million: 3 * 7 * 1e-6 dollars.
	if u == nil || u.Calls != 3 || u.Input != 15 || u.Output != 6 || u.Cost != 21_000 || row.Steps[0].Attempts != 3 || row.Steps[0].Retries() != 0 {
		t.Errorf("usage %+v in %d attempts", u, row.Steps[0].Attempts)
	}
}

// TestToolsOfOneModel checks that no other model is asked once a tool was called: it would call the tools again.
func TestToolsOfOneModel(t *testing.T) {
	o := &oracle{}
	o.answer = func(q asking) (int, string) {
		if q.last() == "hi" {
			return 200, `call order {"n":1}`
		}
		return 404, "gone"
	}
	shop := &shopOfTools{}
	row := stage{
		steps:  "step a: {kind: llm, service: model, fallback: other, prompt: hi, tools: [order], otherwise: '\"rule\"'}\nstep b: {kind: emit, event: e, data: \"${steps.a.text}\"}",
		others: ownTools, functions: ownFunctions, more: o.models(t), address: serve(t, shop.ServeHTTP),
	}.one(t)
	if o.who() != "m1 m1" || shop.seen["/orders/1"] != 1 || events(&row) != `ordered=1 e="rule"` {
		t.Errorf("asked %s, ordered %v: %s %s", o.who(), shop.seen, events(&row), row.Error)
	}
}

// server is an MCP server in this process. Its tools count their calls.
type server struct {
	address string
	mu      sync.Mutex
	calls   map[string]int
	hang    chan struct{} // closed at the end of the test
}

type lookup struct {
	Key string `json:"key" jsonschema:"what to look up"`
}

func (s *server) count(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[name]++
}

func (s *server) counted() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls)
}

// newServer starts an MCP server with the tool lookup and those named: failing, hanging, huge, and dying, which ends its connection.
func newServer(t testing.TB, more ...string) *server {
	t.Helper()
	s := &server{calls: map[string]int{}, hang: make(chan struct{})}
	of := sdk.NewServer(&sdk.Implementation{Name: "crm", Version: "1"}, nil)
	text := func(text string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	}
	sdk.AddTool(of, &sdk.Tool{Name: "lookup", Description: "Looks up a customer."}, func(_ context.Context, _ *sdk.CallToolRequest, in lookup) (*sdk.CallToolResult, any, error) {
		s.count("lookup " + in.Key)
		return text("customer " + in.Key), nil, nil
	})
	for _, name := range more {
		sdk.AddTool(of, &sdk.Tool{Name: name}, func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			s.count(name)
			switch name {
			case "failing":
				return nil, nil, errors.New("the customer is gone")
			case "hanging":
				select {
				case <-ctx.Done():
				case <-s.hang:
				}
			case "huge":
				return text(strings.Repeat("y", 3<<20)), nil, nil
			}
			return text("fine"), nil, nil
		})
	}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return of }, nil)
	s.address = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer mcp-hunter2" {
			js(w, 401, `{"error":"who are you, with `+r.Header.Get("Authorization")+`?"}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"dying"`) {
			panic(http.ErrAbortHandler) // in the middle of the call
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler.ServeHTTP(w, r)
	})
	t.Cleanup(func() {
		close(s.hang)
		for session := range of.Sessions() { // of clients that went without a word
			_ = session.Close()
		}
	})
	return s
}

// crm returns the connected service of a server.
func (s *server) crm(t testing.TB, repeats Repeats, token string) *Service {
	t.Helper()
	client, err := mcp.Connect("crm", s.address, service.Limits{Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	of := &Service{Name: "crm", Kind: "mcp", Bearer: "CRM", Repeats: repeats}
	of.Connect(client.HTTP, token)
	return of
}

// TestToolsOfServers checks calls of an MCP server: the results that the model receives, and the records of the steps.
func TestToolsOfServers(t *testing.T) {
	for name, tt := range map[string]struct {
		list, limits string
		more         []string
		token        string
		answers      []string
		told         []string
		steps        string
		fails        string
	}{
		"all tools":     {list: "[mcp:crm]", answers: []string{`call crm__lookup {"key":"ann"}`, "done"}, told: []string{"customer ann"}, steps: "a:ok a[0].crm:ok"},
		"one of them":   {list: "[mcp:crm.lookup]", more: []string{"failing"}, answers: []string{`call crm__failing {}`, "done"}, told: []string{`Error: there is no tool "crm__failing"; there are crm__lookup`}, steps: "a:ok a[0].tools:failed:bad_answer"},
		"a failure":     {list: "[mcp:crm]", more: []string{"failing"}, answers: []string{`call crm__failing {}`, "done"}, told: []string{"Error: the customer is gone"}, steps: "a:ok a[0].crm:failed:client_error"},
		"a misfit":      {list: "[mcp:crm]", answers: []string{`call crm__lookup {"key":7}`, "done"}, told: []string{"Error: the arguments do not fit: key: got number, want string"}, steps: "a:ok a[0].tools:failed:bad_answer"},
		"a huge result": {list: "[mcp:crm]", more: []string{"huge"}, answers: []string{`call crm__huge {}`, "done"}, told: []string{"Error: the result has more than 1.0 MB"}, steps: "a:ok a[0].crm:failed:client_error"},
		"one that hangs": {
			list: "[mcp:crm]", limits: ", tool_limits: {time: 0.2}", more: []string{"hanging"}, answers: []string{`call crm__hanging {}`, "done"},
			told: []string{"Error: no result within 200 ms"}, steps: "a:ok a[0].crm:timeout:timeout",
		},
		"a server that dies": {
			list: "[mcp:crm]", more: []string{"dying"}, answers: []string{`call crm__dying {}`, "done"}, told: []string{"Error: no result (network)"}, steps: "a:ok a[0].crm:failed:network",
		},
		"no such tool": {list: "[mcp:crm.fly]", fails: "the MCP server crm has no tool fly", steps: "a:failed:config"},
		"no access":    {list: "[mcp:crm]", token: "mcp-wrong", fails: `status 401: "{\"error\":\"who are you, with Bearer `, steps: "a:failed:client_error"},
	} {
		o, s := says(append(tt.answers, "done")...), newServer(t, tt.more...)
		token := tt.token
		if token == "" {
			token = "mcp-hunter2"
		}
		journal := &enginetest.Journal{}
		row := stage{
			steps: "step a: {kind: llm, service: model, prompt: hi, tools: " + tt.list + tt.limits + "}", journal: journal,
			more: append(o.models(t), s.crm(t, Repeats{}, token)), change: func(s *engine.Settings) { s.Retry.Attempts = 1 },
		}.one(t)
		var told []string
		if len(o.asked()) > 0 {
			told = results(o)
		}
		if !slices.Equal(told, tt.told) || steps(&row) != tt.steps || (row.Outcome == engine.OK) != (tt.fails == "") || !strings.Contains(row.Error, tt.fails) {
			t.Errorf("%s: told %q, want %q\nsteps %s\nwant  %s\n%v %s", name, told, tt.told, steps(&row), tt.steps, row.Outcome, row.Error)
		}
		if text := fmt.Sprintf("%+v", journal.Rows()); strings.Contains(text, token) {
			t.Errorf("%s: the journal has the token", name)
		}
	}
}

// withTools covers tools in a run that is killed: of the file, a chain with requests, an MCP server, failures and misuse.
const withTools = `
step a: {kind: llm, service: model, prompt: "${agent.id} asks", tools: [find, fails, order, mcp:crm], answer: {n: int}}
step b: {kind: llm, service: model, prompt: "${agent.id} thinks about ${steps.a.n}", tools: [mcp:crm.lookup], parallel: true}
step c: {kind: llm, service: model, prompt: "${agent.id} orders", tools: [order], parallel: true}
step d: {kind: emit, event: end, data: "${[steps.a, steps.b.text, steps.c.text]}"}
`

// talker asks for tools as a function of the messages.
func talker() *oracle {
	o := &oracle{}
	o.answer = func(q asking) (int, string) {
		who := strings.Fields(q.Messages[len(q.Messages)-1].Content)[0]
		tools, told := 0, ""
		for _, m := range q.Messages {
			switch m.Role {
			case "tool":
				tools++
				told += m.Content + ";"
			case "user":
				who = strings.ReplaceAll(strings.TrimSuffix(m.Content, "."), " ", "_")
			}
		}
		switch {
		case tools == 0 && strings.HasSuffix(who, "asks"):
			return 200, "call find {\"words\":\"" + who + "\"}\ncall crm__lookup {\"key\":\"" + who + "\"}\ncall order {\"n\":" + string(who[1]) + "}"
		case tools == 3 && strings.HasSuffix(who, "asks"):
			return 200, "call fails {}\ncall fly {}\ncall crm__lookup {\"key\":3}"
		case tools == 6:
			return 200, fmt.Sprintf(`{"n": %d}`, len(told))
		case tools == 0 && strings.Contains(who, "thinks"):
			return 200, "call crm__lookup {\"key\":\"" + who + "\"}"
		case tools == 0:
			return 200, "call order {\"n\":1" + string(who[1]) + "}\ncall order {\"n\":404}"
		}
		return 200, "heard " + told
	}
	return o
}

// TestEveryCrashOfTools kills a run after each row of its journal and resumes it, one session at a time and many together. The results equal
// those of a run that was never killed, and nothing is done twice but what was in flight, which is then marked.
func TestEveryCrashOfTools(t *testing.T) {
	for _, limit := range []int{1, 64} {
		const agents = 3
		change := func(s *engine.Settings) { s.Limit, s.Seed = limit, 5 }
		services := func(s *server) []*Service { return append(talker().models(t), s.crm(t, Repeats{}, "mcp-hunter2")) }
		begin := func(journal *enginetest.Journal) (stage, *server, *shopOfTools) {
			s, shop := newServer(t), &shopOfTools{}
			return stage{
				steps: withTools, others: ownTools, functions: ownFunctions, agents: agents, change: change, journal: journal,
				more: services(s), address: serve(t, shop.ServeHTTP),
			}, s, shop
		}
		st, s, shop := begin(&enginetest.Journal{})
		want := enginetest.Results(st.run(t))
		rows, done, ordered := len(st.journal.Rows()), s.counted(), shop.seen
		if rows < 60 || !strings.Contains(want, `heard {\"got\":10};Error: status 404`) || done["lookup a0_asks"] != 1 || len(done) != 6 || ordered["/orders/12"] != 1 {
			t.Fatalf("%d rows, %v, %v of\n%s", rows, done, ordered, want)
		}
		marked := 0
		for dies := 1; dies <= rows; dies += 2 {
			st, s, shop := begin(&enginetest.Journal{DieAfter: dies})
			kill(t, st)
			st.journal, st.more = st.journal.Reopen(), services(s) // another process shares no request in flight
			st.resume = st.journal.Resumption()
			if len(st.resume.Done) < agents && st.resume.Cycle == 0 {
				st.run(t)
			}
			if got := enginetest.Results(st.journal.Sessions()); got != want {
				t.Fatalf("limit %d, killed after row %d:\n got %s\nwant %s", limit, dies, got, want)
			}
			again := 0
			for name, n := range s.counted() {
				again += n - done[name]
			}
			for path, n := range shop.seen {
				again += n - ordered[path]
			}
			unconfirmed := 0
			for _, row := range st.journal.Sessions() {
				for _, step := range row.Steps {
					if step.Label == engine.Unconfirmed {
						unconfirmed++
					}
				}
			}
			marked += unconfirmed
			if again > unconfirmed {
				t.Errorf("limit %d, killed after row %d: %d calls were done twice, %d are marked", limit, dies, again, unconfirmed)
			}
		}
		if marked == 0 {
			t.Errorf("limit %d: no kill came between a call and its answer", limit)
		}
	}
}

// TestListOfToolsIsKept checks that a resumed run has the tools that it began with, whatever the server has by then.
func TestListOfToolsIsKept(t *testing.T) {
	o := &oracle{}
	stop := true
	o.answer = func(q asking) (int, string) {
		if q.last() == "more" && stop {
			return broken, ""
		}
		return 200, "ok " + fmt.Sprint(len(q.Tools))
	}
	first, second := newServer(t, "failing"), newServer(t)
	const work = "step a: {kind: llm, service: model, prompt: hi, tools: [mcp:crm]}\nstep b: {kind: llm, service: model, prompt: more, tools: [mcp:crm]}\nstep c: {kind: emit, event: e, data: \"${steps.b.text}\"}"
	change := func(s *engine.Settings) { s.Retry.Attempts = 1 }
	st := stage{steps: work, journal: &enginetest.Journal{DieAfter: 4}, more: append(o.models(t), first.crm(t, Repeats{}, "mcp-hunter2")), change: change}
	kill(t, st)
	stop = false
	st.journal = st.journal.Reopen()
	st.resume = st.journal.Resumption()
	st.more = append(o.models(t), second.crm(t, Repeats{}, "mcp-hunter2"))
	if row := st.one(t); events(&row) != `e="ok 2"` {
		t.Errorf("%s %s", events(&row), row.Error)
	}
}

// TestToolMistakes checks the errors of a file with mistakes about tools.
func TestToolMistakes(t *testing.T) {
	for _, tt := range []struct{ step, others, want string }{
		{"tools: [fynd]", ownTools, "there is no tool fynd"},
		{"tools: [find, find]", ownTools, "the tool find is listed twice"},
		{"tools: [mcp:crm, mcp:crm.lookup]", "", "these tools of crm are listed twice"},
		{"tools: [mcp:shop]", "", "the service shop is of kind http, this step needs mcp"},
		{"tools: [mcp:crn]", "", "there is no service crn"},
		{"tools: []", ownTools, "no tools"},
		{"tools: [find], stream: true", ownTools, "`stream` does not combine with `tools`"},
		{"tools: [find], cache: {a: agent.id}", ownTools, "`cache` does not combine with `tools`"},
		{"tools: [find], extra: {tools: []}", ownTools, "tools in `extra` do not combine with `tools`"},
		{"tool_limits: {rounds: 3}", "", "limits of tools, but the step has none"},
		{"tools: [find], tool_limits: {rounds: 0}", ownTools, "rounds"},
		{"", "tools:\n  answer: {about: x, call: 1}\n", "a tool cannot be called answer"},
		{"", "tools:\n  x: {about: x}\n", "the tool x does nothing"},
		{"", "tools:\n  x: {call: 1}\n", "about"},
		{"", "tools:\n  x: {about: x, chain: nowhere}\n", "there is no chain nowhere"},
		{"", "tools:\n  x: {about: x, call: steps.a}\n", "steps"},
		{"tools: [x]", "tools:\n  x: {about: x, chain: test}\n", "a cycle of chains: test runs test"},
	} {
		crm := &Service{Name: "crm", Kind: "mcp"}
		model := &Service{Name: "model", Kind: "llm"}
		st := stage{steps: "step a: {kind: llm, service: model, prompt: hi, " + tt.step + "}", others: tt.others, functions: ownFunctions, more: []*Service{crm, model}}
		_, report, _ := st.read(t)
		if err := report.Err(); err == nil || !strings.Contains(fmt.Sprint(report.Problems()), tt.want) {
			t.Errorf("%s %s: %v, want %q", tt.step, tt.others, report.Problems(), tt.want)
		}
	}
	batched := &Service{Name: "model", Kind: "llm"}
	batched.Batch = &batch.Config{}
	st := stage{steps: "step a: {kind: llm, service: model, prompt: hi, tools: [find]}", others: ownTools, functions: ownFunctions, more: []*Service{batched}}
	if _, report, _ := st.read(t); !strings.Contains(fmt.Sprint(report.Problems()), "the service model sends its calls in batches") {
		t.Errorf("batches: %v", report.Problems())
	}
}

// TestTraceShowsTools checks that a trace has the arguments and the results of calls.
func TestTraceShowsTools(t *testing.T) {
	o := says("call find {\"words\":\"tea\"}\ncall fails {}", "done")
	w := &Watch{Trace: &Trace{}}
	stage{steps: "step a: {kind: llm, service: model, prompt: hi, tools: [find, fails]}", others: ownTools, functions: ownFunctions, more: o.models(t), watch: w}.one(t)
	for path, want := range map[string]string{
		"a[0].find":  `{"arguments":{"words":"tea","most":null},"result":"TEA!"} `,
		"a[1].fails": `{"arguments":{},"result":null} test.star:2:9: fail: no luck for a0`,
	} {
		s := w.Trace.Steps[path]
		if s == nil || string(s.Output)+" "+s.Error != want || s.Step.Kind != "tool" {
			t.Errorf("%s: %+v, want %s", path, s, want)
		}
	}
}

// TestExpectedUseOfTools checks the requests that are expected before a run.
func TestExpectedUseOfTools(t *testing.T) {
	o := says("done")
	st := stage{steps: "step a: {kind: llm, service: model, prompt: hi, tools: [find, order, mcp:crm], tool_limits: {rounds: 2}}", others: ownTools, functions: ownFunctions, more: append(o.models(t), &Service{Name: "crm", Kind: "mcp"})}
	c, report, _ := st.read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range c.Expect() {
		got = append(got, counted(r))
	}
	if want := []string{"model 1 to 3", "shop 0 to 32", "crm 0 to 32"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var asks []string
	for _, a := range c.Asking() {
		asks = append(asks, fmt.Sprint(a.Path, " ", a.Service.Name, " ", a.Writes))
	}
	if want := []string{"a model false", "a.order.buy shop true", "a.crm crm true"}; !slices.Equal(asks, want) {
		t.Errorf("%q, want %q", asks, want)
	}
	text, err := json.Marshal(c.Graph())
	if err != nil || !strings.Contains(string(text), `"a.order.buy"`) {
		t.Errorf("%s %v", text, err)
	}
}
