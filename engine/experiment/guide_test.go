package experiment

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// guidePage returns the guide's page about experiments.
func guidePage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "assets", "guide", "16-experiments.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestGuideExamples plans the examples of the guide.
func TestGuideExamples(t *testing.T) {
	examples := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(guidePage(t), -1)
	if len(examples) != 2 {
		t.Errorf("%d examples", len(examples))
	}
	for _, m := range examples {
		e, err := read(m[1])
		if err != nil {
			t.Errorf("%v:\n%s", err, m[1])
			continue
		}
		if p, err := e.Plan(engine.DefaultSettings(), 0); err != nil || len(p.Points) < 2 {
			t.Errorf("%v:\n%s", err, m[1])
		}
	}
}

// TestGuideNamesEveryKey checks that the guide names each key and each design.
func TestGuideNamesEveryKey(t *testing.T) {
	page := guidePage(t)
	var s struct {
		Properties  map[string]any `json:"properties"`
		Definitions map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	keys := slices.Collect(maps.Keys(s.Properties))
	for _, d := range s.Definitions {
		keys = slices.AppendSeq(keys, maps.Keys(d.Properties))
	}
	for _, key := range append(keys, string(Grid), string(Zip), string(OneAtATime)) {
		if !regexp.MustCompile("`" + key + "[`:]|[{ ]" + key + ":|(?m:^)" + key + ":").MatchString(page) {
			t.Errorf("the guide does not mention %s", key)
		}
	}
}

// TestGuideDesigns reads each design in the table of the guide.
func TestGuideDesigns(t *testing.T) {
	_, page, _ := strings.Cut(guidePage(t), "## Designs\n")
	table, _, _ := strings.Cut(page, "## Measures\n")
	rows := regexp.MustCompile("(?m)^\\| `([^`]*)`").FindAllStringSubmatch(table, -1)
	if len(rows) != 9 {
		t.Errorf("%d designs", len(rows))
	}
	for _, m := range rows {
		design := strings.Replace(m[1], "[...]", "[{params.eagerness: 3}]", 1)
		if _, err := read("scenario: shopping\nvary: {params.eagerness: [1, 2]}\ndesign: " + design + "\n"); err != nil {
			t.Errorf("%s: %v", design, err)
		}
	}
}
