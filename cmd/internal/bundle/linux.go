package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// finishLinux leaves an archive with a Makefile that installs the program for a user or the system, and a desktop entry
// that opens the program where it was built, with its icon.
func finishLinux(ctx context.Context, j job, work string) ([]string, error) {
	packed, err := glob(work, "*.tar.xz")
	if err != nil {
		return nil, err
	}
	if _, err := run(ctx, work, "tar", "-xf", packed); err != nil {
		return nil, err
	}
	exe := filepath.Base(j.exe)
	share := filepath.Join(work, exe, "usr", "*", "share")
	picture, err := glob(share, "pixmaps", "*.png")
	if err != nil {
		return nil, err
	}
	// The tool's Makefile installs the icon without its extension, and so fails.
	id := strings.TrimSuffix(filepath.Base(picture), ".png")
	if err := rewrite(filepath.Join(work, exe, "Makefile"), `Icon := "`+id+`"`, `Icon := "`+id+`.png"`); err != nil {
		return nil, err
	}
	archive := filepath.Join(j.out, exe+"-linux-"+runtime.GOARCH+".tar.xz")
	if _, err := run(ctx, work, "tar", "-I", "xz -6 -T0", "-cf", archive, exe); err != nil {
		return nil, err
	}

	name := filepath.Join(j.out, strings.TrimSuffix(filepath.Base(packed), ".tar.xz"))
	if err := copyFile(picture, name+".png", 0o644); err != nil {
		return nil, err
	}
	entry, err := glob(share, "applications", id+".desktop")
	if err != nil {
		return nil, err
	}
	err = rewrite(entry,
		"\nExec="+exe+"\n", "\nExec="+execValue(j.exe)+"\n",
		"\nIcon="+id+"\n", "\nIcon="+escapeBackslash(name+".png")+"\n")
	if err != nil {
		return nil, err
	}
	// Desktops start an entry only where it may be executed.
	if err := os.Chmod(entry, 0o755); err != nil {
		return nil, err
	}
	return []string{archive, name + ".desktop"}, os.Rename(entry, name+".desktop")
}

// execValue quotes a path as the value of Exec: quoted like a shell's double quotes, a percent sign doubled, and then
// escaped as any value is (Desktop Entry Specification 1.5, "The Exec key").
func execValue(path string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`, `%`, `%%`).Replace(path)
	return escapeBackslash(`"` + quoted + `"`)
}

func escapeBackslash(value string) string { return strings.ReplaceAll(value, `\`, `\\`) }
