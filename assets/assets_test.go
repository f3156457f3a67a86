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
