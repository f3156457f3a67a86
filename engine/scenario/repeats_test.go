package scenario

import (
	"slices"
	"strings"
	"testing"
)

// TestRepeatsMistakes checks the errors in settings of repeats.
func TestRepeatsMistakes(t *testing.T) {
	const rest = "chain c: {step a: {kind: http, service: s, post: /x}}\n"
	at := func(service string) string {
		return "services: {s: {kind: http, url: 'http://127.0.0.1', " + service + "}}\n" + rest
	}
	step := func(text string) string {
		return "services: {s: {kind: http, url: 'http://127.0.0.1'}}\nchain c: {step a: {kind: http, service: s, " + text + "}}\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"unknown":          {at("repeats: maybe"), "one of keyed, unsafe, harmless, never"},
		"both":             {at("repeats: keyed, verify: {get: /x, done: 'True'}"), "only one of"},
		"nothing to judge": {at("verify: {get: /x}"), "needs `done`"},
		"nothing to ask":   {at("verify: {done: 'True'}"), "needs `get`"},
		"no step there":    {at("verify: {get: '/x/${steps.a.id}', done: 'True'}"), "undefined: steps"},
		"of a GET":         {step("get: /x, repeats: keyed"), "a GET changes nothing"},
		"answer in get":    {step("post: /x, verify: {get: '/x/${body.id}', done: 'True'}"), "undefined: body"},
		"no expression":    {step("post: /x, verify: {get: /x, done: '${True}'}"), "write it without ${ }"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(c.text, nil, nil); err == nil || !strings.Contains(all(err), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if _, err := read(at("verify: {get: '/requests/${request.key}', query: {of: '${request.step} ${agent.id}'}, done: status == 200, after: 0}"), nil, nil); err != nil {
		t.Error(all(err))
	}
}

// TestWarnsOfTheWrongID checks the warnings about an ID that two runs share and that is sent as a key, and about an ID
// that they do not share and that is used to look up a result.
func TestWarnsOfTheWrongID(t *testing.T) {
	for name, c := range map[string]struct {
		steps string
		want  []string // parts of the warnings
	}{
		"sent":        {`step a: {kind: http, service: s, post: /x, json: {id: "${session.seed_uuid}"}}`, []string{"every run with this seed sends the same id"}},
		"in a path":   {`step a: {kind: http, service: s, put: "/x/${session.seed_uuid}"}`, []string{"every run with this seed sends the same id"}},
		"written":     {`step a: {kind: sql, service: d, query: insert into t values ($1), args: ["${session.seed_uuid}"]}`, []string{"every run with this seed sends the same id"}},
		"looked up":   {`step a: {kind: http, service: s, get: "/x/${session.seed_uuid}"}`, nil},
		"read":        {`step a: {kind: sql, service: d, query: select $1, args: ["${session.seed_uuid}"]}`, nil},
		"right":       {`step a: {kind: http, service: s, post: /x, json: {id: "${session.uuid}"}}`, nil},
		"told":        {`step a: {kind: emit, event: e, data: {id: "${session.uuid}"}}`, []string{"results hold `session.seed_uuid` in its place"}},
		"told right":  {`step a: {kind: emit, event: e, data: {id: "${session.seed_uuid}"}}`, nil},
		"remembered":  {`step a: {kind: remember, set: {id: "${session.uuid}"}}`, nil},
		"lost answer": {`step a: {kind: http, service: s, post: /x, verify: {get: /x, done: status == 200}}, step b: {kind: emit, event: e, data: "${steps.a.id}"}`, []string{"verify cannot replace it"}},
		"unused":      {`step a: {kind: http, service: s, post: /x, verify: {get: /x, done: status == 200}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := warnings(t, "services: {s: {kind: http, url: 'http://127.0.0.1'}, d: {kind: postgres, url: 'secret:D'}}\nchain c: {"+c.steps+"}\n")
			if len(got) != len(c.want) || len(got) > 0 && !slices.ContainsFunc(got, func(w string) bool { return strings.Contains(w, c.want[0]) }) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
