package mock

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTopics(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"What do you think of the gardens in Lisbon, and of THE END?", "gardens Lisbon"},
		{"I just moved here", "moved"},
		{"Say yes or no", ""},
		{"Cheese. The cheese, a Cheese; the 1000 cheeses of abc1234", "cheese cheeses"},
		{"über die Gärten der Stadt", "über Gärten Stadt"},
	} {
		got := strings.Join(topics(c.text), " ")
		if got != c.want {
			t.Errorf("%q is about %q, want %q", c.text, got, c.want)
		}
	}
	many := strings.Builder{}
	for i := range 100 {
		fmt.Fprintf(&many, "the topic%s ", strings.Repeat("x", i%20))
	}
	if got := topics(many.String()); len(got) > topicsMost {
		t.Errorf("%d topics", len(got))
	}
}

func TestAskedLength(t *testing.T) {
	for _, c := range []struct {
		text             string
		words, sentences int
	}{
		{"Tell me in 12 words.", 12, 0},
		{"One sentence, please", 0, 1},
		{"answer in THREE sentences", 0, 3},
		{"in one word", 1, 0},
		{"as many words as you like", 0, 0},
		{"99999 words", 0, 0},
	} {
		if words, sentences := askedLength(c.text); words != c.words || sentences != c.sentences {
			t.Errorf("%q asks for %d words, %d sentences", c.text, words, sentences)
		}
	}
}

// TestProseKeepsToItsLength requests many lengths.
func TestProseKeepsToItsLength(t *testing.T) {
	for i := range 100 {
		key := testRoot(uint64(i))
		for _, n := range []int{1, 7, 30, 120} {
			talk := newTalk([]message{{role: "user", text: fmt.Sprintf("Write %d words about the bridges of Porto", n)}})
			if got := len(strings.Fields(talk.prose(key, 0))); got > n || got < n*3/4 {
				t.Errorf("%d words, want %d", got, n)
			}
			talk = newTalk([]message{{role: "user", text: fmt.Sprintf("%d sentences about the bridges of Porto", min(n, 40))}})
			text := talk.prose(key, 0)
			if got := strings.Count(text, ".") + strings.Count(text, "?"); got != min(n, 40) {
				t.Errorf("%d sentences, want %d: %s", got, min(n, 40), text)
			}
		}
	}
}

// TestProseUsesTheWordsOfTheConversation checks that an answer is about the question and about the role in the
// instructions.
func TestProseUsesTheWordsOfTheConversation(t *testing.T) {
	talk := newTalk([]message{
		{role: "system", text: "You are Maria, a botanist who loves orchids."},
		{role: "user", text: "How would you cross the mountains with a camel?"},
	})
	own := 0
	for i := range 50 {
		text := talk.prose(testRoot(uint64(i)), 0)
		if !strings.Contains(strings.ToLower(text), "mountains") && !strings.Contains(strings.ToLower(text), "camel") {
			t.Errorf("%q is about something else", text)
		}
		if strings.Contains(text, "rchids") {
			own++
		}
		sentences := strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '?' })
		slices.Sort(sentences)
		if len(slices.Compact(sentences)) < len(sentences)-1 {
			t.Errorf("%q repeats itself", text)
		}
	}
	if own < 5 {
		t.Errorf("Maria mentioned orchids %d times out of 50", own)
	}
}

// converse makes two personas talk until one ends the conversation, and returns their messages.
func converse(t *testing.T, seed uint64, instructions string, most int) []string {
	t.Helper()
	m := indoorModel(ModelConfig{Seed: seed}, nil)
	said := []string{"I moved here in winter. Where do you find good cheese?"}
	for len(said) < most {
		history := []message{{role: "system", text: instructions}}
		for i, text := range said {
			history = append(history, message{role: []string{"assistant", "user"}[(len(said)-i)%2], text: text})
		}
		answer, no := m.complete(&chatRequest{model: "mock-1", messages: history, format: format{kind: "text"}})
		if no != nil {
			t.Fatal(no.Message)
		}
		said = append(said, answer.Text)
		if strings.Contains(answer.Text, endSign) {
			break
		}
	}
	return said
}

// TestConversationsEnd checks that a conversation ends only if a message names the sign, not before some turns, and
// always at some point.
func TestConversationsEnd(t *testing.T) {
	lengths := map[int]int{}
	for seed := range uint64(200) {
		said := converse(t, seed, "You are a baker. When the talk is over, end your message with [END].", 40)
		lengths[len(said)]++
		last := said[len(said)-1]
		if !strings.HasSuffix(last, " "+endSign) {
			t.Errorf("seed %d: %d turns and no end: %q", seed, len(said), last)
		}
		if len(said) <= endAfter {
			t.Errorf("seed %d ends after %d turns", seed, len(said))
		}
		seen := map[string]bool{}
		for _, text := range said {
			if seen[text] {
				t.Errorf("seed %d: %q occurs twice", seed, text)
			}
			seen[text] = true
		}
	}
	if len(lengths) < 5 {
		t.Errorf("all conversations are alike: %v", lengths)
	}
	if said := converse(t, 1, "You are a baker.", 40); len(said) != 40 || strings.Contains(strings.Join(said, ""), endSign) {
		t.Errorf("a conversation without a sign ended after %d turns", len(said))
	}
	// The answer to a goodbye is a goodbye.
	talk := newTalk([]message{{role: "system", text: "Use [END]"}, {role: "user", text: "a"}, {role: "assistant", text: "b"}, {role: "user", text: "So long. [END]"}})
	if text := talk.prose(testRoot(1), 0); !strings.HasSuffix(text, endSign) {
		t.Errorf("the answer to a goodbye is %q", text)
	}
}

// TestTranscriptsCountAsTurns checks that a prompt that contains the conversation has as many turns as messages would
// have.
func TestTranscriptsCountAsTurns(t *testing.T) {
	prompt := "Continue; write [END] when it is over.\n" + strings.Repeat("Ann: How are the gardens?\nBela Kun: Fine.\n", 10)
	if talk := newTalk([]message{{role: "user", text: prompt}}); talk.turns != 21 || !strings.HasSuffix(talk.prose(testRoot(1), 0), endSign) {
		t.Errorf("%d turns", talk.turns)
	}
}

// TestProseOfAnything checks that any conversation has an answer within its limit, of whole characters.
func TestProseOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var messages []message
		for range rapid.IntRange(1, 6).Draw(t, "messages") {
			messages = append(messages, message{role: rapid.SampledFrom(roles).Draw(t, "role"), text: rapid.String().Draw(t, "text")})
		}
		q := &chatRequest{model: "mock-1", messages: messages, most: rapid.IntRange(0, 50).Draw(t, "most"), format: format{kind: "text"}}
		c, no := indoorModel(ModelConfig{}, nil).complete(q)
		if no != nil || c.Text == "" || !utf8.ValidString(c.Text) || q.most > 0 && c.Completion > q.most {
			t.Fatalf("%d tokens of %d: %q %v", c.Completion, q.most, c.Text, no)
		}
		if strings.Join(pieces(c.Text), "") != c.Text {
			t.Fatalf("the pieces of %q are %q", c.Text, pieces(c.Text))
		}
	})
}
