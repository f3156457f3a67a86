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

// app is the content of FyneApp.toml.
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

// The MIME type of scenario files: *.throng.yaml.
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

// command returns the name of the window's program in a terminal.
func (a *app) command() string { return strings.ToLower(a.Details.Name) }

// release identifies the version in a package.
type release struct {
	version string    // in semantic versioning
	made    time.Time // the time of all files in a package: the same commit makes the same bytes
}

// readRelease returns the version of FyneApp.toml if its tag is on the commit, otherwise a pre-release of it that names the
// commit. The time is SOURCE_DATE_EPOCH or that of the commit.
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
