package ui

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/assets"
)

var (
	unwritten  = regexp.MustCompile("(?ms)^```.*?^```$|`[^`]*`|\\*\\*[^*]*\\*\\*")
	emphasized = regexp.MustCompile(`\*([^*\n]+(?:\n[^*\n]+)?)\*`)
)

// TestNamesOfTheGuide checks that the window has each name that the guide mentions, except known other words. The guide
// names a menu or a screen before its contents.
func TestNamesOfTheGuide(t *testing.T) {
	var written strings.Builder
	for _, folder := range []string{".", filepath.Join("..", "assets", "scenarios")} {
		err := filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || strings.HasSuffix(name, "_test.go") || !slices.Contains([]string{".go", ".yaml"}, filepath.Ext(name)) {
				return err
			}
			text, err := os.ReadFile(name)
			written.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	others := []string{"Resume from…", "Resume from 14:32…", "1,240 orders, 3 failures, 5 of 6 criteria met", "Latency p95", "Automatic", "Manual", // made of parts
		"Copy as cURL", "Stopped by a step", "replayed", "sent again", "confirmed", "2 of 24 cycles done", "cannot succeed", "Incoming Webhooks", "Edit channel", "Integrations", "Webhooks", "Send webhook alerts to a channel"}
	n := 0
	for _, p := range assets.Pages() {
		if p.Topic == "unsigned" { // its names are those of operating systems
			continue
		}
		for _, m := range emphasized.FindAllStringSubmatch(unwritten.ReplaceAllString(p.Text, ""), -1) {
			name := strings.Join(strings.Fields(m[1]), " ")
			if slices.Contains(others, name) {
				continue
			}
			n++
			for part := range strings.SplitSeq(name, ", ") {
				if !strings.Contains(written.String(), `"`+part+`"`) && !strings.Contains(written.String(), "title: "+part+"\n") {
					t.Errorf("%s: nothing is called %s", p.File, name)
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d names", n)
	}
}
