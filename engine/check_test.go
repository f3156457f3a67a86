package engine_test

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestCheckButtons(t *testing.T) {
	for fix, want := range map[string]string{
		"": "", "again": "Check again", "allow shop.example.com": "Allow shop.example.com", "secret KEY": "Enter KEY…", "limit 40": "Lower to 40 sessions",
		"connections 1": "Lower to 1 connection", "connections 40": "Lower to 40 connections", "settings": "Open Settings", "free": "Free space…",
		"send": "Send now", "export": "Export…",
	} {
		c := engine.Check{Fix: fix}
		if got := c.Button(); got != want {
			t.Errorf("%q is %q, want %q", fix, got, want)
		}
	}
	all := []engine.Check{{Grade: engine.GradeOK}, {Grade: engine.GradeProblem}, {Grade: engine.GradeUnknown}}
	if got := engine.WorstGrade(all); got != engine.GradeProblem {
		t.Errorf("the worst is %s", got)
	}
}
