package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/assets"
)

// TestLicensesAreThoseOfWhatIsLinked compares the license file with the modules that are linked on all systems.
func TestLicensesAreThoseOfWhatIsLinked(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	modules, err := modules(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) < 40 {
		t.Fatalf("only %d modules are linked", len(modules))
	}
	const command = "make licenses"
	all, err := assets.Licenses()
	if err != nil {
		t.Fatalf("%v; make the file again: %s", err, command)
	}
	told := map[string]assets.License{}
	for _, l := range all {
		if len(l.Text) < 200 || l.Kind == "" {
			t.Errorf("%s: %q, %q", l.Module, l.Kind, l.Text)
		}
		if l.Kind == "see the text" {
			t.Errorf("the license of %s is unknown: add it to `kinds`", l.Module)
		}
		told[l.Module] = l
	}
	for name, part := range map[string]string{
		"Throng": "MIT License", "Go's standard library": "The Go Authors", "SQLite": "disclaims copyright", "Material Design icons": "Apache License",
		fyneModule: "SIL OPEN FONT LICENSE",
	} {
		if !strings.Contains(told[name].Text, part) {
			t.Errorf("the license of %s is missing, or has no %q", name, part)
		}
	}
	for path, m := range modules {
		if l, ok := told[path]; !ok || l.Version != m.version {
			t.Errorf("%s %s is linked, but the licenses have version %q; make them again: %s", path, m.version, l.Version, command)
		}
		delete(told, path)
	}
	for path, l := range told {
		if modules[path] == nil && strings.Contains(path, "/") {
			t.Errorf("%s %s is not linked any more; make the licenses again: %s", path, l.Version, command)
		}
	}
}

func TestKind(t *testing.T) {
	for text, want := range map[string]string{
		"Permission is hereby granted,\n free of charge, to any person": "MIT",
		"Redistributions in binary form …":                              "BSD 2-Clause",
		"Redistributions in binary form … Neither the name of Google":   "BSD 3-Clause",
		"   Apache License\n  Version 2.0":                              "Apache 2.0",
		"all rights reserved":                                           "",
	} {
		if got := kind(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
