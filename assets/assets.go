// Package assets holds the files that Throng brings along.
package assets

import (
	"embed"
	"io/fs"
)

//go:embed scenarios
var files embed.FS

//go:embed icon.png
var icon []byte

// Scenarios are the built-in scenarios and the files they refer to.
func Scenarios() fs.FS {
	sub, err := fs.Sub(files, "scenarios")
	if err != nil { // the folder is embedded above
		panic(err)
	}
	return sub
}

// Icon is the icon of the program: a PNG of 1024 by 1024 pixels, drawn from icon.svg. The caller must not change it.
func Icon() []byte { return icon }
