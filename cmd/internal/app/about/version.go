package about

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Info describes this build of the program.
type Info struct {
	Version  string
	Commit   string // short; "" if unknown
	Modified bool   // built with changes that are not in the commit
	Built    string // time of the commit
	Go       string
	Fyne     string // version; "" if not linked
	System   string
}

// Read reads the build information.
func Read() Info {
	a := Info{Version: Number, Go: strings.TrimPrefix(runtime.Version(), "go"), System: runtime.GOOS + ", " + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return a
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			a.Commit = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			a.Modified = s.Value == "true"
		case "vcs.time":
			a.Built = s.Value
		}
	}
	for _, m := range info.Deps {
		if m.Path == "fyne.io/fyne/v2" {
			a.Fyne = strings.TrimPrefix(m.Version, "v")
		}
	}
	return a
}

// String returns the version in one line.
func (a Info) String() string {
	text := a.Version
	if a.Commit != "" {
		text += ", commit " + a.Commit
	}
	if a.Modified {
		text += ", modified"
	}
	return text
}

// Version returns the module version and, if known, the commit.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if a := Read(); a.Commit != "" {
		return info.Main.Version + " " + a.Commit
	}
	return info.Main.Version
}
