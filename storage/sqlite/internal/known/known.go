// Package known decodes settings and parameters of runs, which are the same in most runs of an experiment.
package known

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/throng-sim/throng/engine"
)

// most is the number of texts that are remembered.
const most = 10_000

// cache holds decoded texts. It is safe for concurrent use.
type cache[T any] struct {
	mu sync.Mutex
	of map[string]T
}

// get returns the value of a text, which it decodes the first time. The value must not be changed.
func (c *cache[T]) get(text string, decode func() (T, error)) (T, error) {
	c.mu.Lock()
	v, ok := c.of[text]
	c.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := decode()
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil || len(c.of) >= most {
		c.of = map[string]T{}
	}
	c.of[text] = v
	return v, nil
}

var (
	settings   cache[engine.Settings]
	parameters cache[map[string]string]

	seed = regexp.MustCompile(`"seed":(\d+)`)
)

// Settings decodes the settings of a run. A setting that the text lacks has its default. Runs that differ in their seed only are decoded
// once.
func Settings(text string) (engine.Settings, error) {
	at := seed.FindStringSubmatchIndex(text)
	if at == nil {
		return decode(text)
	}
	n, err := strconv.ParseUint(text[at[2]:at[3]], 10, 64)
	if err != nil {
		return decode(text)
	}
	s, err := settings.get(text[:at[0]]+text[at[1]:], func() (engine.Settings, error) { return decode(text) })
	s.Seed = n
	s.Services, s.Mock.Faults = maps.Clone(s.Services), maps.Clone(s.Mock.Faults)
	s.Agents, s.WarmUp = slices.Clone(s.Agents), slices.Clone(s.WarmUp)
	return s, err
}

func decode(text string) (engine.Settings, error) {
	s := engine.DefaultSettings()
	err := json.Unmarshal([]byte(text), &s)
	return s, err
}

// Parameters decodes the parameters of a run.
func Parameters(text string) (map[string]string, error) {
	all, err := parameters.get(text, func() (all map[string]string, err error) {
		err = json.Unmarshal([]byte(text), &all)
		return all, err
	})
	return maps.Clone(all), err
}
