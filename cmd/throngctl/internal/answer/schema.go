// Package answer defines the JSON that throngctl prints with --json, and its JSON Schemas.
package answer

import (
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/cmd/internal/notice"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/voices"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// Names of the schemas of files.
const (
	ScenarioSchema   = "scenario"
	ExperimentSchema = "experiment"
)

// SchemaFile returns the file with the schema of scenario or experiment files, among the built-in scenarios; "" if the name is
// another one. Without a name, it is the schema of scenario files.
func SchemaFile(name string) string {
	switch name {
	case "", ScenarioSchema:
		return "schema.json"
	case ExperimentSchema:
		return "experiment.schema.json"
	}
	return ""
}

// Printed is an answer of a command.
type Printed struct {
	Command string // command name, and the flag that selects the answer
	When    string // which of several answers
	Of      any    // value of the printed type
}

// All lists the answers of all commands. The engine defines those of timeline and try.
var All = []Printed{
	{"run", "started", Started{}},
	{"run", "progress", Progress{}},
	{"run", "waiting", Waiting{}},
	{"run", "ended", Ended{}},
	{"run --chain", "", chain.Report{}},
	{"run --chain", "with a payload of rows, each", Row{}},
	{"resume", "started", Started{}},
	{"resume", "progress", Progress{}},
	{"resume", "waiting", Waiting{}},
	{"resume", "ended", Ended{}},
	{"fork", "started", Started{}},
	{"fork", "progress", Progress{}},
	{"fork", "waiting", Waiting{}},
	{"fork", "ended", Ended{}},
	{"survey", "started", Started{}},
	{"survey", "progress", Progress{}},
	{"survey", "waiting", Waiting{}},
	{"survey", "ended", Ended{}},
	{"survey", "answers", Survey{}},
	{"agreement", "", Agreement{}},
	{"learn", "", Learned{}},
	{"bundle make", "", Bundle{}},
	{"bundle verify", "", BundleCheck{}},
	{"bundle open", "", Bundle{}},
	{"experiment new", "", Done{}},
	{"experiment run", "waiting", Waiting{}},
	{"experiment run", "each change", ExperimentRun{}},
	{"experiment run", "at the end", Experiment{}},
	{"experiment resume", "waiting", Waiting{}},
	{"experiment resume", "each change", ExperimentRun{}},
	{"experiment resume", "at the end", Experiment{}},
	{"experiment resume", "it was paused in another process", Done{}},
	{"experiment list", "", []ExperimentEntry{}},
	{"experiment status", "", Experiment{}},
	{"experiment pause", "", Done{}},
	{"experiment stop", "", Done{}},
	{"experiment skip", "", Done{}},
	{"experiment first", "", Done{}},
	{"experiment extend", "", Done{}},
	{"experiment forget", "", Done{}},
	{"experiment compare", "", Effects{}},
	{"experiment report", "", Done{}},
	{"queue list", "", []queue.Entry{}},
	{"queue cancel", "", Done{}},
	{"queue priority", "", Done{}},
	{"status", "", view.Status{}},
	{"fleet status", "", []workers.State{}},
	{"fleet status", "of a run that is not in progress", PastFleet{}},
	{"fleet drain", "", Done{}},
	{"fleet undrain", "", Done{}},
	{"fleet remove", "", Done{}},
	{"fleet limit", "", Done{}},
	{"set", "", Changes{}},
	{"pause", "", Done{}},
	{"continue", "", Done{}},
	{"stop", "", Done{}},
	{"checkpoint", "", Done{}},
	{"retire", "", Done{}},
	{"requeue", "", Done{}},
	{"broadcast", "", Done{}},
	{"restore", "", Done{}},
	{"runs", "", []Run{}},
	{"fetch", "", []Run{}},
	{"fetch", "with a run", Checkpoints{}},
	{"checkpoints", "", Checkpoints{}},
	{"transcript", "each line", view.Line{}},
	{"transcript --voices", "", voices.Crowd{}},
	{"agents", "", Agents{}},
	{"agents --where", "", FoundAgents{}},
	{"compare", "", Comparison{}},
	{"compare --with", "with real data", Validation{}},
	{"audit", "", Audit{}},
	{"cleanup", "", Cleanup{}},
	{"cleanup", "waiting", Waiting{}},
	{"allowed", "", []Allowed{}},
	{"report", "", Report{}},
	{"note", "", Note{}},
	{"note", "with a text", Done{}},
	{"name", "", Marks{}},
	{"tag", "", Marks{}},
	{"star", "", Marks{}},
	{"delete", "", Deleted{}},
	{"prune", "", Pruned{}},
	{"trash", "", Trash{}},
	{"push", "", Pushed{}},
	{"push --check", "", []Check{}},
	{"scenarios", "", []BuiltIn{}},
	{"validate", "", Scenario{}},
	{"validate", "an experiment file", ExperimentPlan{}},
	{"check", "", Checks{}},
	{"prove", "", []Proof{}},
	{"calibrate", "", calibration.Record{}},
	{"calibrate --fleet", "", FleetCalibration{}},
	{"calibrate --history", "", []calibration.Record{}},
	{"calibrate --presets", "", []Preset{}},
	{"settings", "", Settings{}},
	{"import", "", Import{}},
	{"secret set", "", Secret{}},
	{"secret forget", "", Secret{}},
	{"secret check", "", Secret{}},
	{"mock", "each", Mock{}},
	{"record", "started", Recorder{}},
	{"record", "request", Recorded{}},
	{"record", "ended", Recording{}},
	{"metrics", "", []Metric{}},
	{"licenses", "", []License{}},
	{"guide", "", []Page{}},
	{"schema --list", "", []Schema{}},
	{ErrorSchema, "", Error{}},
	{NotificationSchema, "", notice.Message{}},
}

// Names of the schemas of errors, and of notifications to a webhook.
const (
	ErrorSchema        = "error"
	NotificationSchema = "notification"
)

// Schema names a schema.
type Schema struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// Schemas lists the schemas of files, then those of the answers.
func Schemas() (all []Schema) {
	add := func(name string) {
		one := Schema{name, SchemaID(name)}
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	add(ScenarioSchema)
	add(ExperimentSchema)
	for _, a := range All {
		add(SchemaName(a.Command))
	}
	return all
}

// SchemaName returns the name of the schema of a command's answer.
func SchemaName(command string) string {
	return strings.ReplaceAll(strings.ReplaceAll(command, "--", ""), " ", "-")
}

// SchemaID returns the $id of a schema. For files it is the address of the schema's file.
func SchemaID(name string) string {
	if file := SchemaFile(name); file != "" {
		return "https://raw.githubusercontent.com/throng-sim/throng/main/assets/scenarios/" + file
	}
	return "urn:throng:schema:" + name
}

// NewSchema returns the JSON Schema of a command's answer.
func NewSchema(name string) (map[string]any, bool) {
	d := definitions{all: map[string]any{}, types: map[string]reflect.Type{}}
	var cases []any
	for _, a := range All {
		if SchemaName(a.Command) != name {
			continue
		}
		one := d.of(reflect.TypeOf(a.Of))
		if a.When != "" {
			one["description"] = a.When
		}
		cases = append(cases, one)
	}
	if len(cases) == 0 {
		return nil, false
	}
	s := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"$id":     SchemaID(name),
		"title":   schemaTitle(name),
		"$defs":   d.all,
		"anyOf":   cases,
	}
	return s, true
}

// schemaTitle returns the title of a schema.
func schemaTitle(name string) string {
	switch name {
	case ErrorSchema:
		return "An error of throngctl, on standard error"
	case NotificationSchema:
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
		return map[string]any{} // it has its own JSON form
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
	name := t.Name()
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

// fields adds the fields of a struct, including those of embedded structs.
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
