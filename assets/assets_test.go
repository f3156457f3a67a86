package assets

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
)

// TestBuiltInScenariosAreListed: every scenario that comes along is shown.
func TestBuiltInScenariosAreListed(t *testing.T) {
	files, err := fs.ReadDir(Scenarios(), ".")
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, f := range files {
		if ext := filepath.Ext(f.Name()); ext == ".yaml" || ext == ".ai" {
			there = append(there, f.Name())
		}
	}
	shown := slices.Sorted(slices.Values(Gallery))
	if !slices.Equal(there, shown) {
		t.Errorf("shown are %v; there are %v", shown, there)
	}
}

// TestTemplatesAreListed checks that every template is offered for new scenarios.
func TestTemplatesAreListed(t *testing.T) {
	there, err := fs.Glob(Scenarios(), "templates/*")
	if listed := slices.Sorted(slices.Values(Templates)); err != nil || !slices.Equal(there, listed) {
		t.Errorf("listed are %v; there are %v, %v", listed, there, err)
	}
}
