package voices_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/voices"
)

// sentence returns an answer of random words of a vocabulary, which begins with a letter.
func sentence(r *rand.Rand, vocabulary string) string {
	words := make([]string, 15)
	for i := range words {
		words[i] = fmt.Sprintf("%s%d", vocabulary, r.IntN(300))
	}
	return strings.Join(words, " ")
}

// crowd measures a crowd of 100 agents.
func crowd(t *testing.T, answer func(agent int) string) *voices.Voice {
	t.Helper()
	var c voices.Collector
	for agent := range 100 {
		c.Add(voices.Answer{Agent: agent, Step: "ask", Text: answer(agent)})
	}
	all, err := c.Crowd(func(agent int) ([]engine.Fact, error) {
		return []engine.Fact{{Name: "half", Value: fmt.Sprint(agent / 50)}, {Name: "name", Value: fmt.Sprint(agent)}, {Name: "all", Value: "same"}}, nil
	})
	if err != nil || len(all.Steps) != 1 {
		t.Fatalf("%d steps, %v", len(all.Steps), err)
	}
	return &all.Steps[0]
}

func TestDistinctCrowd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	v := crowd(t, func(int) string { return sentence(r, "word") })
	if v.Different != 100 || math.Abs(v.Effective-100) > 1e-9 || v.Coverage != 1 || math.Abs(v.Uniformity-1) > 1e-9 || v.Distance < 0.9 || v.Complexity < 0.4 || v.Warning != "" || v.Refusals != 0 {
		t.Errorf("got %+v, want 100 answers that differ and no warning", v)
	}
}

func TestCollapsedCrowd(t *testing.T) {
	const same = "As a busy person I value quality and price, so I would buy it today"
	v := crowd(t, func(agent int) string { return same + strings.Repeat("!", agent%3) })
	if v.Different != 1 || v.Effective != 1 || v.Coverage != 0.01 || v.Uniformity != 0 || v.Distance != 0 || v.Complexity > 0.1 {
		t.Errorf("got %+v, want one answer", v)
	}
	if !strings.Contains(v.Warning, "agents answer alike") || len(v.Phrases) == 0 || v.Phrases[0].Share != 1 {
		t.Errorf("the warning is %q with %v, want one, and a phrase that all say", v.Warning, v.Phrases)
	}
}

// TestHalfCollapsedCrowd: the effective number of 50 equal answers and 50 different ones is exp(ln 2 / 2 + ln 100 / 2).
func TestHalfCollapsedCrowd(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	v := crowd(t, func(agent int) string {
		if agent < 50 {
			return "It depends on the price and on the quality of the product, I think"
		}
		return sentence(r, "word")
	})
	if want := math.Sqrt(200); v.Different != 51 || math.Abs(v.Effective-want) > 1e-9 || v.Coverage != 0.51 || v.Largest != 0.5 {
		t.Errorf("got %+v, want 51 different answers and an effective number of %.2f", v, want)
	}
	if !strings.Contains(v.Warning, "vary only as much as 14 different answers would") {
		t.Errorf("the warning is %q", v.Warning)
	}
	if s := v.Segments; len(s) != 1 || s[0].Attribute != "half" || s[0].Between < 0.9 || s[0].Within > 0.6 {
		t.Errorf("the segments are %+v, want only half, with more distance between its values than within", s)
	}
}

// TestSharedPhrase: answers differ, but most begin in the same way.
func TestSharedPhrase(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	v := crowd(t, func(agent int) string {
		if agent < 60 {
			return "Honestly, for me personally " + sentence(r, "word")
		}
		return sentence(r, "word")
	})
	if len(v.Phrases) != 1 || v.Phrases[0] != (voices.Phrase{Text: "honestly for me personally", Share: 0.6}) || !strings.Contains(v.Warning, "60% of 100 agents say") {
		t.Errorf("got %v and %q, want one phrase of 60%% with a warning", v.Phrases, v.Warning)
	}
}

func TestRefusals(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	refusals := []string{"I'm sorry, but I can't help with that", "I cannot answer as this person", "As an AI, I have no opinion", "I’m unable to say", "Sorry, no"}
	v := crowd(t, func(agent int) string {
		if agent < 20 {
			return refusals[agent%5] + " " + sentence(r, "word")
		}
		return "I can say, and I am sorry for them: " + sentence(r, "word")
	})
	if v.Refusals != 20 {
		t.Errorf("%d refusals, want 20", v.Refusals)
	}
}

// TestChoices: few different answers do not make a collapse where agents choose; a single one does.
func TestChoices(t *testing.T) {
	if v := crowd(t, func(agent int) string { return []string{"yes", "no", "maybe"}[agent%3] }); !v.Choice || v.Warning != "" || v.Different != 3 {
		t.Errorf("got %+v, want three choices and no warning", v)
	}
	if v := crowd(t, func(agent int) string { return map[bool]string{true: "no", false: "yes"}[agent == 7] }); !strings.Contains(v.Warning, "99% of 100 agents make the same choice") {
		t.Errorf("the warning is %q", v.Warning)
	}
}

// TestDistance: of {a, b, ab} and {a, c, ac}, one of five parts is common.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"a b", "a c", 0.8}, {"A, b!", "a b", 0}, {"a", "b", 1}, {"", "", 0}} {
		if got := voices.Distance(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("the distance of %q and %q is %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestSample: of many agents, the same sample is compared in whatever order they come, with the last answer of each.
func TestSample(t *testing.T) {
	measure := func(order []int) *voices.Crowd {
		var c voices.Collector
		for take := range 2 {
			for _, agent := range order {
				c.Add(voices.Answer{Agent: agent, Step: "ask", Text: fmt.Sprintf("take %d of agent %d of many", take, agent)})
			}
		}
		all, err := c.Crowd(nil)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	r := rand.New(rand.NewPCG(5, 1))
	one, other := measure(r.Perm(2000)), measure(r.Perm(2000))
	if fmt.Sprintf("%+v", one) != fmt.Sprintf("%+v", other) {
		t.Errorf("the order matters: %+v and %+v", one, other)
	}
	if v := one.Steps[0]; v.Agents != 2000 || v.Compared != voices.MostAgents || len(v.Phrases) == 0 || v.Phrases[0].Text != "take 1 of agent" {
		t.Errorf("got %+v, want 2000 agents, %d compared, and the second takes", v, voices.MostAgents)
	}
}
