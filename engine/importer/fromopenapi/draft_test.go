package fromopenapi_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/importer/fromopenapi"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/openapi"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

var updated = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func draft(t testing.TB, text string, o fromopenapi.Options) *importer.Draft {
	t.Helper()
	d, err := openapi.Load([]byte(text), openapi.Options{Location: o.Location})
	if err != nil {
		t.Fatal(err)
	}
	return fromopenapi.Draft(d, o)
}

func document(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../openapi/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestGolden shows the scenarios that are made of two documents.
func TestGolden(t *testing.T) {
	for name, o := range map[string]fromopenapi.Options{
		"fastapi.json":  {Location: "http://127.0.0.1:8000/openapi.json", File: "openapi.json"},
		"petstore.yaml": {Location: "https://petstore3.swagger.io/api/v3/openapi.yaml", File: "openapi.yaml"},
	} {
		o.Text = []byte(document(t, name))
		d := draft(t, document(t, name), o)
		text := string(d.Write().Text) + "\n"
		for _, s := range d.Steps {
			if !s.Use {
				text += "# " + s.Name + ":"
				for _, n := range append([]string{s.Against}, s.Notes...) {
					text += " " + n
				}
				text += "\n"
			}
		}
		golden := "testdata/" + name + ".txt"
		if *updated {
			if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if text != string(want) {
			t.Errorf("%s differs from %s; -update rewrites it. It is now:\n%s", name, golden, text)
		}
	}
}

// api is a document with paths and components.
func api(paths, components string) string {
	return "openapi: 3.1.0\ninfo: {title: Test}\nservers: [{url: 'https://api.example.com/v1'}]\npaths:\n" + paths + "components:\n" + components
}

// used lists the steps of the journey.
func used(d *importer.Draft) string {
	var names []string
	for _, s := range d.Steps {
		if s.Use {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, " ")
}

const things = `
  /things:
    post: {operationId: createThing, requestBody: {content: {application/json: {schema: {type: object}}}}, responses: {201: {content: {application/json: {schema: {type: object, properties: {data: {$ref: '#/components/schemas/Thing'}}}}}}}}
    get: {operationId: list-things, responses: {200: {content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Thing'}}}}}}}
    delete: {operationId: remove_things, responses: {204: {}}}
    patch: {operationId: change_things, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}, responses: {200: {}}}
  /things/{thingId}:
    patch: {operationId: change_thing, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}, responses: {200: {}}}
    delete: {operationId: remove_thing, responses: {204: {}}}
    get: {operationId: import, responses: {200: {}}}
  /others: {get: {responses: {200: {content: {application/json: {schema: {type: object, properties: {total: {type: integer}, results: {type: array, items: {type: object, properties: {id: {type: string}}}}}}}}}}}}
  /others/{id}:
    get: {responses: {200: {}}}
    delete: {responses: {204: {}}}
    patch: {responses: {200: {}}}
  /others/{id}/things/{kind}: {get: {parameters: [{name: kind, in: path, schema: {enum: [a, b]}}], responses: {200: {}}}}
`

const thing = `
  schemas: {Thing: {type: object, required: [id], properties: {id: {type: integer}, name: {type: string}}}}
`

func TestDependencies(t *testing.T) {
	d := draft(t, api(things, thing), fromopenapi.Options{})
	if got, want := used(d), "create_thing list_things import_step list_others get_other list_others_things remove_thing"; !strings.HasPrefix(got, "create_thing list_things import_step") || !strings.HasSuffix(got, "remove_thing") {
		t.Errorf("got %s, want %s", got, want)
	}
	text := string(d.Write().Text)
	for _, want := range []string{
		"get: /things/${steps.create_thing.data.id}", "get: /others/${pick(steps.list_others.results).id}",
		`/things/${pick(["a", "b"])}`, "url: https://api.example.com/v1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	for _, id := range []string{"DELETE /others/{id}", "PATCH /others/{id}", "DELETE /things", "PATCH /things"} {
		if s := d.Step(id); s.Use || !strings.Contains(s.Against, "did not create") {
			t.Errorf("%s: %+v", id, s)
		}
	}
}

func TestLinks(t *testing.T) {
	d := draft(t, api(`
  /jobs: {post: {operationId: start, responses: {202: {links: {state: {operationId: state, parameters: {n: '$response.body#/jobs/0/n'}}}}}}}
  /state/{n}: {get: {operationId: state, responses: {200: {}}}}
`, " {}\n"), fromopenapi.Options{})
	if text := string(d.Write().Text); !strings.Contains(text, "get: /state/${steps.start.jobs[0].n}") {
		t.Errorf("got\n%s", text)
	}
}

// TestAuthentication checks what is written for each way to sign in.
func TestAuthentication(t *testing.T) {
	const get = "  /me: {get: {security: [{s: []}], responses: {200: {}}}}\n"
	const loginJSON = `  /v/sessions: {post: {requestBody: {content: {application/json: {schema: {type: object, required: [email, password], properties: {email: {type: string}, password: {type: string, maxLength: 20}}}}}}, responses: {200: {content: {application/json: {schema: {type: object, properties: {data: {type: object, properties: {token: {type: string}}}}}}}}}}}
`
	const signup = `  /signup: {post: {requestBody: {content: {application/json: {schema: {type: object, required: [email, password], properties: {email: {type: string}, password: {type: string, maxLength: 20}}}}}}, responses: {201: {}}}}
`
	people := fromopenapi.Options{People: "users.csv", Columns: []string{"id", "mail", "password"}}
	for name, tt := range map[string]struct {
		paths, scheme string
		o             fromopenapi.Options
		want          []string
	}{
		"bearer":              {get, "{type: http, scheme: bearer}", fromopenapi.Options{}, []string{"auth: {bearer: secret:API_TOKEN}"}},
		"basic":               {get, "{type: http, scheme: basic}", fromopenapi.Options{}, []string{"auth: {basic: {user: user, password: secret:API_PASSWORD}}"}},
		"basic, people":       {get, "{type: http, scheme: Basic}", people, []string{`user: '${agent.mail}'`, "from: users.csv"}},
		"header":              {get, "{type: apiKey, in: header, name: X-Key}", fromopenapi.Options{}, []string{"auth: {header: {name: X-Key, value: secret:API_API_KEY}}"}},
		"query":               {get, "{type: apiKey, in: query, name: key}", fromopenapi.Options{}, []string{"auth: {query: {name: key, value: secret:API_API_KEY}}"}},
		"cookie":              {get, "{type: apiKey, in: cookie, name: sid}", fromopenapi.Options{}, []string{"auth: {cookie: {name: sid, value: secret:API_API_KEY}}"}},
		"openid":              {get, "{type: openIdConnect, openIdConnectUrl: 'https://id.example.com/x'}", fromopenapi.Options{}, []string{"# Tokens come from https://id.example.com/x", "auth: {bearer: secret:API_TOKEN}"}},
		"client credentials":  {get, "{type: oauth2, flows: {clientCredentials: {tokenUrl: /v1/oauth/token, scopes: {}}}}", fromopenapi.Options{}, []string{"post: /oauth/token", "grant_type: client_credentials", "client_secret: secret:API_CLIENT_SECRET", "token: body.access_token"}},
		"password flow":       {get, "{type: oauth2, flows: {password: {tokenUrl: 'https://api.example.com/v1/token', scopes: {}}}}", people, []string{"post: /token", "username: ${agent.mail}", "password: ${agent.password}"}},
		"another host":        {get, "{type: oauth2, flows: {password: {tokenUrl: 'https://id.example.com/token', scopes: {}}}}", fromopenapi.Options{}, []string{"another host", "auth: {bearer: secret:API_TOKEN}"}},
		"login":               {get + loginJSON, "{type: http, scheme: bearer}", fromopenapi.Options{}, []string{"post: /v/sessions", "email: secret:API_USER", "password: secret:API_PASSWORD", "token: body.data.token", "one account"}},
		"login, people":       {get + loginJSON, "{type: http, scheme: bearer}", people, []string{"email: ${agent.mail}", "password: ${agent.password}"}},
		"login, registration": {get + loginJSON + signup, "{type: http, scheme: bearer}", fromopenapi.Options{}, []string{`email: ${session.uuid + "@example.com"}`, `password: ${("Pw1-" + session.uuid)[:20]}`, "post: /signup\n    auth: none"}},
		"session cookie":      {get + strings.Replace(loginJSON, "token:", "name:", 1) + "  /login: {post: {requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {user: {type: string}, password: {type: string}}}}}}, responses: {204: {}}}}\n", "{type: apiKey, in: cookie, name: sid}", fromopenapi.Options{}, []string{"cookies: on", "post: /login", "user: secret:API_USER"}},
	} {
		d := draft(t, api(tt.paths, "  securitySchemes: {s: "+tt.scheme+"}\n"), tt.o)
		d.Services[0].Name = "api"
		text := string(d.Write().Text)
		text = strings.ReplaceAll(text, "TEST_", "API_")
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s is missing in\n%s", name, want, text)
			}
		}
		if used(d) == "" || !d.Step("GET /me").Use {
			t.Errorf("%s: /me is not in the journey: %+v", name, d.Step("GET /me"))
		}
	}
}

func TestServers(t *testing.T) {
	for _, tt := range []struct{ servers, location, want string }{
		{"[]", "http://127.0.0.1:8000/openapi.json", "http://127.0.0.1:8000"},
		{"[{url: /api/v3}]", "https://example.com/docs/openapi.json", "https://example.com/api/v3"},
		{"[{url: v2/}]", "https://example.com/docs/openapi.json", "https://example.com/docs/v2"},
		{"[{url: 'https://prod.example.com'}, {url: 'http://localhost:9/x'}]", "http://localhost:9/openapi.json", "http://localhost:9/x"},
		{"[{url: 'https://prod.example.com'}]", "http://localhost:9/openapi.json", "https://prod.example.com"},
		{"[{url: /api}]", "openapi.yaml", ""},
		{"[{url: 'https://a.example.com/b'}]", "openapi.yaml", "https://a.example.com/b"},
	} {
		d := draft(t, "openapi: 3.0.0\ninfo: {title: x}\nservers: "+tt.servers+"\npaths: {/a: {get: {}}}", fromopenapi.Options{Location: tt.location})
		if got := d.Services[0].URL; got != tt.want {
			t.Errorf("%s at %s: got %q, want %q", tt.servers, tt.location, got, tt.want)
		}
	}
}

// TestPatterns evaluates what is made of patterns.
func TestPatterns(t *testing.T) {
	env, err := script.New(script.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{`^[A-Z]{3}-[0-9]{4}$`, `^\d{5}(-\d{4})?$`, `^[^@ ]+@[^@ ]+$`, `^(red|green)$`, `^[a-f0-9]{24}$`, `^\+?[1-9]\d{1,14}$`, `^\S+$`, `^.{3,8}$`, `^[\w.-]+$`, `^v\d+\.\d+$`, `a|b`} {
		text := string(draft(t, api("  /p: {post: {requestBody: {content: {application/json: {schema: {type: object, required: [p], properties: {p: {type: string, pattern: '"+pattern+"'}}}}}}, responses: {201: {}}}}\n", " {}\n"), fromopenapi.Options{}).Write().Text)
		_, line, _ := strings.Cut(text, "\n      p: ")
		line, _, _ = strings.Cut(line, "\n")
		if unquoted, ok := strings.CutPrefix(line, "'"); ok {
			line = strings.ReplaceAll(strings.TrimSuffix(unquoted, "'"), "''", "'")
		}
		template, err := env.Template(line, nil)
		if err != nil {
			t.Errorf("%s: %s: %v", pattern, line, err)
			continue
		}
		for seed := range uint64(20) {
			v, err := template.Eval(&script.Context{Key: draw.Key{}.Int(seed), Field: "p"})
			got := ""
			if err == nil {
				got, err = value.Text(v)
			}
			if err != nil || !regexp.MustCompile(pattern).MatchString(got) {
				t.Errorf("%s: %s became %q, %v", pattern, line, got, err)
				break
			}
		}
	}
}

// TestLarge makes a draft of a document with thousands of operations.
func TestLarge(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "  /r%d: {post: {responses: {201: {content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}}}\n  /r%d/{id}: {get: {responses: {200: {}}}}\n", i, i)
	}
	begun := time.Now()
	d := draft(t, api(b.String(), " {}\n"), fromopenapi.Options{})
	t.Logf("%v", time.Since(begun))
	count := strings.Count(used(d), " ") + 1
	if len(d.Steps) != 6000 || count != 50 || time.Since(begun) > time.Minute {
		t.Errorf("%d steps, %d in the journey", len(d.Steps), count)
	}
}

func FuzzDraft(f *testing.F) {
	for _, text := range []string{document(f, "petstore.yaml"), document(f, "fastapi.json"), api(things, thing)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := openapi.Load(text, openapi.Options{})
		if err != nil {
			return
		}
		draft := fromopenapi.Draft(d, fromopenapi.Options{Location: "http://127.0.0.1/openapi.json", File: "openapi.json", Text: text})
		seen := map[string]bool{}
		for _, s := range draft.Steps {
			if s.Name == "" || seen[s.Name] {
				t.Errorf("the name %q", s.Name)
			}
			seen[s.Name] = true
		}
		if len(draft.Write().Text) == 0 {
			t.Error("nothing is written")
		}
	})
}

// TestNamesOfTheClient checks that a PUT below a collection without a POST creates something under a made-up name, unless it may miss it.
func TestNamesOfTheClient(t *testing.T) {
	const paths = `
  /items: {get: {operationId: list_items, responses: {200: {}}}}
  /items/{item_id}:
    parameters: [{name: item_id, in: path, required: true, schema: {type: string}}]
    get: {operationId: get_item, responses: {200: {content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}}}
    put: {operationId: ItemsController_put, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}, responses: {200: {}%s}}
    delete: {operationId: delete_item, responses: {200: {}}}
  /items/{item_id}/labels/{uuid}:
    parameters: [{name: item_id, in: path, required: true, schema: {type: string}}, {name: uuid, in: path, required: true, schema: {type: string, format: uuid}}]
    put: {operationId: put_label, requestBody: {content: {application/json: {schema: {type: object}}}}, responses: {201: {}}}
`
	d := draft(t, api(fmt.Sprintf(paths, ""), thing), fromopenapi.Options{})
	if got := used(d); got != "items_put put_label list_items get_item delete_item" {
		t.Errorf("the journey is %s", got)
	}
	w := d.Write()
	for _, method := range []string{"get", "put", "delete"} {
		if want := method + `: /items/${"item-" + session.uuid[:13]}` + "\n"; !strings.Contains(string(w.Text), want) {
			t.Errorf("%q is missing in\n%s", want, w.Text)
		}
	}
	if !strings.Contains(string(w.Text), `/labels/${session.uuid}`) || len(w.Open) > 0 {
		t.Errorf("open is %q in\n%s", w.Open, w.Text)
	}
	if err := d.Follow("get item"); err != nil || used(d) != "items_put get_item" {
		t.Errorf("the journey in words is %s, %v", used(d), err)
	}
	d = draft(t, api(fmt.Sprintf(paths, ", 404: {}"), thing), fromopenapi.Options{})
	if s := d.Step("PUT /items/{item_id}"); s.Use || s.Against != "Not in the journey: no operation returns item_id." {
		t.Errorf("the step is %+v", s)
	}
	if got := d.Undecided(1); len(got) != 1 || got[0] != "item_id" {
		t.Errorf("%s has the values %q without a source", d.Steps[1].ID, got)
	}
	for id := range strings.FieldsSeq("GET PUT DELETE") {
		d.Step(id + " /items/{item_id}").Use = true
	}
	if w := d.Write(); len(w.Open) != 3 || w.Open[0] != "step get_item: item_id (for example 1)" || strings.Contains(string(w.Text), "Not in the journey") {
		t.Errorf("open is %q in\n%s", w.Open, w.Text)
	}
}
