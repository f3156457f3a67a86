package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/cmd/internal/notice"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/view"
)

// schemaCmd prints JSON Schemas.
type schemaCmd struct {
	Topic string `arg:"" optional:"" name:"schema" help:"Name of the schema; without it, the one of scenario files."`
	List  bool   `help:"List all schemas."`
	jsonFlag
}

// scenarioSchema is the name of the schema of scenario files.
const scenarioSchema = "scenario"

// printed is what a command prints with --json.
type printed struct {
	command string // its name, with the flag that selects the answer, if any
	when    string // which line or case of several, if any
	of      any    // a value of the type that is printed
}

// answers lists what commands print with --json. The answers of timeline and try are the engine's view of an agent.
var answers = []printed{
	{"run", "started", startedJSON{}},
	{"run", "progress", progressJSON{}},
	{"run", "waiting", waitingJSON{}},
	{"run", "ended", endedJSON{}},
	{"run --chain", "", chain.Report{}},
	{"run --chain", "with a payload of rows, each", row{}},
	{"resume", "started", startedJSON{}},
	{"resume", "progress", progressJSON{}},
	{"resume", "waiting", waitingJSON{}},
	{"resume", "ended", endedJSON{}},
	{"fork", "started", startedJSON{}},
	{"fork", "progress", progressJSON{}},
	{"fork", "waiting", waitingJSON{}},
	{"fork", "ended", endedJSON{}},
	{"status", "", view.Status{}},
	{"set", "", changesJSON{}},
	{"pause", "", doneJSON{}},
	{"continue", "", doneJSON{}},
	{"stop", "", doneJSON{}},
	{"checkpoint", "", doneJSON{}},
	{"retire", "", doneJSON{}},
	{"requeue", "", doneJSON{}},
	{"broadcast", "", doneJSON{}},
	{"restore", "", doneJSON{}},
	{"runs", "", []runJSON{}},
	{"fetch", "", []runJSON{}},
	{"fetch", "with a run", checkpointsJSON{}},
	{"checkpoints", "", checkpointsJSON{}},
	{"agents", "", agentsJSON{}},
	{"agents --where", "", agentsFoundJSON{}},
	{"compare", "", comparisonJSON{}},
	{"audit", "", auditJSON{}},
	{"cleanup", "", cleanupJSON{}},
	{"cleanup", "waiting", waitingJSON{}},
	{"allowed", "", []allowedJSON{}},
	{"report", "", reportJSON{}},
	{"note", "", noteJSON{}},
	{"note", "with a text", doneJSON{}},
	{"delete", "", deletedJSON{}},
	{"prune", "", prunedJSON{}},
	{"trash", "", trashJSON{}},
	{"push", "", pushedJSON{}},
	{"push --check", "", []checkJSON{}},
	{"scenarios", "", []builtInJSON{}},
	{"validate", "", scenarioJSON{}},
	{"check", "", checksJSON{}},
	{"prove", "", []proofJSON{}},
	{"calibrate", "", calibration.Record{}},
	{"calibrate --history", "", []calibration.Record{}},
	{"calibrate --presets", "", []presetJSON{}},
	{"settings", "", settingsJSON{}},
	{"secret set", "", secretJSON{}},
	{"secret forget", "", secretJSON{}},
	{"secret check", "", secretJSON{}},
	{"mock", "each", mockedJSON{}},
	{"metrics", "", []metricJSON{}},
	{"licences", "", []licenceJSON{}},
	{"guide", "", []pageJSON{}},
	{"schema --list", "", []schemaJSON{}},
	{errorSchema, "", errorJSON{}},
	{notificationSchema, "", notice.Message{}},
}

// Names of the schemas of errors on standard error, and of what a webhook receives.
const (
	errorSchema        = "error"
	notificationSchema = "notification"
)

// schemaJSON names a schema.
type schemaJSON struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// schemas lists the schemas: that of scenarios, then one for each answer.
func schemas() (all []schemaJSON) {
	add := func(name string) {
		one := schemaJSON{name, schemaID(name)}
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	add(scenarioSchema)
	for _, a := range answers {
		add(schemaName(a.command))
	}
	return all
}

// schemaName is the name of the schema of a command's answer: the command in one word.
func schemaName(command string) string {
	return strings.ReplaceAll(strings.ReplaceAll(command, "--", ""), " ", "-")
}

// schemaID is the $id of a schema: for scenarios the address of the file.
func schemaID(name string) string {
	if name == scenarioSchema {
		return "https://raw.githubusercontent.com/throng-sim/throng/main/assets/scenarios/schema.json"
	}
	return "urn:throng:schema:" + name
}

// Run is called by kong.
func (c *schemaCmd) Run(t *terminal) error {
	all := schemas()
	switch {
	case c.List && t.json:
		return t.print(all)
	case c.List:
		w := show.NewTable(t.out)
		for _, s := range all {
			show.Row(w, "%s\t%s\n", s.Name, s.ID)
		}
		return w.Flush()
	case c.Topic == "" || c.Topic == scenarioSchema:
		text, err := fs.ReadFile(assets.Scenarios(), "schema.json")
		if err != nil {
			return fmt.Errorf("read the schema of scenarios: %w", err)
		}
		fmt.Fprint(t.out, string(text))
		return nil
	}
	s, ok := answerSchema(c.Topic)
	if !ok {
		var names []string
		for _, s := range all {
			names = append(names, s.Name)
		}
		return &engine.FieldError{Field: "schema", Problem: fmt.Sprintf("no such schema: %s", c.Topic), Hint: "choose one of " + strings.Join(names, ", ")}
	}
	return t.print(s)
}

// answerSchema returns the JSON Schema of a command's answer.
func answerSchema(name string) (map[string]any, bool) {
	d := definitions{all: map[string]any{}, types: map[string]reflect.Type{}}
	var cases []any
	for _, a := range answers {
		if schemaName(a.command) != name {
			continue
		}
		one := d.of(reflect.TypeOf(a.of))
		if a.when != "" {
			one["description"] = a.when
		}
		cases = append(cases, one)
	}
	if len(cases) == 0 {
		return nil, false
	}
	s := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"$id":     schemaID(name),
		"title":   schemaTitle(name),
		"$defs":   d.all,
		"anyOf":   cases,
	}
	return s, true
}

// schemaTitle is the title of a schema.
func schemaTitle(name string) string {
	switch name {
	case errorSchema:
		return "An error of throngctl, on standard error"
	case notificationSchema:
		return "A notification, as a webhook receives it"
	}
	return "What throngctl " + name + " prints with --json"
}

// definitions collects the schemas of structs under $defs.
type definitions struct {
	all   map[string]any
	types map[string]reflect.Type
}

// of returns the schema of values of a type, as encoding/json writes them.
func (d *definitions) of(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Implements(reflect.TypeFor[json.Marshaler]()), reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return map[string]any{} // it writes itself
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{d.of(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Slice:
		return map[string]any{"type": []string{"array", "null"}, "items": d.of(t.Elem())}
	case reflect.Array:
		return map[string]any{"type": "array", "items": d.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": d.of(t.Elem())}
	case reflect.Struct:
		return map[string]any{"$ref": "#/$defs/" + d.define(t)}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Interface:
		return map[string]any{}
	default:
		return map[string]any{"type": "integer"}
	}
}

// define adds the schema of a struct, once, and returns its name.
func (d *definitions) define(t reflect.Type) string {
	name := strings.TrimSuffix(t.Name(), "JSON")
	if known, ok := d.types[name]; ok && known != t || name == "" {
		name = strings.TrimPrefix(path.Base(t.PkgPath())+"."+name, ".")
		if t.Name() == "" {
			name += fmt.Sprint(len(d.types))
		}
	}
	if d.types[name] == t {
		return name
	}
	d.types[name] = t
	properties, required := map[string]any{}, []string{}
	d.fields(t, properties, &required)
	d.all[name] = map[string]any{"type": "object", "properties": properties, "required": required}
	return name
}

// fields adds the fields of a struct, those of embedded structs too.
func (d *definitions) fields(t reflect.Type, properties map[string]any, required *[]string) {
	for f := range t.Fields() {
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		of := f.Type
		if of.Kind() == reflect.Pointer && f.Anonymous {
			of = of.Elem()
		}
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && !tagged:
			d.fields(of, properties, required)
		default:
			if name == "" {
				name = f.Name
			}
			properties[name] = d.of(f.Type)
			if !strings.Contains(options, "omit") {
				*required = append(*required, name)
			}
		}
	}
}
