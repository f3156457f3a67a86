package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

// cutField splits off the first of several names with dots between them.
func cutField(path string) (name, rest string) {
	name, rest, _ = strings.Cut(path, ".")
	return name, rest
}

// add adds the number at a path of JSON data to those of a measure. Data without a number there adds nothing. true counts as 1 and
// false as 0, so their mean is a fraction.
func (c *computing) add(measure int, data []byte, path string) {
	for path != "" {
		var name string
		name, path = cutField(path)
		var fields map[string]json.RawMessage
		if json.Unmarshal(data, &fields) != nil {
			return
		}
		data = fields[name]
	}
	switch data = bytes.TrimSpace(data); string(data) {
	case "true":
		c.numbers[measure] = append(c.numbers[measure], 1)
	case "false":
		c.numbers[measure] = append(c.numbers[measure], 0)
	default:
		var v float64
		if len(data) > 0 && data[0] != 'n' && json.Unmarshal(data, &v) == nil {
			c.numbers[measure] = append(c.numbers[measure], v)
		}
	}
}

// call calls a function with the totals of the run.
func (c *computing) call(ctx context.Context, e *experiment.Experiment, m *experiment.Measure) (float64, error) {
	f, ok := e.Functions.Func(m.Subject)
	if !ok {
		return math.NaN(), fmt.Errorf("there is no function %s", m.Subject)
	}
	totals, err := c.totals()
	if err != nil {
		return math.NaN(), err
	}
	argument := f.Params()[0].Name
	result, err := f.Call(&script.Context{Names: script.Vars{}, Done: ctx.Done()}, func(name string) (value.Value, error) {
		if name != argument {
			return nil, nil //nolint:nilnil // it has a default
		}
		return totals, nil
	})
	if err != nil {
		return math.NaN(), err
	}
	switch v := result.(type) {
	case starlark.NoneType:
		return math.NaN(), nil
	case starlark.Bool:
		if v {
			return 1, nil
		}
		return 0, nil
	default:
		number, ok := starlark.AsFloat(result)
		if !ok {
			return math.NaN(), fmt.Errorf("the function returns a %s, not a number", result.Type())
		}
		return number, nil
	}
}

// Totals is what a function of a measure receives: counts, seconds and US dollars.
type Totals struct {
	Agents      int              `json:"agents"`
	Cycles      int              `json:"cycles"`
	Sessions    int64            `json:"sessions"`
	Acted       int64            `json:"acted"`
	Outcomes    map[string]int64 `json:"outcomes"`
	Events      map[string]int64 `json:"events"`
	Requests    int64            `json:"requests"`
	Retries     int64            `json:"retries"`
	RateLimited int64            `json:"rate_limited"`
	Input       int64            `json:"input_tokens"`
	Output      int64            `json:"output_tokens"`
	Cost        float64          `json:"cost"`
	Duration    float64          `json:"duration"`
}

// totals returns the totals of the run as a value for functions.
func (c *computing) totals() (value.Value, error) {
	t := c.run.Totals
	all := t.AllRequests()
	out := Totals{
		Agents: c.run.Agents, Cycles: c.run.Cycles, Sessions: t.Ended(), Acted: t.Acted, Outcomes: map[string]int64{}, Events: c.events,
		Requests: all.Requests, Retries: all.Retries, RateLimited: all.RateLimited, Input: all.Usage.Input, Output: all.Usage.Output,
		Cost: float64(all.Usage.Cost) / 1e9, Duration: t.Peaks.Elapsed.Seconds(),
	}
	for o, n := range t.Outcomes {
		if o != int(engine.Unfinished) {
			out.Outcomes[engine.Outcome(o).String()] = n
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return value.DecodeJSON(text)
}
