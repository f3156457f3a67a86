// Package assets holds the files that Throng brings along.
package assets

import (
	"embed"
	"io/fs"
)

//go:embed scenarios
var files embed.FS

// Scenarios are the built-in scenarios and the files they refer to.
func Scenarios() fs.FS {
	sub, err := fs.Sub(files, "scenarios")
	if err != nil { // the folder is embedded above
		panic(err)
	}
	return sub
}
