package chain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/retrieval"
)

// compass is an oracle whose embeddings point in the direction that a text begins with: its numbers, or 1 and the length of the text.
func compass() *oracle {
	return &oracle{answer: func(q asking) (int, string) {
		var data []string
		for i, text := range q.Input {
			numbers := fmt.Sprintf("[1,%d]", len(text))
			if word, _, _ := strings.Cut(text, " "); strings.HasPrefix(word, "[") && !strings.Contains(word, `"`) {
				numbers = word
			}
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, numbers))
		}
		return 200, fmt.Sprintf(`{"data":[%s],"usage":{"prompt_tokens":%d,"total_tokens":%[2]d}}`, strings.Join(data, ","), 10*len(q.Input))
	}}
}

// texts returns the texts that the oracle was asked to embed, one list for each request.
func (o *oracle) texts() (all []string) {
	for _, q := range o.asked() {
		all = append(all, strings.Join(q.Input, "|"))
	}
	return all
}

// cycles returns a change of the settings.
func cycles(n int) func(*engine.Settings) { return func(s *engine.Settings) { s.Cycles = n } }

// TestRecallByHand runs four cycles and checks scores that were computed by hand. The decay is 0.5; each cycle has a note. In cycle 3, the
// notes of the cycles 0, 1 and 2 have the cosines 1, 0 and -1. Note 0 was recalled in the cycles 1 and 2, so the ages are 1, 2 and 1, and
// recency is 0.5, 0.25 and 0.5. Importance is 4, 2 and 3.
func TestRecallByHand(t *testing.T) {
	o := compass()
	st := stage{change: cycles(4), more: o.models(t), journal: &enginetest.Journal{}, functions: "NOTES = ['[127,0] a', '[0,127] b', '[-127,0] c', '[127,127] d']", steps: `
step recall: {kind: recall, service: model, query: "[127,0] ${session.cycle}", top: "${1 if session.cycle < 3 else 3}", decay: 0.5}
step tell: {kind: emit, event: e, data: "${[[n.text, n.cycle, n.score, n.similarity, n.recency, n.importance, n.note.extra] for n in steps.recall]}"}
step note: {kind: remember, note: {text: "${NOTES[session.cycle]}", importance: "${[4, 2, 3, 9][session.cycle]}", extra: "${session.cycle}"}}
`}
	rows := st.run(t)
	want := []string{
		`e=[]`, // no notes: nothing is asked
		`e=[["[127,0] a",0,1.5,1,0.5,4,0]]`,
		`e=[["[127,0] a",0,2.5,1,0.5,4,0]]`,
		// similarity 1, 0.5 and 0; recency 1, 0 and 1; importance 1, 0 and 0.5
		`e=[["[127,0] a",0,3,1,0.5,4,0],["[-127,0] c",2,1.5,-1,0.5,3,2],["[0,127] b",1,0.5,0,0.25,2,1]]`,
	}
	for i := range rows {
		if got := events(&rows[i]); got != want[i] {
			t.Errorf("cycle %d\n got %s\nwant %s", i, got, want[i])
		}
	}
	// Each note was embedded once, together with the query.
	if got, want := fmt.Sprint(o.texts()), "[[127,0] 1|[127,0] a [127,0] 2|[0,127] b [127,0] 3|[-127,0] c]"; got != want {
		t.Errorf("asked for\n%s, want\n%s", got, want)
	}
	if u := rows[3].Steps[0].Usage; u == nil || *u != (engine.Usage{Calls: 1, Input: 20, Cost: 20000}) {
		t.Errorf("usage %+v", u)
	}
	if m := st.journal.MemoryAt(4)[0]; len(m.Kept) != 4 || retrieval.Size(m.Kept) != 4*48+3*10 { // the newest note has no embedding yet
		t.Errorf("kept with notes: %v", m.Kept)
	}
}

// TestRecallOfNotes checks which texts are embedded, for notes of all kinds.
func TestRecallOfNotes(t *testing.T) {
	for _, tt := range []struct{ notes, keys, result, texts string }{
		{`["one", "three"]`, "", `["one","three"]`, "q|one|three"},
		{`["one", "one", "two"]`, "", `["two","one"]`, "q|one|two"}, // equal notes are one note
		{`["one", "", None]`, "", `["one"]`, "q|one"},
		{`[""]`, "", `[]`, ""},
		{`[{"text": "one", "n": 1}, {"says": "two"}, 3, ["x"]]`, "", `["3","one","[\"x\"]","{\"says\":\"two\"}"]`, `q|one|{"says":"two"}|3|["x"]`},
		{`[{"text": "one", "says": "more"}, "two"]`, "fields: {text: says}", `["two","more"]`, "q|more|two"},
		{`[{"text": "a", "importance": 1}, {"text": "b", "importance": 3}, {"text": "c"}]`, "weights: {similarity: 0}", `["b","c","a"]`, "q|a|b|c"},
		{`[{"text": "a", "grade": 3}, {"text": "b", "grade": 1}]`, "weights: {similarity: 0}, fields: {importance: grade}", `["a","b"]`, "q|a|b"},
		{`[{"text": "a", "grade": 3}, {"text": "b", "grade": 1}]`, "weights: {similarity: 0, importance: 0}, fields: {importance: grade}", `["b","a"]`, "q|a|b"},
		{`["a"] + ["note %d" % i for i in range(299)]`, "top: 1", `["a"]`, ""},
	} {
		o := compass()
		row := stage{more: o.models(t), functions: "NOTES = " + tt.notes, steps: `
step keep: {kind: remember, keep: "${NOTES}"}
step recall: {kind: recall, service: model, query: q` + comma(tt.keys) + `}
step tell: {kind: emit, event: e, data: "${[n.text for n in steps.recall]}"}
`}.one(t)
		if got := events(&row); got != "e="+tt.result || row.Outcome != engine.OK {
			t.Errorf("%s: %s, want %s: %s", tt.notes, got, tt.result, row.Error)
		}
		if got := o.texts(); tt.texts != "" && fmt.Sprint(got) != "["+tt.texts+"]" || tt.texts == "" && tt.result == "[]" && len(got) > 0 {
			t.Errorf("%s: asked for %s, want %s", tt.notes, got, tt.texts)
		}
		if calls := len(o.asked()); strings.Contains(tt.notes, "range(299)") && (calls != 2 || row.Steps[1].Attempts != 2) {
			t.Errorf("300 notes were embedded in %d calls, %d attempts", calls, row.Steps[1].Attempts)
		}
	}
}

func comma(keys string) string {
	if keys == "" {
		return ""
	}
	return ", " + keys
}

// TestRecallFailures checks what cannot be recalled, and that it costs nothing unless it was sent.
func TestRecallFailures(t *testing.T) {
	for _, tt := range []struct{ step, answer, class, want string }{
		{`query: "${agent.memory.none}"`, "", "script", "the query is empty"},
		{`query: q, top: "${session.cycle}"`, "", "script", "top is 0; it must be a number of notes from 1 to 1000"},
		{`query: q, top: "${agent.memory.x}"`, "", "script", "top is 1.5"},
		{`query: q, weights: {recency: "${session.cycle - 3}"}`, "", "script", "recency is from 0 to 1000, not -3"},
		{`query: q, decay: "${agent.memory.x}"`, "", "script", "decay is from 0 to 1, not 1.5"},
		{`query: q, fields: {importance: text}`, "", "script", "the text of a note is"},
		{`query: q`, `404 {"error": {"message": "no embeddings here"}}`, "client_error", "no embeddings here"},
		{`query: q`, `200 {"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}`, "bad_answer", "embeddings of 2 and of 1 numbers in one answer"},
		{`query: q`, `200 {"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[0,1]}]}`, "bad_answer", "only zeros"},
		{`query: q`, `200 {"data":[{"index":0,"embedding":[NaN]},{"index":1,"embedding":[1]}]}`, "bad_answer", "cannot be read"},
		{`query: q`, `200 {"data":[{"index":0,"embedding":[1e99]},{"index":1,"embedding":[1]}]}`, "bad_answer", "cannot be read"},
		{`query: q, dimensions: 3`, `200 {"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2]}]}`, "bad_answer", "returned embeddings of 2 numbers, not 3"},
	} {
		o := compass()
		if tt.answer != "" {
			o = says(tt.answer)
		}
		row := stage{more: o.models(t), steps: `
step keep: {kind: remember, set: {x: 1.5}, note: {text: a}}
step recall: {kind: recall, service: model, retry: {attempts: 1}, ` + tt.step + `}
`}.one(t)
		if row.Path != "recall" || row.Class.String() != tt.class || !strings.Contains(row.Error, tt.want) || tt.answer == "" && tt.want != "the text of a note is" && len(o.asked()) > 0 {
			t.Errorf("%s, %s: %q at %s, %v, %d calls, want %q", tt.step, tt.answer, row.Error, row.Path, row.Class, len(o.asked()), tt.want)
		}
	}
	o := compass()
	row := stage{more: o.models(t), functions: "NOTES = [str(i) for i in range(5001)]", steps: `
step keep: {kind: remember, keep: "${NOTES}"}
step recall: {kind: recall, service: model, query: q}
`}.one(t)
	if !strings.Contains(row.Error, "the agent has 5001 notes; at most 5000 can be compared") || len(o.asked()) > 0 {
		t.Errorf("5001 notes: %s, %d calls", row.Error, len(o.asked()))
	}
}

// TestRecallMistakes checks the errors of a file.
func TestRecallMistakes(t *testing.T) {
	for step, want := range map[string]string{
		"query: q":                                            "`service`",
		"service: model":                                      "`query`",
		"service: shop, query: q":                             "llm",
		`service: model, query: ""`:                           "the query is empty",
		"service: model, query: q, top: 0":                    "top is 0; it must be a number of notes from 1 to 1000",
		"service: model, query: q, top: all":                  `top is "all"`,
		"service: model, query: q, weights: {similarity: -1}": "similarity is from 0 to 1000, not -1",
		"service: model, query: q, weights: {likeness: 1}":    "likeness",
		"service: model, query: q, decay: 1.1":                "decay is from 0 to 1, not 1.1",
		"service: model, query: q, fields: {note: x}":         "note",
		"service: model, query: q, dimensions: 0":             "1",
	} {
		st := stage{steps: "step a: {kind: recall, " + step + "}", more: compass().models(t)}
		_, report, _ := st.read(t)
		var b strings.Builder
		for _, p := range report.Problems() {
			b.WriteString(p.Problem + " " + p.Hint + "\n")
		}
		if report.Err() == nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %s, want %s", step, b.String(), want)
		}
	}
}

// TestRecallAfterConsolidation checks that the embeddings of notes that have gone go, and that those which stay are not requested again.
func TestRecallAfterConsolidation(t *testing.T) {
	o := compass()
	st := stage{change: cycles(5), more: o.models(t), journal: &enginetest.Journal{}, steps: `
step note: {kind: remember, note: "note ${session.cycle}", keep: 3}
step recall: {kind: recall, service: model, query: "q", top: 1}
step tidy: {kind: remember, when: session.cycle == 3, keep: "${[agent.notes[1], 'in short']}"}
step cycles: {kind: emit, event: e, data: "${agent.notes}"}
`}
	rows := st.run(t)
	if got, want := fmt.Sprint(o.texts()), "[q|note 0 q|note 1 q|note 2 q|note 3 q|in short|note 4]"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
	m := st.journal.MemoryAt(5)[0]
	var got []string
	for _, note := range m.Notes {
		k, ok := retrieval.Of(m.Kept, retrieval.Key(note))
		got = append(got, fmt.Sprintf("%s %v %d", note, ok && len(k.Vector) > 0, k.Cycle))
	}
	if want := `["note 2" true 2 "in short" true 3 "note 4" true 4]`; fmt.Sprint(got) != want || len(m.Kept) != 3 {
		t.Errorf("%s, %d kept, want %s: %s", got, len(m.Kept), want, events(&rows[4]))
	}
}

// TestRecallWithAnotherModel checks that embeddings of another model, of another length, or of another field are not compared: the notes
// are embedded again, once. So are those whose embeddings changed their length although the model has the same name.
func TestRecallWithAnotherModel(t *testing.T) {
	length := 2
	o := &oracle{answer: func(q asking) (int, string) {
		var data []string
		for i := range q.Input {
			numbers, _ := json.Marshal(slices.Repeat([]int{i + 1}, length))
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, numbers))
		}
		return 200, `{"data":[` + strings.Join(data, ",") + `]}`
	}}
	services := o.models(t)
	st := stage{more: services, agents: 1, journal: &enginetest.Journal{}, change: cycles(1)}
	step := "step keep: {kind: remember, note: a, when: session.cycle == 0}\nstep recall: {kind: recall, service: model, query: q}"
	run := func(cycle int, step, want string) {
		t.Helper()
		before := len(o.texts())
		st.steps, st.change = step, cycles(cycle)
		if rows := st.run(t); rows[len(rows)-1].Outcome != engine.OK {
			t.Fatalf("cycle %d: %s", cycle, rows[len(rows)-1].Error)
		}
		if got := fmt.Sprint(o.texts()[before:]); got != want {
			t.Errorf("cycle %d: asked for %s, want %s", cycle, got, want)
		}
		st.journal = st.journal.Reopen()
		st.resume = st.journal.Resumption()
	}
	run(1, step, "[q|a]")
	run(2, step, "[q]")
	services[0].Embeds = "m2"
	run(3, step, "[q|a]")
	run(4, step, "[q]")
	length = 3 // the model was replaced
	run(5, step, "[q a]")
	run(6, step, "[q]")
	run(7, strings.Replace(step, "query: q", "query: q, dimensions: 3", 1), "[q|a]")
	run(8, strings.Replace(step, "query: q", "query: q, fields: {text: other}", 1), "[q|a]")
}

// TestRecallInParallel checks that recall steps that run at the same time keep the embeddings of both, and the notes of a third.
func TestRecallInParallel(t *testing.T) {
	for _, mode := range modes {
		o := compass()
		st := stage{change: func(s *engine.Settings) {
			if s.Cycles = 2; mode.change != nil {
				mode.change(s)
			}
		}, more: o.models(t), journal: &enginetest.Journal{}, steps: `
step first: {kind: remember, note: "one ${session.cycle}"}
step near: {kind: recall, service: model, query: "near", parallel: true, top: 1}
step far: {kind: recall, service: model, query: "far away", parallel: true, top: 1}
step other: {kind: remember, note: "two ${session.cycle}", parallel: true}
`}
		st.run(t)
		if m := st.journal.MemoryAt(2)[0]; len(m.Notes) != 4 || len(m.Kept) != 4 {
			t.Errorf("%s: %q, kept %v", mode.name, m.Notes, m.Kept)
		}
		counts := map[string]int{}
		for _, q := range o.asked() {
			for _, text := range q.Input {
				counts[text]++
			}
		}
		if want := map[string]int{"near": 2, "far away": 2, "one 0": 2, "one 1": 2, "two 0": 2}; fmt.Sprint(counts) != fmt.Sprint(want) {
			t.Errorf("%s: asked for %v, want %v", mode.name, counts, want)
		}
	}
}

// diary has an agent that keeps many notes at first, recalls some in each cycle, and drops most of them in the third.
const diary = `
step many: {kind: remember, when: session.cycle == 0, keep: "${['note %d of %s' % (i, agent.id) for i in range(260)]}"}
step recall: {kind: recall, service: model, query: "${agent.id} in ${session.cycle}", top: 2, decay: 0.9}
step note: {kind: remember, note: {text: "${agent.id} ${[n.text for n in steps.recall]}", importance: "${agent.index + session.cycle % 2}"}, keep: 300}
step again: {kind: recall, service: model, query: "${agent.id} again in ${session.cycle}", top: 3, when: session.cycle % 2 == 1}
step tidy: {kind: remember, when: session.cycle == 2, keep: "${[n.note for n in steps.recall]}"}
step tell: {kind: emit, event: e, data: "${[steps.recall, steps.again]}"}
`

// TestEveryCrashOfRecall kills a run after each row of its journal and resumes it. It checks that results and memory equal those of a run
// that was never killed, that only calls in flight at the kill are repeated, and that the concurrency limit does not matter.
func TestEveryCrashOfRecall(t *testing.T) {
	const agents, cycles = 3, 4
	start := func(limit, dies int) (stage, *oracle) {
		o := compass()
		return stage{steps: diary, agents: agents, more: o.models(t), journal: &enginetest.Journal{DieAfter: dies}, change: func(s *engine.Settings) {
			s.Cycles, s.Limit, s.Ceiling = cycles, limit, limit
		}}, o
	}
	bodies := func(o *oracle) map[string]int {
		all := map[string]int{}
		for _, q := range o.asked() {
			all[q.body]++
		}
		return all
	}
	calm, o := start(1, 0)
	want := enginetest.Results(calm.run(t))
	memory, calls, rows := enginetest.ShowMemory(calm.journal.MemoryAt(cycles)), bodies(o), len(calm.journal.Rows())
	if len(calls) != agents*(cycles+2+1) || rows < 40 || !strings.Contains(want, `"score":`) {
		t.Fatalf("%d calls, %d rows of\n%s", len(calls), rows, want)
	}
	wide, _ := start(64, 0)
	if got := enginetest.Results(wide.run(t)); got != want {
		t.Errorf("at a limit of 64:\n%s\nwant\n%s", got, want)
	}
	for dies := 1; dies <= rows; dies++ {
		st, o := start(64, dies)
		kill(t, st)
		st.journal = st.journal.Reopen()
		st.resume = st.journal.Resumption()
		before := bodies(o)
		if st.resume.Cycle < cycles {
			st.run(t)
		}
		if got := enginetest.Results(st.journal.Sessions()); got != want {
			t.Fatalf("killed after row %d:\n got %s\nwant %s", dies, got, want)
		}
		if got := enginetest.ShowMemory(st.journal.MemoryAt(cycles)); got != memory {
			t.Fatalf("killed after row %d: the memory is\n%s\nwant\n%s", dies, got, memory)
		}
		checkCalls(t, dies, st.resume, calls, before, bodies(o))
	}
}

// TestRecallIsTraced checks that what was recalled is shown with the step, and in the trace of the session.
func TestRecallIsTraced(t *testing.T) {
	var mu sync.Mutex
	var exchanges []string
	watch := &Watch{Trace: &Trace{}}
	st := stage{more: compass().models(t), watch: watch, tracer: func(e engine.Exchange) {
		mu.Lock()
		defer mu.Unlock()
		exchanges = append(exchanges, fmt.Sprintf("%s %d %s %s: %s", e.Path, e.Attempt, e.Service, e.Request, e.Answer))
	}, steps: `
step keep: {kind: remember, note: a}
step recall: {kind: recall, service: model, query: "q"}
`}
	st.one(t)
	if got := string(watch.Trace.Steps["recall"].Output); !strings.Contains(got, `"text":"a","cycle":0,"score":1.5`) {
		t.Errorf("the step shows %s", got)
	}
	if len(exchanges) != 2 || !strings.HasPrefix(exchanges[0], "recall 1 model m1: ") || !strings.HasPrefix(exchanges[1], `recall 0  query of notes: [{"text":"a","cycle":0,`) {
		t.Errorf("the trace has %q", exchanges)
	}
}

// TestCallsOfRecallHoldNoMemory checks that a long answer to a call of a step holds no memory during the next calls.
func TestCallsOfRecallHoldNoMemory(t *testing.T) {
	o := compass()
	embed := o.answer
	o.answer = func(q asking) (int, string) {
		status, text := embed(q)
		return status, strings.Replace(text, "{", `{"more":"`+strings.Repeat("x", 300_000)+`",`, 1)
	}
	row := stage{more: o.models(t), memory: 48 << 20, functions: "NOTES = [str(i) for i in range(5000)]", steps: `
step keep: {kind: remember, keep: "${NOTES}"}
step recall: {kind: recall, service: model, query: q}
`}.one(t)
	if calls := len(o.asked()); row.Outcome != engine.OK || calls < 20 {
		t.Errorf("%d calls: %s", calls, row.Error)
	}
}
