package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/fit"
	"go.yaml.in/yaml/v4"
)

// guides is the folder of the built-in scenarios, with their guide and the schema for editors.
var guides = filepath.Join("..", "..", "assets", "scenarios")

// schema is a JSON Schema or a part of one.
type schema map[string]any

// allowedAt returns the keys that the reader allows at a place of a scenario. It gets them from the error about an
// unknown key.
func allowedAt(t *testing.T, place string) []string {
	t.Helper()
	_, err := read(strings.Replace(probes(place), "?", "zzzz: 1", 1), nil, nil)
	mistakes, ok := errors.AsType[*Mistakes](err)
	if !ok {
		t.Fatalf("%s: %v", place, err)
	}
	for _, p := range mistakes.report.Problems() {
		if _, list, ok := strings.Cut(p.Hint, "allowed here: "); ok && p.Problem == "unknown key `zzzz`" {
			return strings.Split(list, ", ")
		}
	}
	t.Fatalf("%s: the unknown key is not reported: %v", place, err)
	return nil
}

// probes returns a scenario with a question mark where a key can be, for each kind of place.
func probes(place string) string {
	const rest = "chain c: {step a: {kind: stop}}\n"
	word, of, _ := strings.Cut(place, " ")
	switch word {
	case "file":
		return "?\n" + rest
	case "parameter":
		return "parameters: {p: {?}}\n" + rest
	case "intervention":
		return "interventions: [{?}]\n" + rest
	case "service":
		return "services: {s: {kind: " + of + ", ?}}\n" + rest
	case "limits", "auth":
		return "services: {s: {kind: " + of + ", url: 'http://127.0.0.1', " + word + ": {?}}}\n" + rest
	case "key":
		word = "header"
		fallthrough
	case "jwt", "login", "oauth2", "basic":
		return "services: {s: {kind: http, url: 'http://127.0.0.1', auth: {" + word + ": {?}}}}\n" + rest
	case "write":
		return "population: {count: 1, write: {?}}\n" + rest
	case "sample":
		return "population: {count: 1, from: people.csv, sample: {?}}\n" + rest
	case "connector":
		return "connectors: {n: {kind: " + of + ", ?}}\n" + rest
	case "chain":
		return "chain c: {?, step a: {kind: stop}}\n"
	case "block":
		return "chain c: {step a: {kind: if, condition: 'True', then: {?, step b: {kind: stop}}}}\n"
	case "step":
		return "chain c: {steps: [{name: a, kind: " + of + ", ?}]}\n"
	case "bucket":
		return "services: {s: {kind: http, url: 'http://127.0.0.1', limits: {buckets: {b: {?}}}}}\n" + rest
	case "tls":
		return "services: {s: {kind: http, url: 'https://127.0.0.1', tls: {?}}}\n" + rest
	case "batches":
		return "services: {s: {kind: llm, url: 'https://127.0.0.1', model: m, batch: {?}}}\n" + rest
	case "proxy":
		return "services: {s: {kind: http, url: 'https://127.0.0.1', proxy: {?}}}\n" + rest
	case "verify":
		return "services: {s: {kind: http, url: 'http://127.0.0.1', verify: {?}}}\n" + rest
	case "arrivals":
		return "clock: {arrivals: {?}}\n" + rest
	case "stage":
		return "clock: {arrivals: {profile: [{rate: 1, ?}]}}\n" + rest
	case "tool":
		return "tools: {t: {?}}\n" + rest
	case "tool_limits":
		return "tools: {t: {about: x, call: 1}}\nservices: {s: {kind: llm, url: 'mock:model'}}\nchain c: {step a: {kind: llm, service: s, prompt: x, tools: [t], tool_limits: {?}}}\n"
	case "validated":
		return "validate_against: {file: real.csv, measures: {x: {?}}}\n" + rest
	case "retry":
		return "chain c: {step a: {kind: stop, retry: {?}}}\n"
	case "weights", "fields":
		return "chain c: {step a: {kind: recall, " + word + ": {?}}}\n" + rest
	case "message":
		return "services: {s: {kind: llm, url: 'mock:model'}}\nchain c: {step a: {kind: llm, service: s, messages: [{?}]}}\n"
	}
	return word + ": {?}\n" + rest // of the file itself
}

// keysAt returns the schema of a map at a place: the keys that the reader allows, with the descriptions in keyWords.
func (s *schemaMaker) keysAt(place string) schema {
	word, _, _ := strings.Cut(place, " ")
	properties, patterns := schema{}, schema{}
	for _, key := range allowedAt(s.t, place) {
		k, ok := s.words[place+"."+key]
		name := place + "." + key
		if !ok {
			name = word + "." + key
			k, ok = s.words[name]
		}
		if !ok {
			s.t.Errorf("keyWords has no %q at %q", key, place)
			continue
		}
		s.used[name] = true
		value := maps.Clone(k.value)
		value["description"] = k.about
		if of, named := strings.CutSuffix(key, " NAME"); named {
			patterns["^"+of+`\s+\S`] = value
			continue
		}
		properties[key] = value
	}
	out := schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(patterns) > 0 {
		out["patternProperties"] = patterns
	}
	return out
}

// schemaMaker builds the schema and records which words it used.
type schemaMaker struct {
	t     *testing.T
	words map[string]keyWord
	used  map[string]bool
}

// byKind returns the schema of a map whose kind determines its keys.
func (s *schemaMaker) byKind(place string, kinds, names []string) schema {
	var each []schema
	for _, kind := range kinds {
		is := []schema{}
		for _, name := range names {
			is = append(is, schema{"required": []string{name}, "properties": schema{name: schema{"const": kind}}})
		}
		each = append(each, schema{"if": schema{"anyOf": is}, "then": s.keysAt(place + " " + kind)})
	}
	properties, needed := schema{}, []schema{}
	for _, name := range names {
		properties[name] = schema{"enum": kinds}
		needed = append(needed, schema{"required": []string{name}})
	}
	return schema{"type": "object", "properties": properties, "anyOf": needed, "allOf": each}
}

func (s *schemaMaker) make() schema {
	kindly := []string{"kind", "type"}
	services := []string{"http", "llm", "postgres", "mcp"}
	calls := slices.DeleteFunc(chain.Kinds(), func(k string) bool { return slices.Contains([]string{"connector", "if", "for", "while", "stop"}, k) })
	definitions := schema{
		"step": s.byKind("step", chain.Kinds(), kindly), "connector": s.byKind("connector", calls, kindly),
		"service": s.byKind("service", services, []string{"kind"}),
		"write":   s.keysAt("write"), "retry": s.keysAt("retry"), "message": s.keysAt("message"), "tool": s.keysAt("tool"), "tool_limits": s.keysAt("tool_limits"), "jwt": s.keysAt("jwt"), "login": s.keysAt("login"),
		"oauth2": s.keysAt("oauth2"), "weights": s.keysAt("weights"), "fields": s.keysAt("fields"),
		"verify": s.keysAt("verify"), "bucket": s.keysAt("bucket"), "tls": s.keysAt("tls"), "batches": s.keysAt("batches"), "basic": s.keysAt("basic"), "key": s.keysAt("key"),
		"intervention": s.keysAt("intervention"), "population": s.keysAt("population"), "validate_against": s.keysAt("validate_against"), "success": s.keysAt("success"),
		"clock": s.keysAt("clock"), "arrivals": s.keysAt("arrivals"), "stage": s.keysAt("stage"),
	}
	for place, or := range map[string][]string{
		"validated": {"string"}, "warm_up": {"boolean"}, "sample": {"boolean"}, "proxy": {"string"}, "cleanup": {"string"}, "parameter": {"string", "number", "boolean"},
	} {
		short := s.keysAt(place)
		short["type"] = append(or, "object")
		definitions[place] = short
	}
	for _, kind := range services {
		definitions["limits_"+kind], definitions["auth_"+kind] = s.keysAt("limits "+kind), s.keysAt("auth "+kind)
	}
	for _, place := range []string{"chain", "block"} {
		steps := s.keysAt(place)
		steps["type"], steps["items"] = []string{"object", "array"}, ref("step")
		definitions[place] = steps
	}
	out := s.keysAt("file")
	out["$id"] = "https://raw.githubusercontent.com/throng-sim/throng/main/assets/scenarios/schema.json"
	out["$schema"], out["title"], out["definitions"] = "http://json-schema.org/draft-07/schema#", "A scenario of Throng", definitions
	return out
}

// TestSchema checks that the schema for editors has the keys that the reader allows. With -update, it writes the
// schema.
func TestSchema(t *testing.T) {
	m := &schemaMaker{t: t, words: keyWords(), used: map[string]bool{}}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m.make()); err != nil {
		t.Fatal(err)
	}
	for name := range m.words {
		if !m.used[name] {
			t.Errorf("keyWords has %q, which no reader allows", name)
		}
	}
	path := filepath.Join(guides, "schema.json")
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, out.Bytes()) {
		t.Errorf("%s is not what the reader allows; %s", path, "go test ./engine/scenario -run TestSchema -update writes it")
	}
}

// TestGuideNamesEveryKey checks that the guide names each key that the reader allows, as code or in an example.
func TestGuideNamesEveryKey(t *testing.T) {
	guide := string(file(t, "README.md"))
	for name := range keyWords() {
		_, key, _ := cutLast(name)
		key, _, _ = strings.Cut(key, " ")
		if !regexp.MustCompile("`" + key + "[`:]|(?m:^|[{ ])" + key + ":|`[^`]* " + key + "[` ]").MatchString(guide) {
			t.Errorf("the guide does not mention %s", name)
		}
	}
}

// TestSchemaFits checks that the built-in scenarios and the examples of the guide match the schema.
func TestSchemaFits(t *testing.T) {
	s := editorSchema(t)
	texts := map[string][]byte{}
	for _, name := range []string{"shopping.yaml", "conversation.yaml", "world.yaml", "analysis.ai"} {
		texts[name] = file(t, name)
	}
	for _, m := range regexp.MustCompile("(?ms)^```yaml\n# (\\S+)\n(.*?)^```$").FindAllSubmatch(file(t, "README.md"), -1) {
		texts[string(m[1])] = m[2]
	}
	if len(texts) < 20 {
		t.Errorf("only %d scenarios", len(texts))
	}
	for name, text := range texts {
		if err := s.Check(asJSON(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaFindsMistakes checks that the reader, too, rejects what does not match the schema.
func TestSchemaFindsMistakes(t *testing.T) {
	s := editorSchema(t)
	for _, text := range []string{
		"titel: x\nchain c: {step a: {kind: stop}}",
		"chain c: {step a: {kind: htttp}}",
		"chain c: {step a: {kind: stop, wen: 'True'}}",
		"chain c: {step a: {kind: stop, to: all}}",
		"chain c: {step a: {because: tired}}",
		"chain c: {steps: [{name: a, kind: python, call: 1, paralel: true}]}",
		"chain c: {step a: {kind: if, condition: 'True', then: {step b: {kind: say, to: all, txt: hello}}}}",
		"chain c: {step a: {kind: python, call: 1, parallel: sometimes}}",
		"services: {s: {kind: llm, url: 'mock:model', limits: {connections: 5}}}\nchain c: {step a: {kind: stop}}",
		"services: {s: {kind: http, url: 'mock:shop', model: x}}\nchain c: {step a: {kind: stop}}",
		"order: random\nchain c: {step a: {kind: stop}}",
		"success: {price: 3}\nchain c: {step a: {kind: stop}}",
		"connectors: {a: {kind: if, condition: 'True'}}\nchain c: {step a: {kind: stop}}",
	} {
		if err := s.Check(asJSON(t, []byte(text))); err == nil {
			t.Errorf("the schema takes\n%s", text)
		}
		if _, err := read(text, nil, nil); err == nil {
			t.Errorf("the reader takes\n%s", text)
		}
	}
}

func editorSchema(t *testing.T) *fit.Schema {
	t.Helper()
	s, err := fit.Compile(file(t, "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func file(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(guides, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// asJSON converts YAML to a decoded document, as an editor does.
func asJSON(t *testing.T, text []byte) []byte {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal(text, &n); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(plainly(n.Content[0]))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func plainly(n *yaml.Node) any {
	if n.Kind == yaml.MappingNode {
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = plainly(n.Content[i+1])
		}
		return out
	}
	if n.Kind == yaml.SequenceNode {
		out := []any{}
		for _, item := range n.Content {
			out = append(out, plainly(item))
		}
		return out
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil {
			return f
		}
	case "!!bool":
		return n.Value == "true"
	case "!!null":
		return nil
	}
	return n.Value
}

func ref(name string) schema { return schema{"$ref": fmt.Sprintf("#/definitions/%s", name)} }
