package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNamesInTheMakefile checks that every test that the Makefile names exists: a pattern with another name would run nothing.
func TestNamesInTheMakefile(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	rules, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	whole := regexp.MustCompile(`\b(Test[A-Z]\w*)[|)$\s]`) // others are the beginnings of names
	for _, m := range whole.FindAllSubmatch(rules, -1) {
		missing[string(m[1])] = true
	}
	if len(missing) < 30 {
		t.Fatalf("the Makefile names only %d tests", len(missing))
	}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			delete(missing, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range missing {
		t.Errorf("the Makefile names %s, which does not exist", name)
	}
}
