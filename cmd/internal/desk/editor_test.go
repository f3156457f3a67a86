package desk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/ui/editor"
	"github.com/throng-sim/throng/ui/setup"
)

// edited is a scenario file whose line breaks and byte order mark must be preserved.
const edited = "\ufeff# mine\r\nparameters:\r\n    n: {default: 3, min: 1}   # how many\r\npopulation: {count: \"${params.n}\"}\r\n" +
	"services: {shop: {kind: http, url: 'mock:shop'}}\r\nclock: {cycle: 1h}\r\nfunctions: mine.star\r\nchain a:\r\n    step b: {kind: emit, event: done, data: \"${f(1)}\"}"

func editing(t *testing.T) (d editorDesk, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "mine.yaml")
	for name, text := range map[string]string{path: edited, filepath.Join(filepath.Dir(path), "mine.star"): "def f(x):\n    return x\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return editorDesk{open(t, t.TempDir())}, path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEditorOpensAndChecks(t *testing.T) {
	d, path := editing(t)
	doc, err := d.Open(t.Context(), path)
	if err != nil || doc.BuiltIn || len(doc.Files) != 2 || doc.Files[1].Name != "mine.star" || doc.Draft != nil {
		t.Fatalf("opened %+v, %v", doc, err)
	}
	o := editor.Order{Name: path, Given: map[string]string{"n": "5"}}
	if found, err := d.Check(t.Context(), o); err != nil || len(found.Problems) > 0 || found.Agents != 5 || len(found.Fields) != 2 {
		t.Errorf("found %+v, %v", found, err)
	}
	o.Texts = map[string][]byte{
		"mine.yaml": []byte(strings.Replace(edited, "kind: emit", "kind: emt", 1)),
		"mine.star": []byte("def f(x):\n    return y\n"),
	}
	found, err := d.Check(t.Context(), o)
	if err != nil || len(found.Problems) != 2 {
		t.Fatalf("found %+v, %v", found, err)
	}
	if p := found.Problems[0]; p.File != "mine.star" || p.Line != 2 {
		t.Errorf("the first is %+v", p)
	}
	if p := found.Problems[1]; p.File != "mine.yaml" || p.Line != 9 || !strings.Contains(p.Hint, "emit") {
		t.Errorf("the second is %+v", p)
	}
	if read(t, path) != edited {
		t.Error("the file was changed")
	}
	if _, err := d.Open(t.Context(), path+"x"); err == nil {
		t.Error("a missing file was opened")
	}
}

// TestEditorSaves checks that edited text is saved, and that a file that changed on disk is replaced only on request.
func TestEditorSaves(t *testing.T) {
	d, path := editing(t)
	doc, err := d.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	f := doc.Files[0]
	f.Text = []byte(edited + "\r\n# more")
	saved, err := d.Save(t.Context(), path, []editor.File{f}, false)
	if err != nil || read(t, path) != edited+"\r\n# more" {
		t.Fatalf("saved %v, %v", saved, err)
	}
	if err := os.WriteFile(path, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed, err := d.Changed(t.Context(), path, saved); err != nil || len(changed) != 1 || string(changed[0].Text) != "other" {
		t.Errorf("changed: %v, %v", changed, err)
	}
	saved[0].Text = []byte("mine")
	if _, err := d.Save(t.Context(), path, saved, false); !isConflict(err) || read(t, path) != "other" {
		t.Errorf("replaced a changed file without being asked: %v", err)
	}
	if _, err := d.Save(t.Context(), path, saved, true); err != nil || read(t, path) != "mine" {
		t.Errorf("did not replace the changed file: %v", err)
	}
}

func isConflict(err error) bool {
	_, ok := errors.AsType[*editor.Conflict](err)
	return ok
}

// TestEditorKeepsDrafts checks that a draft is stored until it is discarded, and is marked as outdated if the file changes.
func TestEditorKeepsDrafts(t *testing.T) {
	d, path := editing(t)
	o := editor.Order{Name: path, Texts: map[string][]byte{"mine.yaml": []byte("half a thou")}}
	if err := d.Keep(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	doc, err := d.Open(t.Context(), path)
	if err != nil || doc.Draft == nil || string(doc.Draft.Texts["mine.yaml"]) != "half a thou" || doc.Draft.Outdated || string(doc.Files[0].Text) != edited {
		t.Fatalf("opened %+v, %v", doc, err)
	}
	for _, name := range []string{"world", assets.Templates[0]} {
		if err := d.Keep(t.Context(), editor.Order{Name: name, Texts: map[string][]byte{"mine.yaml": []byte("half")}}); err != nil {
			t.Fatal(err)
		}
	}
	listed := map[string]setup.Choice{}
	choices, err := setupDesk(d).Choices(t.Context())
	for _, c := range choices {
		listed[c.Name] = c
	}
	if c := listed[assets.Templates[0]]; err != nil || !listed[path].Draft || !listed["world"].Draft || listed["shopping"].Draft || listed[path].New || !c.Draft || !c.New {
		t.Errorf("Setup lists %+v, %v", choices, err)
	}
	if err := os.WriteFile(path, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if doc, err = d.Open(t.Context(), path); err != nil || doc.Draft == nil || !doc.Draft.Outdated {
		t.Errorf("the draft is not out of date: %+v, %v", doc, err)
	}
	if err := d.Keep(t.Context(), editor.Order{Name: path}); err != nil {
		t.Fatal(err)
	}
	if doc, err = d.Open(t.Context(), path); err != nil || doc.Draft != nil {
		t.Errorf("the draft is still there: %+v, %v", doc, err)
	}
}

// TestEditorCopiesBuiltIns checks that a built-in scenario can be saved as a copy, even with errors, and that an existing
// copy is replaced only on request.
func TestEditorCopiesBuiltIns(t *testing.T) {
	d, _ := editing(t)
	dir := t.TempDir()
	o := editor.Order{Name: "shopping", Texts: map[string][]byte{"shopping.yaml": []byte("titel: [\n")}}
	path, err := d.SaveAs(t.Context(), o, filepath.Join(dir, "mine.throng.yaml"), false)
	if err != nil || read(t, path) != "titel: [\n" {
		t.Fatalf("%s, %v", path, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("copied %v, %v", left, err)
	}
	if _, err := d.SaveAs(t.Context(), o, filepath.Join(dir, "mine.throng.yaml"), false); !isConflict(err) {
		t.Errorf("replaced without being asked: %v", err)
	}
}

// TestEditorPutsValues checks that values are written to their places in the file and all other bytes stay the same.
func TestEditorPutsValues(t *testing.T) {
	d, path := editing(t)
	v := editor.Values{Parameters: map[string]string{"n": "12"}, Cycles: 5, Services: map[string]string{"shop": "https://shop.example.com"}}
	file, text, err := d.Put(t.Context(), editor.Order{Name: path}, v)
	want := strings.NewReplacer("default: 3", "default: 12", "clock: {cycle: 1h}", "clock: {cycles: 5, cycle: 1h}",
		"'mock:shop'", "'https://shop.example.com'").Replace(edited)
	if err != nil || file != "mine.yaml" || string(text) != want {
		t.Errorf("%s, %v:\n%q\nwant\n%q", file, err, text, want)
	}
	v.Parameters["n"] = "0"
	if _, _, err := d.Put(t.Context(), editor.Order{Name: path}, v); err == nil || !strings.Contains(err.Error(), "below 1") {
		t.Errorf("got %v", err)
	}
}

// TestEditorTries checks that a trial uses the edited text and Setup's settings, creates no run, and calls only allowed
// hosts.
func TestEditorTries(t *testing.T) {
	d, path := editing(t)
	o := editor.Order{Name: path, Texts: map[string][]byte{"mine.star": []byte("def f(x):\n    return x + 41\n")}}
	trial, err := d.Try(t.Context(), editor.Trial{Order: o})
	if err != nil || len(trial.Events) != 1 || trial.Events[0].Data != "42" {
		t.Fatalf("%+v, %v", trial, err)
	}
	set, err := setupDesk(d).Scenario(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	settings := set.Settings
	settings.Services = map[string]string{"shop": "https://shop.example.com"}
	far := editor.Trial{Order: o, Settings: &settings}
	if targets, err := d.Unallowed(t.Context(), far); err != nil || len(targets) != 1 || targets[0].Address() != "shop.example.com:443" {
		t.Errorf("targets %v, %v", targets, err)
	}
	if _, err := d.Try(t.Context(), far); err == nil {
		t.Error("a host that is not allowed was called")
	}
	if runs, err := resultsDesk(d).Runs(t.Context()); err != nil || len(runs) > 0 {
		t.Errorf("runs %v, %v", runs, err)
	}
	o.Texts["mine.yaml"] = []byte("chain: [")
	if _, err := d.Try(t.Context(), editor.Trial{Order: o}); err == nil || !strings.Contains(err.Error(), "mine.yaml:1:8") {
		t.Errorf("tried an invalid scenario: %v", err)
	}
}

// TestTemplatesOpenAsNew opens each template, tries one agent, and saves the first as a file of the user's own.
func TestTemplatesOpenAsNew(t *testing.T) {
	d, _ := editing(t)
	all, err := d.Templates(t.Context())
	if err != nil || len(all) != 5 || all[0].Title != "HTTP journey" || all[0].About == "" {
		t.Fatalf("templates %+v, %v", all, err)
	}
	for _, template := range all {
		doc, err := d.Open(t.Context(), template.Name)
		if err != nil || !doc.New || !doc.BuiltIn || len(doc.Files) != 1 {
			t.Fatalf("opened %+v, %v", doc, err)
		}
		o := editor.Order{Name: template.Name}
		if found, err := d.Check(t.Context(), o); err != nil || len(found.Problems) > 0 || found.Agents == 0 {
			t.Errorf("%s: found %+v, %v", template.Name, found, err)
		}
		if tried, err := d.Try(t.Context(), editor.Trial{Order: o}); err != nil || !tried.Outcome.Commits() {
			t.Errorf("%s: tried %+v, %v", template.Name, tried, err)
		}
	}
	path := filepath.Join(t.TempDir(), "new.throng.yaml")
	text := []byte("title: Mine\nchain c: {step s: {kind: stop}}\n")
	name, err := d.SaveAs(t.Context(), editor.Order{Name: all[0].Name, Texts: map[string][]byte{"journey.yaml": text}}, path, false)
	if err != nil || name != path || read(t, path) != string(text) {
		t.Errorf("saved as %s, %v", name, err)
	}
}
