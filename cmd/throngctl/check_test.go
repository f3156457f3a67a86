package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

// TestCheckBeforeARun checks that a problem causes exit code 1, that warnings say what to do, and that no files are left.
func TestCheckBeforeARun(t *testing.T) {
	keyring.MockInit()
	data := filepath.Join(t.TempDir(), "data")
	code, out, stderr := ctl(t, "check", "--data", data)
	if code != exitDone || strings.Contains(out, "Service") {
		t.Errorf("the machine alone: exit code %d\n%s%s", code, out, stderr)
	}
	for _, want := range []string{"Database", "Disk", "Memory", "Data folder", "Log and recording", "Power and sleep"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is missing in\n%s", want, out)
		}
	}
	code, out, stderr = ctl(t, "check", "shopping", "--data", data, "--service", "shop=https://shop.example.com")
	if code != exitDone || !strings.Contains(out, "--allow shop.example.com") {
		t.Errorf("another machine: exit code %d\n%s%s", code, out, stderr)
	}
	code, out, stderr = ctl(t, "check", "shopping", "--data", data, "--service", "shop=http://127.0.0.1:1")
	if code != exitFailed || !strings.Contains(out, "problem") || !strings.Contains(out, "127.0.0.1:1 does not answer") {
		t.Errorf("no server: exit code %d\n%s%s", code, out, stderr)
	}
	code, _, stderr = ctl(t, "check", "shopping", "--data", data, "--service", "shops=http://127.0.0.1:1")
	if code != exitUsage || !strings.Contains(stderr, "no service shops") {
		t.Errorf("an unknown service: exit code %d\n%s", code, stderr)
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("the data folder was not removed: %v", err)
	}
}
