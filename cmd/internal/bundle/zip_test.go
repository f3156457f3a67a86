package main

import (
	"archive/zip"
	"bytes"
	"debug/pe"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tc-hib/winres"
	"github.com/tc-hib/winres/version"
)

// TestWindows adds the icon and the version to a Windows program, and zips it.
func TestWindows(t *testing.T) {
	j, work := released(t, "windows")
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() { println(\"opened\") }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, exe := range []string{j.exe, j.ctl} {
		if err := os.Remove(exe); err != nil {
			t.Fatal(err)
		}
		if _, err := runWith(t.Context(), []string{"GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0"}, filepath.Dir(source), "go", "build", "-o", exe, source); err != nil {
			t.Fatal(err)
		}
	}
	made, err := packZip(j, work)
	if err != nil {
		t.Fatal(err)
	}
	v := j.app.Details.Version
	if got := filepath.Base(made[0]); got != "Throng-"+v+"-windows-amd64.zip" {
		t.Errorf("got name %s", got)
	}
	z, err := zip.OpenReader(made[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		if !f.Modified.Equal(j.app.release.made) {
			t.Errorf("%s is of %s", f.Name, f.Modified)
		}
		if strings.HasSuffix(f.Name, ".exe") {
			checkResources(t, f, v)
		} else {
			checkLicenses(t, string(unzipped(t, f)))
		}
	}
	if !slices.Equal(names, []string{"Throng/licenses.txt", "Throng/Throng.exe", "Throng/throngctl.exe"}) {
		t.Errorf("got %q", names)
	}
}

func unzipped(t *testing.T, f *zip.File) []byte {
	t.Helper()
	in, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func checkResources(t *testing.T, f *zip.File, v string) {
	t.Helper()
	exe := unzipped(t, f)
	if _, err := pe.NewFile(bytes.NewReader(exe)); err != nil {
		t.Errorf("%s is no longer a valid program: %v", f.Name, err)
	}
	all, err := winres.LoadFromEXE(bytes.NewReader(exe))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.GetIcon(winres.Name("APPICON")); err != nil {
		t.Error(err)
	}
	info, err := version.FromBytes(all.Get(winres.RT_VERSION, winres.ID(1), version.LangDefault))
	if err != nil {
		t.Fatal(err)
	}
	strs := (*info.Table()[version.LangDefault])
	if strs[version.ProductName] != "Throng" || strs[version.ProductVersion] != v || strs[version.OriginalFilename] != filepath.Base(f.Name) {
		t.Errorf("%s is described as %v", f.Name, strs)
	}
	if manifest := all.Get(winres.RT_MANIFEST, winres.ID(1), winres.LCIDDefault); !bytes.Contains(manifest, []byte("permonitorv2")) {
		t.Errorf("the manifest: %s", manifest)
	}
}
