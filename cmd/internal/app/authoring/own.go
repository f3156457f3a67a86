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

// IsOwn reports whether all files of a scenario came with the program or were written by a person in it. Where a file lies,
// and what a run says of that, makes no difference.
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

// dataEndings are those of files that hold agents: these cannot name an address.
var dataEndings = []string{".csv", ".jsonl"}

// builtInTexts are the files that came with the program.
var builtInTexts = sync.OnceValue(func() map[string]bool {
	texts := map[string]bool{}
	for _, name := range fileNames(assets.Scenarios()) {
		if text, err := fs.ReadFile(assets.Scenarios(), name); err == nil { // it is in the program
			texts[string(text)] = true
		}
	}
	return texts
})

func fileNames(files fs.FS) (names []string) {
	all, err := fs.ReadDir(files, ".")
	if err != nil { // they are in the program
		return nil
	}
	for _, f := range all {
		names = append(names, f.Name())
	}
	return names
}
