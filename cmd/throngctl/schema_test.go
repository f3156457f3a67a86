package main

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
)

// TestSchemas compiles each schema and compares its $id with the list.
func TestSchemas(t *testing.T) {
	code, out, stderr := ctl(t, "schema", "--list", "--json")
	var all []answer.Schema
	if err := json.Unmarshal([]byte(out), &all); err != nil || code != exitDone {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, stderr)
	}
	ids := map[string]bool{}
	for _, s := range all {
		schemaOf(t, s.Name, s.ID)
		ids[s.ID] = true
	}
	if len(ids) != len(all) || len(all) < 40 {
		t.Errorf("%d schemas have %d IDs", len(all), len(ids))
	}
}

// TestSchemaOfFiles checks that schema prints the schemas of scenarios and experiments, which editors use.
func TestSchemaOfFiles(t *testing.T) {
	for command, file := range map[string]string{"schema": "schema.json", "schema scenario": "schema.json", "schema experiment": "experiment.schema.json"} {
		want, err := fs.ReadFile(assets.Scenarios(), file)
		if err != nil {
			t.Fatal(err)
		}
		if code, out, stderr := ctl(t, strings.Fields(command)...); code != exitDone || out != string(want) {
			t.Errorf("%s: exit code %d, begins with %.40q\n%s", command, code, out, stderr)
		}
	}
	if code, _, stderr := ctl(t, "schema", "stauts"); code != exitUsage || !strings.Contains(stderr, "status") {
		t.Errorf("an unknown schema: exit code %d\n%s", code, stderr)
	}
}

// TestAnswersFitTheirSchemas validates the output of commands with --json against their schemas.
func TestAnswersFitTheirSchemas(t *testing.T) {
	data := t.TempDir()
	for _, test := range []struct {
		schema, command string
		code            int
	}{
		{"run", "run shopping --set agents=20 --cycles 2 --mock-latency none --checkpoint-interval 1ms --json", exitDone},
		{"run-chain", "run analysis --chain analysis --mock-latency none --json", exitDone},
		{"runs", "runs --json", exitDone},
		{"status", "status --json", exitDone},
		{"checkpoints", "checkpoints --json", exitDone},
		{"agents", "agents --json", exitDone},
		{"agents-where", "agents --where agent.index<3 --json", exitDone},
		{"audit", "audit --json", exitDone},
		{"check", "check --after --json", exitDone},
		{"scenarios", "scenarios --json", exitDone},
		{"validate", "validate shopping --json", exitDone},
		{"validate", "validate shopping --crn --json", exitDone},
		{"calibrate-presets", "calibrate --presets --json", exitDone},
		{"settings", "settings --json", exitDone},
		{"metrics", "metrics --json", exitDone},
		{"licenses", "licenses --json", exitDone},
		{"guide", "guide --json", exitDone},
		{"trash", "trash --json", exitDone},
		{"set", "set --json", exitFailed}, // no run is in progress
		{"schema-list", "schema --list --json", exitDone},
	} {
		schema := schemaOf(t, test.schema, answer.SchemaID(test.schema))
		code, out, stderr := ctl(t, append(strings.Fields(test.command), "--data", data)...)
		if test.code != exitDone {
			schema, out = schemaOf(t, answer.ErrorSchema, answer.SchemaID(answer.ErrorSchema)), stderr
		}
		n := 0
		for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); n++ {
			var printed any
			if err := dec.Decode(&printed); err != nil {
				t.Fatalf("%s: %v\n%s", test.command, err, out)
			}
			if err := schema.Validate(printed); err != nil {
				t.Errorf("%s: %v", test.command, err)
			}
		}
		if n == 0 || code != test.code {
			t.Errorf("%s: exit code %d, %d answers\n%s", test.command, code, n, stderr)
		}
	}
	if err := schemaOf(t, "status", answer.SchemaID("status")).Validate(map[string]any{"run": 7}); err == nil {
		t.Error("the schema of status accepts anything")
	}
}

// schemaOf compiles the schema that throngctl schema prints.
func schemaOf(t *testing.T, name, id string) *jsonschema.Schema {
	t.Helper()
	code, out, stderr := ctl(t, "schema", name)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	if err != nil || code != exitDone {
		t.Fatalf("schema %s: exit code %d, %v\n%s", name, code, err, stderr)
	}
	if got := doc.(map[string]any)["$id"]; got != id {
		t.Errorf("schema %s: $id is %v, want %s", name, got, id)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(id, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
