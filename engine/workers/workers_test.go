package workers

import (
	"encoding/json"
	"testing"
)

func TestSummary(t *testing.T) {
	for want, all := range map[string][]State{
		"0 workers":                        nil,
		"1 worker":                         {{Name: "a"}},
		"4 workers, 1 lost":                {{}, {Status: Lost}, {}, {}},
		"3 workers, 1 draining, 2 refused": {{Status: Refused}, {Status: Draining}, {Status: Refused}},
	} {
		if got := Summary(all); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestStatusInJSON(t *testing.T) {
	for s := Ready; s <= Refused; s++ {
		text, err := json.Marshal(State{Status: s})
		if err != nil {
			t.Fatal(err)
		}
		var got State
		if err := json.Unmarshal(text, &got); err != nil || got.Status != s {
			t.Errorf("%s: %v, %v", text, got.Status, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"status":"asleep"}`), &State{}); err == nil {
		t.Error("an unknown status is read")
	}
}
