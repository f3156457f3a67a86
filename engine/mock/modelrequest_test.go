package mock

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestBadRequests checks that the error names what is wrong, in the OpenAI wire format.
func TestBadRequests(t *testing.T) {
	m := indoorModel(ModelConfig{}, nil)
	message := func(one string) string { return `{"model":"mock-1","messages":[` + one + `]}` }
	schema := func(inner string) string {
		return hello(`,"response_format":{"type":"json_schema","json_schema":` + inner + `}`)
	}
	for _, c := range []struct{ path, body, param, want string }{
		{chatPath, ``, "", "could not parse"},
		{chatPath, `{"model":`, "", "could not parse"},
		{chatPath, `[]`, "", "must be a JSON object"},
		{chatPath, `null`, "", "must be a JSON object"},
		{chatPath, `{}`, "model", "Missing required parameter"},
		{chatPath, `{"model":7,"messages":[]}`, "model", "expected a string, but got a number"},
		{chatPath, `{"model":"mock-1","messages":[]}`, "messages", "empty array"},
		{chatPath, `{"model":"mock-1","messages":{}}`, "messages", "expected an array, but got an object"},
		{chatPath, message(`7`), "messages[0]", "expected an object"},
		{chatPath, message(`null`), "messages[0]", "but got null"},
		{chatPath, message(`{"content":"x"}`), "messages[0].role", "Missing"},
		{chatPath, message(`{"role":"queen","content":"x"}`), "messages[0].role", "Supported values are: system"},
		{chatPath, message(`{"role":"user"}`), "messages[0].content", "Missing"},
		{chatPath, message(`{"role":"user","content":true}`), "messages[0].content", "expected a string, but got a boolean"},
		{chatPath, message(`{"role":"user","content":[1]}`), "messages[0].content[0]", "expected an object"},
		{chatPath, message(`{"role":"user","content":[{}]}`), "messages[0].content[0].type", "Missing"},
		{chatPath, message(`{"role":"user","content":[{"type":"image_url"}]}`), "messages[0].content[0].type", "'text' only"},
		{chatPath, message(`{"role":"user","content":[{"type":"text"}]}`), "messages[0].content[0].text", "Missing"},
		{chatPath, message(`{"role":"user","content":"` + strings.Repeat("word", 129_000) + `"}`), "messages", "maximum context length"},
		{chatPath, hello(`,"temperature":"hot"`), "temperature", "expected a number"},
		{chatPath, hello(`,"temperature":-1`), "temperature", "expected 0 to 2"},
		{chatPath, hello(`,"top_p":2`), "top_p", "expected 0 to 1"},
		{chatPath, hello(`,"n":0`), "n", "expected 1, got 0"},
		{chatPath, hello(`,"n":1.5`), "n", "expected an integer"},
		{chatPath, hello(`,"seed":"x"`), "seed", "expected an integer"},
		{chatPath, hello(`,"max_tokens":0`), "max_tokens", "expected 1 to"},
		{chatPath, hello(`,"max_tokens":5,"max_completion_tokens":5`), "max_tokens", "at the same time"},
		{chatPath, hello(`,"stop":7`), "stop", "expected a string"},
		{chatPath, hello(`,"stop":[7]`), "stop", "array of strings"},
		{chatPath, hello(`,"stop":["a","b","c","d","e"]`), "stop", "at most 4"},
		{chatPath, hello(`,"stop":""`), "stop", "cannot be empty"},
		{chatPath, hello(`,"stream":"yes"`), "stream", "expected a boolean"},
		{chatPath, hello(`,"stream_options":{"include_usage":true}`), "stream_options", "only allowed when"},
		{chatPath, hello(`,"stream":true,"stream_options":{"include_usage":1}`), "stream_options.include_usage", "expected a boolean"},
		{chatPath, hello(`,"response_format":"json"`), "response_format", "expected an object"},
		{chatPath, hello(`,"response_format":{}`), "response_format.type", "Missing"},
		{chatPath, hello(`,"response_format":{"type":"xml"}`), "response_format.type", "json_schema"},
		{chatPath, hello(`,"response_format":{"type":"json_schema"}`), "response_format.json_schema", "Missing"},
		{chatPath, schema(`{"schema":{}}`), "response_format.json_schema.name", "Missing"},
		{chatPath, schema(`{"name":"a b","schema":{}}`), "response_format.json_schema.name", "letters"},
		{chatPath, schema(`{"name":"a"}`), "response_format.json_schema.schema", "Missing"},
		{chatPath, schema(`{"name":"a","strict":true,"schema":{"type":"object"}}`), "response_format", "Invalid schema for response_format 'a'"},
		{chatPath, schema(`{"name":"a","schema":{"pattern":"a","maxLength":0}}`), "response_format", "found no string"},
		{embedPath, `{}`, "model", "Missing"},
		{embedPath, `{"model":"mock-1"}`, "input", "Missing"},
		{embedPath, `{"model":"mock-1","input":""}`, "input[0]", "empty"},
		{embedPath, `{"model":"mock-1","input":["a",""]}`, "input[1]", "empty"},
		{embedPath, `{"model":"mock-1","input":[]}`, "input", "1 to 2048"},
		{embedPath, `{"model":"mock-1","input":[1,2]}`, "input", "expected a string or an array of strings"},
		{embedPath, `{"model":"mock-1","input":"` + strings.Repeat("word", 9000) + `"}`, "input[0]", "at most 8192 tokens"},
		{embedPath, `{"model":"mock-1","input":"a","dimensions":0}`, "dimensions", "expected 1 to"},
		{embedPath, `{"model":"mock-1","input":"a","encoding_format":"hex"}`, "encoding_format", "float, base64"},
	} {
		g := m.post(c.path, c.body)
		var answer struct{ Error *apiError }
		if err := json.Unmarshal([]byte(g.body), &answer); err != nil || answer.Error == nil {
			t.Errorf("%.200s: %d %s", c.body, g.status, g.body)
			continue
		}
		param := ""
		if answer.Error.Param != nil {
			param = *answer.Error.Param
		}
		if g.status != 400 || param != c.param || !strings.Contains(answer.Error.Message, c.want) || answer.Error.Type != typeInvalid {
			t.Errorf("%.200s: %d %s, want %q at %q", c.body, g.status, g.body, c.want, c.param)
		}
	}
	large := m.post(chatPath, hello(`,"x":"`+strings.Repeat("x", maxBody)+`"`))
	if large.status != 400 || !strings.Contains(large.body, "1 MiB") {
		t.Errorf("a large body: %d %s", large.status, large.body)
	}
	if g := m.post(chatPath, hello(``), "X-Throng-Request", "nonsense"); g.status != 400 || !strings.Contains(g.body, "X-Throng-Request") {
		t.Errorf("a bad tag: %d %s", g.status, g.body)
	}
	if g := m.post(embedPath, `{"model":"gpt","input":"a"}`); g.status != 404 || !strings.Contains(g.body, "model_not_found") {
		t.Errorf("an unknown model: %d %s", g.status, g.body)
	}
}

// TestAcceptedRequests checks an assistant that called tools, null for absent members, and ignored members.
func TestAcceptedRequests(t *testing.T) {
	m := indoorModel(ModelConfig{}, nil)
	for _, body := range []string{
		hello(`,"temperature":null,"stop":null,"stream":null,"response_format":null,"max_tokens":null,"n":null,"stream_options":null`),
		hello(`,"temperature":2,"top_p":1,"n":1,"stop":["\n"],"user":"ann","store":false,"logprobs":false`),
		`{"model":"mock-1","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"sum","arguments":"{}"}}]},{"role":"tool","content":"7","tool_call_id":"x"}]}`,
		`{"model":"mock-1","messages":[{"role":"developer","content":[]},{"role":"user","name":"ann","content":""}]}`,
	} {
		if g := m.post(chatPath, body); g.status != 200 || !strings.Contains(g.body, `"role":"assistant"`) {
			t.Errorf("%s: %d %s", body, g.status, g.body)
		}
	}
}

// TestBoundsOfTheAnswer checks that max_tokens and stop shorten the answer.
func TestBoundsOfTheAnswer(t *testing.T) {
	m := indoorModel(ModelConfig{}, nil)
	ask := func(more string) (text, finish string, tokens int) {
		t.Helper()
		var answer chatAnswer
		if g := m.post(chatPath, hello(more)); json.Unmarshal([]byte(g.body), &answer) != nil || len(answer.Choices) == 0 {
			t.Fatalf("%s: %d %s", more, g.status, g.body)
		}
		return answer.Choices[0].Message.Content, *answer.Choices[0].Finish, answer.Usage.Completion
	}
	whole, finish, n := ask(``)
	if finish != "stop" || n < tokensUsual/2 || n > 2*tokensUsual || !strings.HasSuffix(whole, ".") && !strings.HasSuffix(whole, "?") {
		t.Errorf("%q of %d tokens ends by %s", whole, n, finish)
	}
	for _, most := range []int{1, 3, 40, 200, 1000} {
		text, finish, n := ask(fmt.Sprintf(`,"max_tokens":%d`, most))
		if n > most || n < min(most, most/2) || (finish == "length") != (most < 10) {
			t.Errorf("%d tokens of %d, by %s: %q", n, most, finish, text)
		}
		if other, _, _ := ask(fmt.Sprintf(`,"max_completion_tokens":%d`, most)); other != text {
			t.Errorf("max_completion_tokens %d returns %q, want %q", most, other, text)
		}
	}
	if text, finish, _ := ask(`,"stop":["nowhere","` + whole[10:14] + `"]`); text != whole[:10] || finish != "stop" {
		t.Errorf("stopped %q by %s, want %q", text, finish, whole[:10])
	}
	if text, finish, n := ask(`,"response_format":{"type":"json_object"},"max_tokens":2`); finish != "length" || n != 2 || text != `{"answer` {
		t.Errorf("%q by %s", text, finish)
	}
	object, _, _ := ask(`,"response_format":{"type":"json_object"}`)
	var members map[string]any
	if err := json.Unmarshal([]byte(object), &members); err != nil || len(members) != 3 {
		t.Errorf("%s: %v", object, err)
	}
}

// TestSchemaAnswers requests a document as a client does.
func TestSchemaAnswers(t *testing.T) {
	m := indoorModel(ModelConfig{}, nil)
	const schema = `{"type":"object","properties":{"shop":{"type":"boolean"},"reason":{"type":"string","maxLength":100}},"required":["shop","reason"],"additionalProperties":false}`
	for i := range 20 {
		var answer chatAnswer
		g := m.post(chatPath, hello(fmt.Sprintf(`,"seed":%d,"response_format":{"type":"json_schema","json_schema":{"name":"decision","strict":true,"schema":%s}}`, i, schema)))
		if err := json.Unmarshal([]byte(g.body), &answer); err != nil {
			t.Fatal(err)
		}
		if err := judge(t, schema, answer.Choices[0].Message.Content); err != nil {
			t.Errorf("%s: %v", answer.Choices[0].Message.Content, err)
		}
	}
}

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"One two", []string{"One", " two"}},
		{"a  b ", []string{"a", " ", " b", " "}},
		{strings.Repeat("é", 20), []string{strings.Repeat("é", 16), "éééé"}},
	} {
		if got := pieces(c.text); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%q comes as %q, want %q", c.text, got, c.want)
		}
	}
}

// FuzzModelRequest sends any body: every answer is JSON or a stream, and not a 5xx.
func FuzzModelRequest(f *testing.F) {
	m := indoorModel(ModelConfig{}, nil)
	f.Add(true, hello(`,"stream":true,"stream_options":{"include_usage":true},"stop":["a"],"seed":-3`))
	f.Add(true, hello(`,"max_tokens":7,"response_format":{"type":"json_object"}`))
	f.Add(true, hello(`,"response_format":{"type":"json_schema","json_schema":{"name":"x","strict":true,"schema":{"type":"object"}}}`))
	f.Add(true, `{"model":"mock-1","messages":[{"role":"user","content":[{"type":"text","text":"In 7 words. [END]"}]}]}`)
	f.Add(false, `{"model":"mock-1","input":["a","b c"],"dimensions":3,"encoding_format":"base64"}`)
	f.Fuzz(func(t *testing.T, chat bool, body string) {
		path := embedPath
		if chat {
			path = chatPath
		}
		g := m.post(path, body)
		streamed := strings.HasSuffix(g.body, "data: [DONE]\n\n")
		if g.status >= 500 || !streamed && !json.Valid([]byte(g.body)) {
			t.Errorf("%s: %d %s", body, g.status, g.body)
		}
		if again := m.post(path, body); again.body != g.body {
			t.Errorf("%s: %s, then %s", body, g.body, again.body)
		}
	})
}
