package about

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Info is what a program says of itself.
type Info struct {
	Version  string
	Commit   string // short; "" where it is not known
	Modified bool   // it was built from something else than the commit
	Built    string // when the commit was made
	Go       string
	Fyne     string // "" where it is not linked
	System   string
}

// Read reads what was built in.
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

// String is the program in a line.
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

// Version is what this program calls itself: its module's version and, where it is known, the commit.
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
