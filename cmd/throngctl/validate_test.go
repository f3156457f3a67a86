package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestValidateShowsTheOutlook(t *testing.T) {
	t.Setenv("THRONG_TEST_PASSWORD", "swordfish")
	t.Setenv("THRONG_TEST_TOKEN", "mackerel")
	code, out, stderr := ctl(t, "validate", filepath.Join("testdata", "outlook.yaml"),
		"--allow", "stock.example.com", "--service", "local=rehearsal:shop")
	if code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if strings.Contains(out+stderr, "swordfish") || strings.Contains(out+stderr, "mackerel") {
		t.Error("a secret is printed")
	}
	golden(t, "outlook.txt", out)
}

// TestValidateKnowsWhomInterventionsAreFor: ids are known only when the file has been read.
func TestValidateKnowsWhomInterventionsAreFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "world.yaml")
	text := "population: {count: 2, id: 'a-${agent.index}'}\ninterventions: [{cycle: 3, to: [a-1, bob], text: hello}]\nchain c: {step a: {kind: stop}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := ctl(t, "validate", file)
	if want := `the one of cycle 3 is for "bob", and nobody is called so`; code != exitUsage || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, want %q\n%s%s", code, want, out, stderr)
	}
}

func TestValidateRefusesOtherServices(t *testing.T) {
	code, out, stderr := ctl(t, "validate", "shopping", "--service", "shap=http://localhost", "--service", "shop=ftp://x")
	if code != exitUsage || !strings.Contains(stderr, "no service shap") || !strings.Contains(stderr, "http://") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}
