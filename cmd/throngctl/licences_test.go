package main

import (
	"strings"
	"testing"
)

func TestLicences(t *testing.T) {
	code, out, stderr := ctl(t, "licences")
	if code != exitDone || !strings.Contains(out, "github.com/mattn/go-sqlite3") || strings.Contains(out, "Permission is hereby granted") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	code, out, stderr = ctl(t, "licences", "Throng")
	if code != exitDone || !strings.Contains(out, "Permission is hereby granted") || strings.Contains(out, "sqlite") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr = ctl(t, "licences", "nothing-of-the-kind"); code != exitUsage || !strings.Contains(stderr, "throngctl licences") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}
