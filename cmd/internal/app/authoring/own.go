package authoring

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
)

// IsOwn reports whether all files of a scenario are built in or were written in the program's editor. Only their texts
// matter, not their paths.
func IsOwn(data string, files map[string][]byte) bool {
	table := consent.Of(data)
	for name, text := range files {
		if strings.HasPrefix(name, engine.OwnFiles) || slices.Contains(dataEndings, filepath.Ext(name)) {
			continue
		}
		if !builtInTexts()[string(text)] && !table.Wrote(text) {
			return false
		}
	}
	return true
}

// dataEndings are the extensions of files with agents, which cannot contain an address that is called.
var dataEndings = []string{".csv", ".jsonl", ".parquet"}

// builtInTexts returns the set of the texts of all built-in files.
var builtInTexts = sync.OnceValue(func() map[string]bool {
	texts := map[string]bool{}
	for _, name := range fileNames(assets.Scenarios()) {
		if text, err := fs.ReadFile(assets.Scenarios(), name); err == nil { // cannot fail: the file is embedded
			texts[string(text)] = true
		}
	}
	return texts
})

func fileNames(files fs.FS) (names []string) {
	all, err := fs.ReadDir(files, ".")
	if err != nil { // cannot happen: the files are embedded
		return nil
	}
	for _, f := range all {
		names = append(names, f.Name())
	}
	return names
}
