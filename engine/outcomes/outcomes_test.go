package outcomes

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func session(cycle, agent int, acted bool, events ...string) *engine.SessionRow {
	r := &engine.SessionRow{Place: engine.Place{Cycle: cycle, Agent: agent}, Acted: acted}
	for _, e := range events {
		name, data, _ := strings.Cut(e, " ")
		r.Events = append(r.Events, engine.Event{Name: name, Data: []byte(data)})
	}
	return r
}

func TestOutcomes(t *testing.T) {
	c := Collector{Clock: engine.Clock{Cycle: time.Hour}, Acted: "order", Persona: func(agent int) ([]engine.Fact, error) {
		return []engine.Fact{{Name: "loyal", Value: fmt.Sprint(agent == 0)}, {Name: "name", Value: strings.Repeat("x", 50)}, {Name: "town", Value: "same"}}, nil
	}}
	c.Add(session(0, 0, true, `order {"total":10,"mood":"happy","id":"a","paid":true}`, "open"))
	c.Add(session(0, 1, false))
	c.Add(session(2, 0, true, `order {"total":20,"mood":"sad","id":"b","paid":false}`, `order {"total":40,"mood":"happy","nested":{"x":1}}`))
	for i := range 20 {
		c.Add(session(3, 1, i == 0, fmt.Sprintf(`visit {"page":"page %d"}`, i)))
	}
	o, err := c.Outcomes()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	fmt.Fprintln(&got, o.Sessions, o.Cycles, o.Acted, o.Cut)
	for _, e := range o.Events {
		fmt.Fprintln(&got, e.Name, e.Count, e.PerCycle)
		for _, n := range e.Numbers {
			fmt.Fprintln(&got, " ", n.Field, n.Count, math.Round(n.Mean()), n.Min, n.Max, n.PerCycle)
		}
		for _, s := range e.Shares {
			fmt.Fprintln(&got, " ", s.Field, s.Values)
		}
	}
	fmt.Fprintln(&got, o.Groups)
	const want = `23 [0 2 3] order false
visit 20 [0 0 20]
order 3 [1 2 0]
  total 3 23 10 40 [10 30 NaN]
  mood [{happy 2 3} {sad 1 3}]
  id [{a 1 2} {b 1 2}]
  paid [{true 1 2} {false 1 2}]
open 1 [1 0 0]
[{loyal [{false 1 21} {true 2 2}]}]
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func TestOutcomesAreBounded(t *testing.T) {
	c := Collector{Persona: func(int) ([]engine.Fact, error) { return nil, errors.New("asked for a crowd") }}
	for i := range mostAgents + 1 {
		c.Add(session(0, i, false, fmt.Sprintf(`e%d {"f%d":1}`, i%(2*mostEvents), i)))
	}
	o, err := c.Outcomes()
	if err != nil || len(o.Events) != mostEvents || !o.Cut || len(o.Events[0].Numbers) != mostFields {
		t.Errorf("%d events, cut %v, %v", len(o.Events), o.Cut, err)
	}
	if o, err := (&Collector{}).Outcomes(); err != nil || o.Sessions != 0 {
		t.Errorf("without sessions: %+v, %v", o, err)
	}
}
