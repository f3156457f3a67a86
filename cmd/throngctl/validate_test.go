package main

import (
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

func TestValidateRefusesOtherServices(t *testing.T) {
	code, out, stderr := ctl(t, "validate", "shopping", "--service", "shap=http://localhost", "--service", "shop=ftp://x")
	if code != exitUsage || !strings.Contains(stderr, "no service shap") || !strings.Contains(stderr, "http://") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}
