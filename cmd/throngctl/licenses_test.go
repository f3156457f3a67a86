package main

import (
	"strings"
	"testing"
)

func TestLicenses(t *testing.T) {
	code, out, stderr := ctl(t, "licenses")
	if code != exitDone || !strings.Contains(out, "github.com/mattn/go-sqlite3") || strings.Contains(out, "Permission is hereby granted") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	code, out, stderr = ctl(t, "licenses", "Throng")
	if code != exitDone || !strings.Contains(out, "Permission is hereby granted") || strings.Contains(out, "sqlite") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr = ctl(t, "licenses", "nothing-of-the-kind"); code != exitUsage || !strings.Contains(stderr, "throngctl licenses") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}
