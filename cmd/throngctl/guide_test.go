package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/service"
)

// TestGuide lists the pages, prints a page by the start of its name, and checks the error for an unknown page.
func TestGuide(t *testing.T) {
	code, out, stderr := ctl(t, "guide")
	if code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, p := range assets.Pages() {
		if i >= len(lines) || !regexp.MustCompile(`^`+p.Topic+` +`+regexp.QuoteMeta(p.Title)+`$`).MatchString(lines[i]) {
			t.Errorf("no line %d of %s in\n%s", i+1, p.Topic, out)
		}
	}
	for _, topic := range []string{"dashboard", "dash", "DASH"} {
		if code, out, stderr := ctl(t, "guide", topic); code != exitDone || out != page(t, "dashboard") {
			t.Errorf("guide %s: exit code %d, begins with %.40q\n%s", topic, code, out, stderr)
		}
	}
	for _, topic := range []string{"dashbored", "d"} {
		if code, out, stderr := ctl(t, "guide", topic); code != exitUsage || out != "" || !strings.Contains(stderr, "dashboard, ") || !strings.Contains(stderr, "--search") {
			t.Errorf("guide %s: exit code %d\n%s%s", topic, code, out, stderr)
		}
	}
}

// TestGuideSearch checks searches in all pages and in one page, and a search without a match.
func TestGuideSearch(t *testing.T) {
	code, out, stderr := ctl(t, "guide", "--search", "DISK full")
	if code != exitDone || !strings.HasPrefix(out, "overnight: What Throng does by itself\n  - **It pauses on a full disk**") || !strings.Contains(out, "\n\ndashboard: Latest checkpoint\n  - ") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	code, out, stderr = ctl(t, "guide", "dashboard", "--search", "disk full")
	if code != exitDone || !strings.HasPrefix(out, "dashboard: ") || !strings.Contains(out, "dashboard: Latest checkpoint\n") || strings.Contains(out, "overnight") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr := ctl(t, "guide", "dashboard", "--search", "gatekeeper disk"); code != exitFailed || out != "" || !strings.Contains(stderr, "gatekeeper, disk") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}

// TestGuideHealth checks that the page about the dashboard has a section for every health metric, with its thresholds.
func TestGuideHealth(t *testing.T) {
	sections := map[string]string{}
	for section := range strings.SplitSeq(page(t, "dashboard"), "\n## ") {
		heading, text, _ := strings.Cut(section, "\n")
		sections[strings.ToLower(heading)] = strings.Join(strings.Fields(text), " ")
	}
	s := &engine.Snapshot{}
	s.Metrics.Host.MemoryTotal, s.Metrics.ServerMax = 32e9, 60
	found := health.Judge(s, &health.Vitals{}, 5*time.Minute)
	if len(found) < 12 {
		t.Fatalf("only %d metrics", len(found))
	}
	for _, f := range found {
		text := sections[strings.ToLower(string(f.Metric))]
		if f.Threshold == "" || !strings.Contains(text, f.Threshold) {
			t.Errorf("%s: %q is missing in %q", f.Metric, f.Threshold, text)
		}
		for _, part := range []string{"**Healthy**", "**Warning**", "**What to do**"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %s is missing", f.Metric, part)
			}
		}
	}
}

// TestGuideProviders checks that the page about models has every provider with its secret and default models.
func TestGuideProviders(t *testing.T) {
	text := page(t, "providers")
	for _, p := range service.Providers {
		line := regexp.MustCompile("(?m)^- `" + p.Name + "`: .*$").FindString(text)
		for _, part := range []string{p.Secret, p.Model, p.Embeds} {
			if line == "" || p.Name != "mock" && !strings.Contains(line, part) {
				t.Errorf("%s: %q is missing in %s", p.Name, part, line)
			}
		}
	}
}

// TestGuideVariables checks that the page about the terminal has every environment variable of a run setting.
func TestGuideVariables(t *testing.T) {
	text := page(t, "terminal")
	n := 0
	for _, s := range config.RunSettings() {
		for _, name := range append(append([]string{}, s.Env...), s.EnvNot...) {
			n++
			if !strings.Contains(text, "`"+name+"`") {
				t.Errorf("the guide does not mention %s", name)
			}
		}
	}
	if n < 8 {
		t.Errorf("only %d variables", n)
	}
}
