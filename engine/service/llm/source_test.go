package llm

import (
	"reflect"
	"testing"

	"github.com/throng-sim/throng/engine/spans"
)

// TestReadSource reads what responses and streams of all formats say about themselves.
func TestReadSource(t *testing.T) {
	for body, want := range map[string]spans.Source{
		`{"id":"c-1","model":"gpt-4o-2024","choices":[{"finish_reason":"stop"},{"finish_reason":"length"}]}`: {ID: "c-1", Model: "gpt-4o-2024", Finish: []string{"stop", "length"}},
		"data: {\"id\":\"c-2\",\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\ndata: {\"id\":\"c-2\",\"choices\":[{\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n": {
			ID: "c-2", Model: "m", Finish: []string{"stop"},
		},
		`{"id":"msg_1","type":"message","model":"claude","stop_reason":"end_turn"}`: {ID: "msg_1", Model: "claude", Finish: []string{"end_turn"}},
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_2\",\"model\":\"claude\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n": {
			ID: "msg_2", Model: "claude", Finish: []string{"max_tokens"},
		},
		"{\"model\":\"llama\",\"message\":{\"content\":\"a\"}}\n{\"model\":\"llama\",\"done\":true,\"done_reason\":\"stop\"}\n": {Model: "llama", Finish: []string{"stop"}},
		`{"object":"list","model":"embed","data":[]}`: {Model: "embed"},
		`<html>no</html>`: {},
		`{"id": 7}`:       {},
	} {
		if got := ReadSource([]byte(body)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}
