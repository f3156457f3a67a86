package experiment

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/throng-sim/throng/engine/internal/fit"

	"github.com/throng-sim/throng/engine/scenario"
)

var update = flag.Bool("update", false, "write golden files")

// schemaFile is the schema for editors.
var schemaFile = filepath.Join(builtIns, "experiment.schema.json")

// TestSchema checks that the file for editors is the schema of the package. With -update, it writes the file.
func TestSchema(t *testing.T) {
	want := Schema()
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v; go test ./engine/experiment -run TestSchema -update writes %s", err, schemaFile)
	}
}

// allowedAt returns the keys that the reader allows at a place, from the error about an unknown key.
func allowedAt(t *testing.T, place string) []string {
	t.Helper()
	text := map[string]string{
		"":           "scenario: small\nzzzz: 1\n",
		"range":      "scenario: small\nvary: {params.share: {zzzz: 1}}\n",
		"design":     "scenario: small\ndesign: {zzzz: 1}\n",
		"replicates": "scenario: small\nreplicates: {zzzz: 1}\n",
		"until":      "scenario: small\nreplicates: {until: {zzzz: 1}}\n",
		"budget":     "scenario: small\nbudget: {zzzz: 1}\n",

		"validate_against": "scenario: small\nvalidate_against: {zzzz: 1}\n",
		"validated":        "scenario: small\nvalidate_against: {file: real.csv, measures: {x: {zzzz: 1}}}\n",
	}[place]
	_, err := read(text)
	mistakes, ok := err.(*scenario.Mistakes) //nolint:errorlint // Read returns it as it is
	if !ok {
		t.Fatalf("%s: %v", place, err)
	}
	for _, p := range mistakes.Problems() {
		if _, list, ok := strings.Cut(p.Hint, "allowed here: "); ok && p.Text == "unknown key `zzzz`" {
			return strings.Split(list, ", ")
		}
	}
	t.Fatalf("%s: the unknown key is not reported: %v", place, err)
	return nil
}

// TestSchemaHasTheKeysOfTheReader checks each map of the file.
func TestSchemaHasTheKeysOfTheReader(t *testing.T) {
	var s struct {
		Properties  map[string]any `json:"properties"`
		Definitions map[string]struct {
			Properties map[string]struct{ Description string }
		}
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"", "range", "design", "replicates", "until", "budget", "validate_against", "validated"} {
		want := allowedAt(t, place)
		slices.Sort(want)
		got := slices.Sorted(maps.Keys(s.Properties))
		if place != "" {
			got = slices.Sorted(maps.Keys(s.Definitions[place].Properties))
			for key, p := range s.Definitions[place].Properties {
				if p.Description == "" {
					t.Errorf("%s.%s has no description", place, key)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: the schema has %v, the reader %v", place, got, want)
		}
	}
}

func schema(t *testing.T) *fit.Schema {
	t.Helper()
	s, err := fit.Compile(Schema())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemaFits checks that samples and what Write returns match the schema.
func TestSchemaFits(t *testing.T) {
	s := schema(t)
	texts := map[string][]byte{"the example": []byte(issueExample)}
	for _, name := range []string{"shopping", "conversation", "world", "analysis", "small"} {
		of, err := load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = Sample(of, name)
	}
	for i, text := range []string{
		"scenario: small\n",
		"scenario: small\nvary: {params.share: {from: 0, to: 1}, params.agents: {log: [1, 50]}, params.word: {at: 2, levels: ['1', x]}}\ndesign: {morris: 3, levels: 6}\nreplicates: 4\n",
		"scenario: small\ndesign: {points: [{params.share: 0.2, params.word: '5'}, {params.share: 0.7}]}\nreplicates: [1, 2]\nbudget: {time: 90}\nseed: 4\n",
		"scenario: small\nvary: {params.loud: true, params.share: {from: 0, to: 1, points: 3}}\nreplicates: {until: {half_width: 0.1, of: acted}}\n",
		"scenario: small\nvalidate_against: {file: real.csv, measures: {price: events.sold.price.mean, home: {of: outcome, kind: category, per: session}}}\n",
	} {
		texts[strconv.Itoa(i)], texts["written "+strconv.Itoa(i)] = []byte(text), mustRead(t, text, "real.csv", realRows).Write()
	}
	for name, text := range texts {
		if err := s.Check(asJSON(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaFindsMistakes checks that the reader, too, rejects what does not match the schema.
func TestSchemaFindsMistakes(t *testing.T) {
	s := schema(t)
	for _, text := range []string{
		"vary: {}",
		"scenario: small\nvari: {params.share: [1]}",
		"scenario: small\nvary: {param.share: [1]}",
		"scenario: small\nvary: {params.share: []}",
		"scenario: small\nvary: {params.share: {from: 0, two: 1}}",
		"scenario: small\nvary: {params.share: {from: 0, to: 1, step: 0.1, points: 4}}",
		"scenario: small\ndesign: gird",
		"scenario: small\ndesign: lhs",
		"scenario: small\ndesign: {lhs: 4, sobol: 4}",
		"scenario: small\ndesign: {points: []}",
		"scenario: small\nreplicates: 0",
		"scenario: small\nreplicates: {until: {of: acted}}",
		"scenario: small\nmeasures: []",
		"scenario: small\nsettings: {cycles: [1]}",
		"scenario: small\nbudget: {usd: -1}",
		"scenario: small\nparallel: 0",
		"scenario: small\nvalidate_against: {file: real.csv}",
		"scenario: small\nvalidate_against: {file: real.csv, measures: {}}",
		"scenario: small\nvalidate_against: {file: real.csv, measures: {price: {kind: number}}}",
		"scenario: small\nvalidate_against: {file: real.csv, measures: {price: {of: events.sold.price, kind: text}}}",
	} {
		if err := s.Check(asJSON(t, []byte(text))); err == nil {
			t.Errorf("the schema accepts\n%s", text)
		}
		if _, err := read(text); err == nil {
			t.Errorf("the reader accepts\n%s", text)
		}
	}
}

// asJSON converts YAML to a decoded document, as an editor does.
func asJSON(t *testing.T, text []byte) []byte {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
