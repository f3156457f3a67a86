package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/engine/scenario"
)

const notesAPI = `openapi: 3.1.0
info: {title: Notes}
paths:
  /login: {post: {requestBody: {required: true, content: {application/json: {schema: {type: object, required: [user], properties: {user: {type: string}}}}}}, responses: {200: {content: {application/json: {schema: {type: object, required: [token], properties: {token: {type: string}}}}}}}}}
  /notes:
    post: {security: [{t: []}], requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/New'}}}}, responses: {201: {content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}}}
    get: {security: [{t: []}], responses: {200: {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Note'}}}}}}}
  /notes/{id}:
    get: {security: [{t: []}], responses: {200: {content: {application/json: {schema: {$ref: '#/components/schemas/Note'}}}}, 404: {}}}
components:
  securitySchemes: {t: {type: http, scheme: bearer}}
  schemas:
    New: {type: object, required: [text], properties: {text: {type: string, maxLength: 40}}}
    Note: {allOf: [{$ref: '#/components/schemas/New'}, {type: object, required: [id], properties: {id: {type: integer, readOnly: true}}}]}
`

const noteTakers = `title: Note takers
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 4}
population: {count: 6, id: "taker-${agent.index + 1}"}
services:
  notes:
    kind: http
    url: mock:openapi.yaml
    auth: {login: {post: /login, json: {user: "${agent.id}"}, token: body.token}}
chain take:
  step write: {kind: http, service: notes, post: /notes, json: {text: "${agent.id} at ${now.hour}"}, expect: 201, check: schema}
  step read: {kind: http, service: notes, get: "/notes/${steps.write.id}", check: schema}
  step refused: {kind: http, service: notes, get: /notes, auth: none, expect: 401}
  step list: {kind: http, service: notes, get: /notes, check: schema}
  step event: {kind: emit, event: noted, data: {id: "${steps.read.id}", text: "${steps.read.text}", all: "${[n.text for n in steps.list]}"}}
`

// TestMockOfADocument runs a scenario against the mock of its OpenAPI document. It checks that forks have the state of their cycle, and
// that the logs are deleted with their run.
func TestMockOfADocument(t *testing.T) {
	d := newTown(t)
	folder := t.TempDir()
	for name, text := range map[string]string{"openapi.yaml": notesAPI, "notes.yaml": noteTakers} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := scenario.Load(filepath.Join(folder, "notes.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _, job := d.run(s, func(l *app.Launch) { often(l); l.Settings.Cycles = 4 })
	if strings.Count(want["events.csv"], "\n") != 25 || !strings.Contains(want["events.csv"], "taker-3 at 11") || strings.Contains(want["sessions.csv"], "failed") {
		t.Fatalf("got\n%s%s", want["events.csv"], want["sessions.csv"])
	}
	lines := strings.Split(want["events.csv"], "\n")
	if last := lines[len(lines)-2]; strings.Count(last, "taker-") < 5 { // its own four notes, and the name of the agent
		t.Errorf("the list has not grown: %s", last)
	}
	for cycle := 1; cycle < 4; cycle++ {
		got, _, _ := d.fork(d.parent(job.Record.ID, cycle), nil, func(l *app.Launch) { often(l); l.Settings.Limit = cycle })
		same(t, fmt.Sprintf("forked at the start of cycle %d", cycle), results(got, 0), results(want, cycle))
	}
	if len(config.APILogs(d.data, job.Record.ID)) != 1 {
		t.Errorf("the logs are %v", config.APILogs(d.data, job.Record.ID))
	}
	if err := retention.Delete(t.Context(), d.store, d.data, job.Record.ID); err != nil {
		t.Fatal(err)
	}
	if left := config.APILogs(d.data, job.Record.ID); len(left) > 0 {
		t.Errorf("%v remain", left)
	}
}
