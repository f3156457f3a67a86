package engine

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"
)

// foreseen is a forecast of 372 shoppers that call a model.
func foreseen() *Forecast {
	return &Forecast{
		Sessions: Exactly(744, Measured), Cycles: Exactly(2, Measured), Cycle: Between(8, 12, FromProfile), Binds: "the limit",
		Length: Between(16, 24, FromProfile), Requests: Exactly(11_160, FromFile), Writes: Exactly(3720, FromFile),
		RequestRate: Between(27_900, 41_850, FromProfile), WriteRate: Between(9300, 9301, FromProfile), Connections: Exactly(55.8, Guessed),
		Calls: Exactly(744, FromFile), Input: Between(74_400, 744_000, Guessed), Output: Exactly(37_200, Guessed), Cost: Exactly(0.12, Guessed),
		Memory: Exactly(1.2e9, Measured), Disk: Exactly(5e6, Guessed),
		Services: []ServiceForecast{{"shop", Exactly(27_000, FromProfile), Exactly(9300, FromProfile)}},
		Writers:  []string{"buy", "fill.add"}, Server: 20, ServerMax: 60, Run: "run-1", At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Advice: []string{"Take fewer."},
	}
}

func TestForecastIsKept(t *testing.T) {
	want := foreseen()
	want.Cost = Estimate{}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Forecast
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("got  %+v\nwant %+v", got, *want)
	}
	if err := json.Unmarshal([]byte(`{"cycle_seconds": {"basis": "rumor"}}`), &got); err == nil {
		t.Error("an unknown basis was accepted")
	}
}

func TestEstimates(t *testing.T) {
	two, some := Exactly(2, Measured), Between(5, 1, Guessed)
	for _, c := range []struct {
		name      string
		got, want Estimate
	}{
		{"in whatever order", some, Estimate{1, 5, Guessed}},
		{"product", two.Times(some), Estimate{2, 10, Guessed}},
		{"sum", two.Plus(some), Estimate{3, 7, Guessed}},
		{"of what is not known", two.Plus(Estimate{}), Estimate{}},
		{"scaled", some.Scale(3), Estimate{3, 15, Guessed}},
		{"no number", Exactly(math.NaN(), Measured), Estimate{}},
		{"no end", Between(1, math.Inf(1), Measured), Estimate{}},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	if m := some.Middle(); m != 3 {
		t.Errorf("the middle of 1 and 5 is %v", m)
	}
	order := []Basis{Measured, FromProfile, FromFile, Guessed, NotKnown}
	for i, a := range order {
		for k, b := range order {
			if got := a.Worse(b); got != order[max(i, k)] {
				t.Errorf("the worse of %s and %s is %s", a, b, got)
			}
		}
	}
}
