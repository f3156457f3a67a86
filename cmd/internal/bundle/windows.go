package main

import (
	"archive/zip"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/tc-hib/winres"
	"github.com/tc-hib/winres/version"
)

// packWindows makes an archive with both programs, which have an icon and a version.
func packWindows(ctx context.Context, j job, work string) ([]string, error) {
	if err := j.build(ctx, filepath.Join(work, "built"), j.arch); err != nil {
		return nil, err
	}
	return packZip(j, work)
}

// packZip packs built programs.
func packZip(j job, work string) ([]string, error) {
	a := &j.app
	window, terminal := filepath.Join(work, a.Details.Name+".exe"), filepath.Join(work, a.command()+"ctl.exe")
	if err := errors.Join(j.describe(j.exe, window, a.Details.Name), j.describe(j.ctl, terminal, a.Details.Name+" in a terminal")); err != nil {
		return nil, err
	}
	text, err := licenses()
	if err != nil {
		return nil, err
	}
	terms := filepath.Join(work, "licenses.txt")
	if err := writeFile(terms, []byte(text), 0o644); err != nil {
		return nil, err
	}
	made := filepath.Join(j.out, j.called(".zip"))
	return []string{made}, zipped(made, a, terms, window, terminal)
}

// zipped writes an archive with these files in one folder.
func zipped(path string, a *app, files ...string) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z := zip.NewWriter(out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: a.Details.Name + "/" + filepath.Base(file), Method: zip.Deflate, Modified: a.release.made})
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return z.Close()
}

// describe copies a program and adds its icon, version information, and support for high-density screens.
func (j *job) describe(from, to, title string) (err error) {
	icon, err := os.Open(filepath.Join(j.root, j.app.Details.Icon))
	if err != nil {
		return err
	}
	defer func() { _ = icon.Close() }()
	large, err := png.Decode(icon)
	if err != nil {
		return err
	}
	drawn, err := winres.NewIconFromResizedImage(large, nil)
	if err != nil {
		return err
	}
	var all winres.ResourceSet
	if err := all.SetIcon(winres.Name("APPICON"), drawn); err != nil {
		return err
	}
	all.SetManifest(winres.AppManifest{DPIAwareness: winres.DPIPerMonitorV2, UseCommonControlsV6: true, LongPathAware: true})
	details, err := j.app.versionInfo(filepath.Base(to), title)
	if err != nil {
		return err
	}
	all.SetVersionInfo(details)
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(all.WriteToEXE(out, in), out.Close())
}

var figures = regexp.MustCompile(`^([0-9]+)\.([0-9]+)\.([0-9]+)`)

// versionInfo returns the version information that Windows shows in a program's properties.
func (a *app) versionInfo(file, title string) (version.Info, error) {
	info := version.Info{Timestamp: a.release.made}
	numbers := fmt.Sprintf("%s.%d", figures.FindString(a.Details.Version), a.Details.Build)
	info.SetFileVersion(numbers)
	info.SetProductVersion(numbers)
	for key, value := range map[string]string{
		version.ProductName: a.Details.Name, version.FileDescription: title, version.OriginalFilename: file,
		version.CompanyName: "The Throng authors", version.LegalCopyright: "The Throng authors, MIT License",
		version.ProductVersion: a.release.version,
	} {
		if err := info.Set(version.LangDefault, key, value); err != nil {
			return info, err
		}
	}
	return info, nil
}
