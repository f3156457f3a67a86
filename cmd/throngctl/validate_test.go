package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestValidateShowsTheForecast(t *testing.T) {
	t.Setenv("THRONG_TEST_PASSWORD", "swordfish")
	t.Setenv("THRONG_TEST_TOKEN", "mackerel")
	code, out, stderr := ctl(t, "validate", filepath.Join("testdata", "forecast.yaml"),
		"--allow", "stock.example.com", "--service", "local=mock:shop")
	if code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if strings.Contains(out+stderr, "swordfish") || strings.Contains(out+stderr, "mackerel") {
		t.Error("a secret is printed")
	}
	golden(t, "forecast.txt", out)
}

// TestValidateCommonRandomNumbers checks the list of what keeps runs with the same seed from sharing their luck.
func TestValidateCommonRandomNumbers(t *testing.T) {
	for args, want := range map[string]string{
		"shopping --crn":        "Runs with the same seed do not share their luck here:\n  shopping.yaml:38:10: the number of agents depends on params.agents\n    = an agent",
		"analysis --crn":        "Runs with the same seed share their luck at every value of the parameters",
		"shopping --crn --json": `"problem": "the number of agents depends on params.agents"`,
		"analysis --crn --json": `"pairing": []`,
	} {
		code, out, stderr := ctl(t, append([]string{"validate"}, strings.Fields(args)...)...)
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, got\n%s%s", args, code, out, stderr)
		}
	}
	if _, out, _ := ctl(t, "validate", "shopping"); strings.Contains(out, "share their luck") {
		t.Errorf("without --crn: got\n%s", out)
	}
}

// TestForecastInTheTerminal checks the forecast before a run, its comparison with the actual values afterward, and that the
// next forecast is based on that run.
func TestForecastInTheTerminal(t *testing.T) {
	data := t.TempDir()
	code, out, stderr := ctl(t, "validate", "shopping", "--data", data, "--set", "agents=30", "--budget", "0.5", "--cycles", "3")
	if code != exitDone || !regexp.MustCompile(`sessions +90\n`).MatchString(out) || !strings.Contains(out, "a guess, until a first run") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if files, err := os.ReadDir(data); err != nil || len(files) > 0 {
		t.Errorf("validate left %v, %v", files, err)
	}
	code, out, stderr = ctl(t, day(data)...)
	for _, want := range []string{"forecast: cycle up to ", "a guess, until a first run is measured", "Forecast and actual values", "as forecast"} {
		if code != exitDone || !strings.Contains(out, want) {
			t.Fatalf("exit code %d, %q is missing in\n%s%s", code, want, out, stderr)
		}
	}
	id := regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)[1]
	_, out, stderr = ctl(t, append([]string{"validate"}, day(data)[1:]...)...)
	if !strings.Contains(out, "measured in the run of ") || !strings.Contains(out, id) {
		t.Errorf("not based on run %s:\n%s%s", id, out, stderr)
	}
	if _, out, _ = ctl(t, "export", "--data", data, "--what", "run"); !strings.Contains(out, `"forecast": {`) || !strings.Contains(out, `"difference": "as forecast"`) {
		t.Errorf("the manifest has no forecast:\n%s", out)
	}
	code, _, stderr = ctl(t, "validate", "shopping", "--data", data, "--max-concurrent", "0")
	if code != exitUsage || !strings.Contains(stderr, "at least 1") {
		t.Errorf("a limit of 0: exit code %d\n%s", code, stderr)
	}
}

// TestValidateKnowsWhomInterventionsAreFor checks that agents of interventions must exist. IDs are known only after the
// file is read.
func TestValidateKnowsWhomInterventionsAreFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "world.yaml")
	text := "population: {count: 2, id: 'a-${agent.index}'}\ninterventions: [{cycle: 3, to: [a-1, bob], text: hello}]\nchain c: {step a: {kind: stop}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := ctl(t, "validate", file)
	if want := `the one of cycle 3 is for "bob", and there is no such agent`; code != exitUsage || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, want %q\n%s%s", code, want, out, stderr)
	}
}

func TestValidateRefusesOtherServices(t *testing.T) {
	code, out, stderr := ctl(t, "validate", "shopping", "--service", "shap=http://localhost", "--service", "shop=ftp://x")
	if code != exitUsage || !strings.Contains(stderr, "no service shap") || !strings.Contains(stderr, "http://") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}

// TestValidateCountsWarnings imports a pasted command with an ID, and checks that the last line does not say that all is well.
func TestValidateCountsWarnings(t *testing.T) {
	dir := t.TempDir()
	commands, file := filepath.Join(dir, "book.curl"), filepath.Join(dir, "book.yaml")
	if err := os.WriteFile(commands, []byte("curl http://127.0.0.1:3000/api/books/61\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := ctl(t, "import", commands, "-o", file, "--data", dir); code != exitDone || !strings.Contains(out, "step get_book: book_id (for example 61)") {
		t.Fatalf("import: %d\n%s%s", code, out, errs)
	}
	code, out, errs := ctl(t, "validate", file, "--data", dir)
	if code != exitDone || !strings.HasSuffix(out, "\nno mistakes found, 1 warning\n") || !strings.Contains(errs, "could not tell where this value comes from") {
		t.Errorf("validate: %d\n%s%s", code, out, errs)
	}
}

// TestValidateExperiment checks that an experiment file is checked as one.
func TestValidateExperiment(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	file := write(t, filepath.Join(dir, "eager.experiment.yaml"), "scenario: shopping\nparams: {agents: 5}\nvary: {params.eagerness: [1, 2, 4]}\nreplicates: {seeds: 7}\n")
	want(t, exitDone, "", []string{"validate", file, "--data", data, "--crn"}, "3 points, 7 seeds each", "1 factor", "measure    acted", "do not share their luck here", "The file is valid")
	code, out, _ := ctl(t, "validate", file, "--data", data, "--json")
	var plan struct {
		Points   int
		Seeds    []int
		Factors  []string
		Measures []string
	}
	if err := json.Unmarshal([]byte(out), &plan); code != exitDone || err != nil || plan.Points != 3 || len(plan.Seeds) != 7 || plan.Factors[0] != "params.eagerness" || len(plan.Measures) == 0 {
		t.Errorf("exit code %d, %v: %s", code, err, out)
	}
	write(t, file, "scenario: shopping\nparams: {agents: many}\nvary: {params.eagernes: [1]}\n")
	want(t, exitUsage, "", []string{"validate", file, "--data", data}, "eager.experiment.yaml:2:18", "eager.experiment.yaml:3:", "params.eagerness", "2 errors")
	want(t, exitUsage, "", []string{"validate", filepath.Join(dir, "none.experiment.yaml"), "--data", data}, "there is no experiment")
}
