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

func TestWaits(t *testing.T) {
	for _, c := range []struct {
		all  []State
		want string
	}{
		{nil, ""},
		{[]State{{Name: "a", Status: Draining}, {Name: "b"}}, ""},
		{[]State{{Name: "a", Status: Draining}, {Name: "b", Status: Refused}}, "no worker takes sessions: a is draining, b was refused"},
		{[]State{{Name: "a", Status: Lost}, {Name: "b", Status: Lost}, {Name: "c", Status: Stalled}, {Name: "d", Status: Lost}}, "no worker takes sessions: a was lost, b was lost, c is stalled, d was lost"},
		{[]State{{Name: "a", Status: Lost}, {Name: "b", Status: Lost}, {Name: "c", Status: Lost}, {Name: "d", Status: Lost}, {Name: "e", Status: Lost}}, "no worker takes sessions: a was lost, b was lost, c was lost, and 2 others"},
	} {
		if got := Waits(c.all); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
