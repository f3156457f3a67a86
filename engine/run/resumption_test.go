package run_test

import (
	"reflect"
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestResumptionReadsChanges(t *testing.T) {
	var got engine.Resumption
	for _, c := range []engine.ChangeRow{
		{What: engine.InjectChange, New: `{"cycle":2,"said":"x"}`},
		{What: engine.RetireChange, New: `{"cycle":3,"agent":7}`},
		{What: engine.RequeueChange, New: `{"cycle":1,"agent":4,"take":1}`},
		{What: engine.RequeueChange, New: `{"cycle":1,"agent":4,"take":2}`},
		{What: "model.rate", New: "20"},
		{What: "model.rate", New: "16"},
		{What: engine.PhaseChange, New: "paused"},
		{What: engine.SleepChange, New: "1h"},
		{What: engine.StallChange},
		{What: "exactness", New: "inexact"},
	} {
		do(t, got.Apply(&c))
	}
	want := engine.Resumption{
		Injected: []engine.Injection{{Cycle: 2, Body: []byte(`"x"`)}}, Retired: map[int]int{7: 3},
		Requeued: map[engine.Place]int{{Cycle: 1, Agent: 4}: 2}, Tuned: []engine.Tunable{{Name: "model.rate", Value: "16"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for take, superseded := range []bool{true, true, false, false} {
		if got.Superseded(engine.Place{Cycle: 1, Agent: 4, Take: take}) != superseded || got.Superseded(engine.Place{Cycle: 1, Agent: 5, Take: take}) {
			t.Errorf("take %d", take)
		}
	}
	for _, what := range []string{engine.InjectChange, engine.RetireChange, engine.RequeueChange} {
		if err := got.Apply(&engine.ChangeRow{What: what, New: "{"}); err == nil {
			t.Errorf("%s: unreadable text is accepted", what)
		}
	}
}

func FuzzResumptionChanges(f *testing.F) {
	f.Add(engine.RetireChange, `{"cycle":3,"agent":7}`)
	f.Add(engine.RequeueChange, `{"cycle":1,"agent":4,"take":1}`)
	f.Add(engine.InjectChange, `{"cycle":1,"to":[1],"said":{}}`)
	f.Add("model.rate", "1")
	f.Fuzz(func(t *testing.T, what, text string) {
		var a, b engine.Resumption
		c := engine.ChangeRow{What: what, New: text}
		errA, errB := a.Apply(&c), b.Apply(&c)
		if (errA == nil) != (errB == nil) || !reflect.DeepEqual(a, b) {
			t.Errorf("%s %q is read as %+v and as %+v", what, text, a, b)
		}
		if errA == nil && len(a.Injected)+len(a.Retired)+len(a.Requeued)+len(a.Tuned) > 1 {
			t.Errorf("%s %q means more than one thing: %+v", what, text, a)
		}
	})
}
