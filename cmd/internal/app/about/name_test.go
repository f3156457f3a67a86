package about_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/about"
)

// TestNamesEqualFyneApp compares the compiled names with those in FyneApp.toml.
func TestNamesEqualFyneApp(t *testing.T) {
	text, err := os.ReadFile("../../../../FyneApp.toml")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"ID": about.ID, "Name": about.Name, "Version": about.Number} {
		line := regexp.MustCompile(`(?m)^\s*` + key + `\s*=\s*"(.*)"$`).FindSubmatch(text)
		if line == nil || string(line[1]) != want {
			t.Errorf("FyneApp.toml has %q for %s, want %q", line, key, want)
		}
	}
}
