package settings

import (
	"slices"
	"strings"
)

// group is a part of the table of defaults: names of settings with what they are called in the window.
type group struct {
	title string
	of    []titled
}

type titled struct{ name, title string }

// groups is the one table of the defaults' order. A setting that it does not know stands at the end, by its name.
var groups = []group{
	{"At once", []titled{
		{"max-concurrent", "Sessions at once, at the start"},
		{"governor", "Governor"},
		{"floor", "Floor"},
		{"ceiling", "Ceiling"},
		{"cpu-high", "CPU: lower the limit above, %"},
		{"cpu-low", "CPU: double the limit below, %"},
		{"memory-high", "Memory: lower the limit above, %"},
		{"memory-low", "Memory: raise the limit below, %"},
		{"preset", "Preset"},
		{"batch", "Agents in a wave"},
		{"breaker", "Breaker"},
		{"warm-up", "Warm-up"},
		{"sequential", "One agent after the other"},
		{"sequential-steps", "One step after the other"},
	}},
	{"Length and pace", []titled{
		{"cycles", "Length in cycles"}, {"hours", "Length in hours"}, {"time-scale", "Time scale"}, {"seed", "Seed"},
	}},
	{"Time limits and retries", []titled{
		{"session-timeout", "Of a session"},
		{"chain-timeout", "Of a chain"},
		{"cycle-timeout", "Of a cycle"},
		{"retries", "Attempts at a request"},
		{"retry-wait", "First wait before a retry"},
		{"stall-warning", "Stall warning"},
	}},
	{"Models", []titled{{"max-llm-calls", "Calls at once"}, {"llm-rate", "Calls per second, at the start"}, {"sequential-personas", "Personas one after the other"}}},
	{"Budget", []titled{
		{"budget", "US dollars"}, {"max-tokens", "Tokens"}, {"max-requests", "Requests"}, {"max-time", "Wall time"},
	}},
	{"Checkpoints and records", []titled{
		{"checkpoint-interval", "Between checkpoints"},
		{"keep-checkpoints", "Checkpoints that are kept"},
		{"remote-checkpoints", "Send checkpoints"},
		{"metrics", "Metrics"},
		{"keep-share", "Sessions whose requests are kept"},
		{"record", "Record every answer"},
	}},
	{"This machine and the services", []titled{{"keep-awake", "Keep the machine awake"}, {"simulation-mode", "X-Simulation-Mode"}}},
	{"Sending results", []titled{
		{"database-connections", "Connections"},
		{"database-share", "Share of the server's free connections"},
		{"database-acquire", "Wait for a connection"},
		{"database-life", "Life of a connection"},
		{"database-idle", "Idle time of a connection"},
		{"database-timeout", "Time limit of a batch"},
		{"push-rows", "Rows in a batch"},
		{"push-age", "Age of a batch"},
	}},
	{"Metrics elsewhere", []titled{
		{"metrics-listen", "Answer Prometheus at"}, {"otlp", "Collector of OpenTelemetry"}, {"trace-share", "Share of sessions traced"},
	}},
}

// part is a group with its settings.
type part struct {
	title    string
	settings []Setting
}

// sorted puts settings into their groups, those that match what a person looks for.
func sorted(all []Setting, looked string) []part {
	rest := slices.Clone(all)
	var parts []part
	take := func(title string, takes func(s Setting) bool) {
		p := part{title: title}
		rest = slices.DeleteFunc(rest, func(s Setting) bool {
			if takes(s) && s.matches(looked) {
				p.settings = append(p.settings, s)
			}
			return takes(s)
		})
		if len(p.settings) > 0 {
			parts = append(parts, p)
		}
	}
	for _, g := range groups {
		at := func(s Setting) int { return slices.IndexFunc(g.of, func(t titled) bool { return t.name == s.Name }) }
		take(g.title, func(s Setting) bool { return at(s) >= 0 })
		if n := len(parts); n > 0 && parts[n-1].title == g.title {
			slices.SortFunc(parts[n-1].settings, func(a, b Setting) int { return at(a) - at(b) })
		}
	}
	take("More", func(Setting) bool { return true })
	return parts
}

// title is what a setting is called in the window.
func (s Setting) title() string {
	for _, g := range groups {
		for _, t := range g.of {
			if t.name == s.Name {
				return t.title
			}
		}
	}
	return s.Name
}

// matches reports whether a setting has all words that a person looks for.
func (s Setting) matches(looked string) bool {
	text := strings.ToLower(s.Name + " " + s.title() + " " + s.Help + " " + s.Value + " " + s.From)
	for word := range strings.FieldsSeq(strings.ToLower(looked)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// tidy leaves out the zeros at the end of a duration.
func tidy(value string) string {
	if whole, ok := strings.CutSuffix(value, "m0s"); ok {
		value = whole + "m"
	}
	if whole, ok := strings.CutSuffix(value, "h0m"); ok {
		value = whole + "h"
	}
	return value
}
