package chain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// embeds is an oracle whose vectors contain the length of a text and its index. It returns the last text first.
func embeds() *oracle {
	return &oracle{answer: func(q asking) (int, string) {
		var data []string
		for i, text := range slices.Backward(q.Input) {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,0.1,%d]}`, i, len(text), i))
		}
		return 200, `{"data":[` + strings.Join(data, ",") + `],"usage":{"prompt_tokens":4,"total_tokens":4}}`
	}}
}

func TestEmbedSteps(t *testing.T) {
	for _, tt := range []struct {
		input, result, texts string
	}{
		{`hello`, `e={"vector":[5,0.1,0],"model":"m1"}`, "[hello]"},
		{`"${agent.id}!"`, `e={"vector":[3,0.1,0],"model":"m1"}`, "[a0!]"},
		{`"${params.n}"`, `e={"vector":[1,0.1,0],"model":"m1"}`, "[3]"},
		{`[one, "${agent.id}", three]`, `e={"vectors":[[3,0.1,0],[2,0.1,1],[5,0.1,2]],"model":"m1"}`, "[one a0 three]"},
		{`"${['x']}"`, `e={"vectors":[[1,0.1,0]],"model":"m1"}`, "[x]"},
		{`[]`, `e={"vectors":[],"model":"m1"}`, ""},
		{`""`, "an empty text has no embedding", ""},
		{`[a, ""]`, "an empty text has no embedding", ""},
		{`"${['x'] * 2049}"`, "2049 texts in one embed step; at most 2048", ""},
	} {
		o := embeds()
		row := stage{
			steps: "step a: {kind: embed, service: model, input: " + tt.input + "}\nstep b: {kind: emit, event: e, data: \"${steps.a}\"}", more: o.models(t),
		}.one(t)
		got, texts := events(&row), ""
		if row.Outcome != engine.OK {
			got = row.Error
		}
		for _, q := range o.asked() {
			texts += fmt.Sprint(q.Input)
		}
		// A model's numbers are floats: 5 is one, as JSON shows it.
		if strings.ReplaceAll(got, ".0", "") != tt.result || texts != tt.texts {
			t.Errorf("%s: %s, asked for %s; want %s, %s", tt.input, got, texts, tt.result, tt.texts)
		}
		if u := row.Steps[0].Usage; texts != "" && (u == nil || *u != engine.Usage{Calls: 1, Input: 4, Cost: 4000}) {
			t.Errorf("%s: usage %+v", tt.input, u)
		}
	}
}

// TestEmbedFailures checks that an embed step fails like other steps, and is retried.
func TestEmbedFailures(t *testing.T) {
	for answers, want := range map[string]string{
		"404 none": "failed 1 client_error", "500": "failed 3 server_error", `200 {"data":[]}`: "failed 3 bad_answer",
	} {
		o := says(answers)
		row := stage{steps: "step a: {kind: embed, service: model, input: hello, retry: {attempts: 3, wait: 0}}", more: o.models(t)}.one(t)
		if got := fmt.Sprintf("%v %d %v", row.Steps[0].Status, row.Steps[0].Attempts, row.Class); got != want {
			t.Errorf("%s: %s, want %s: %s", answers, got, want, row.Error)
		}
	}
}
