package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// app is what FyneApp.toml says.
type app struct {
	Details struct {
		Icon, Name, ID, Version string
		Build                   int
	}
	LinuxAndBSD struct {
		GenericName, Comment string
		Categories, Keywords []string
	}

	release release
}

// The type of scenario files: *.throng.yaml.
const (
	mimeType     = "application/x-throng-scenario"
	scenarioGlob = "*.throng.yaml"
)

const homepage = "https://github.com/throng-sim/throng"

func readApp(root string) (a app, err error) {
	if _, err = toml.DecodeFile(filepath.Join(root, "FyneApp.toml"), &a); err != nil {
		return a, err
	}
	if a.Details.Name == "" || a.Details.ID == "" || a.Details.Version == "" {
		return a, errors.New("FyneApp.toml lacks a name, an id or a version")
	}
	a.release = release{version: a.Details.Version, made: time.Unix(0, 0)}
	return a, nil
}

// command is what the window's program is called in a terminal.
func (a *app) command() string { return strings.ToLower(a.Details.Name) }

// release is which one of the program's states a package has.
type release struct {
	version string    // as semantic versioning writes it
	made    time.Time // the time of everything in a package, so that the same commit gives the same bytes
}

// readRelease takes the version of FyneApp.toml where its tag is on the commit, and otherwise one before it that names the
// commit. SOURCE_DATE_EPOCH is the time, or else when the commit was made.
func readRelease(ctx context.Context, root, version string) (r release, err error) {
	git := func(args ...string) (string, error) {
		out, err := run(ctx, root, "git", args...)
		return strings.TrimSpace(out), err
	}
	stamp, err := git("log", "-1", "--format=%ct %h", "--abbrev=9")
	if err != nil {
		return r, err
	}
	tags, err := git("tag", "--points-at", "HEAD", "v*")
	if err != nil {
		return r, err
	}
	changed, err := git("status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return r, err
	}
	seconds, commit, _ := strings.Cut(stamp, " ")
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds = epoch
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return r, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	r = release{version: version, made: time.Unix(unix, 0).UTC()}
	switch {
	case changed != "":
		r.version += "-dev." + r.made.Format("20060102") + "." + commit + ".changed"
	case tags == "":
		r.version += "-dev." + r.made.Format("20060102") + "." + commit
	case !strings.Contains("\n"+tags+"\n", "\nv"+version+"\n"):
		return r, fmt.Errorf("the commit has the tag %s, and FyneApp.toml the version %s: let them be the same", strings.ReplaceAll(tags, "\n", ", "), version)
	}
	return r, nil
}

// deb is the version as Debian sorts it: what comes before a version has a tilde.
func (r release) deb() string { return strings.Replace(r.version, "-", "~", 1) }
