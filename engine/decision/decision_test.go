package decision

import (
	"encoding/json"
	"testing"

	"github.com/throng-sim/throng/engine/internal/draw"
)

func TestLabels(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"shop":{"type":"boolean"},"mood":{"enum":["good","bad"]},"reason":{"type":"string"},"price":{"type":"number"},
		"maybe":{"anyOf":[{"enum":["a","b"]},{"type":"null"}]},"list":{"type":"array"},
		"inner":{"type":"object","properties":{"n":{"type":"integer"},"text":{"type":"string"}}}}}`
	for _, c := range []struct{ answer, want string }{
		{`{"shop":true,"reason":"because"}`, `{"shop":true}`},
		{`{"reason":"because","list":[1]}`, ``},
		{`{"price":3.0,"mood":"bad"}`, `{"mood":"bad","price":3}`},
		{`{"price":3,"mood":"bad"}`, `{"mood":"bad","price":3}`},
		{`{"maybe":"a","inner":{"text":"x","n":2}}`, `{"inner":{"n":2},"maybe":"a"}`},
		{`{"maybe":null,"shop":false}`, `{"shop":false}`},
		{`no JSON`, ``},
	} {
		if got := string(Labels([]byte(c.answer), []byte(schema))); got != c.want {
			t.Errorf("%s: %s, want %s", c.answer, got, c.want)
		}
	}
	for s, want := range map[string]bool{
		schema: true, `{"type":"object","properties":{"why":{"type":"string"}}}`: false, `{"type":["null","integer"]}`: true,
		`{"anyOf":[{"type":"string"},{"const":"x"}]}`: true, `[]`: false,
	} {
		if got := HasLabels([]byte(s)); got != want {
			t.Errorf("%s has labels: %v", s, got)
		}
	}
	if got := string(TextLabel(" yes\n")); got != `"yes"` {
		t.Errorf("label %s", got)
	}
	if got := TextLabel("a text that is far too long to be one of several choices"); got != nil {
		t.Errorf("label %s", got)
	}
}

func TestFilledAnswersFit(t *testing.T) {
	const schema = `{"type":"object","required":["shop","why","inner","list","note"],"properties":{"shop":{"type":"boolean"},"why":{"type":"string"},
		"list":{"type":"array"},"note":{"anyOf":[{"type":"string"},{"type":"null"}]},
		"inner":{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}}}`
	if got, want := string(Filled([]byte(`{"shop":true}`), []byte(schema))), `{"inner":{"text":""},"list":[],"note":null,"shop":true,"why":""}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := string(Filled([]byte(`"yes"`), []byte(schema))); got != `"yes"` {
		t.Errorf("a text became %s", got)
	}
}

func TestPlainKeepsScalars(t *testing.T) {
	got := Plain(map[string]json.RawMessage{
		"spent": []byte("3.50"), "list": []byte("[1]"), "mood": []byte(`"good"`), "vip": []byte("true"), "none": []byte("null"), "broken": []byte("{"),
	})
	if want := `{"mood":"good","spent":3.5,"vip":true}`; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := Plain(map[string]json.RawMessage{"list": []byte("[1]")}); got != nil {
		t.Errorf("%s of nothing plain", got)
	}
}

// TestSampleIsExact checks that a sample has as many agents as asked for, and that all agents are as likely to be in it.
func TestSampleIsExact(t *testing.T) {
	for _, c := range []struct{ agents, n int }{{1, 1}, {2, 1}, {3, 2}, {7, 7}, {100, 20}, {1000, 1}, {65, 64}, {5, 0}, {5, 9}} {
		for seed := range uint64(20) {
			count := 0
			for agent := range c.agents {
				if Sampled(draw.Key{}.Int(seed), agent, c.agents, c.n) {
					count++
				}
			}
			if want := min(c.n, c.agents); count != want {
				t.Fatalf("a sample of %d of %d has %d with seed %d", c.n, c.agents, count, seed)
			}
		}
	}
	const agents, n, seeds = 10, 3, 20_000
	var hits [agents]int
	for seed := range uint64(seeds) {
		for agent := range agents {
			if Sampled(draw.Key{}.Int(seed), agent, agents, n) {
				hits[agent]++
			}
		}
	}
	for agent, count := range hits {
		if share := float64(count) / seeds; share < 0.285 || share > 0.315 { // 4.6 standard errors of 0.3
			t.Errorf("agent %d is in %.3f of the samples, want 0.3", agent, share)
		}
	}
	if Sampled(draw.Key{}, -1, 10, 5) || Sampled(draw.Key{}, 10, 10, 5) {
		t.Error("an agent outside of the population is in a sample")
	}
}
