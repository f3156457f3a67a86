package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"go.yaml.in/yaml/v4"
)

// The description of the program in package managers.
const (
	shortDescription = "Run crowds of simulated agents against a backend or models"
	longDescription  = "Throng runs hundreds to millions of simulated agents with a bounded concurrency that can be changed in mid-run, " +
		"resumes after a crash at the step after the last one, and has the same result at any concurrency."
)

// caskText is the cask of Homebrew for macOS (https://docs.brew.sh/Cask-Cookbook).
var caskText = template.Must(template.New("cask").Parse(`cask "{{.Command}}" do
  version "{{.Version}}"
  sha256 "{{.Mac.SHA256}}"

  url "{{.Downloads}}/v#{version}/{{.Name}}-#{version}-macos-universal.dmg"
  name "{{.Name}}"
  desc "{{.Short}}"
  homepage "{{.Homepage}}"

  depends_on macos: ">= :monterey"

  app "{{.Name}}.app"
  binary "#{appdir}/{{.Name}}.app/Contents/MacOS/{{.Command}}ctl"

  zap trash: "~/Library/Application Support/{{.Name}}"
end
`))

// formulaText is the formula of Homebrew for Linux (https://docs.brew.sh/Formula-Cookbook).
var formulaText = template.Must(template.New("formula").Parse(`class {{.Name}} < Formula
  desc "{{.Short}}"
  homepage "{{.Homepage}}"
  version "{{.Version}}"
  license "MIT"

  depends_on :linux

  on_intel do
    url "{{.Downloads}}/v{{.Version}}/{{.Intel.Name}}"
    sha256 "{{.Intel.SHA256}}"
  end
  on_arm do
    url "{{.Downloads}}/v{{.Version}}/{{.Arm.Name}}"
    sha256 "{{.Arm.SHA256}}"
  end

  def install
    bin.install Dir["bin/*"]
    share.install Dir["share/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/{{.Command}}ctl --version")
  end
end
`))

// download is a file of a release with its SHA-256.
type download struct{ Name, SHA256 string }

// managers writes what Homebrew and winget need to install a release, from the packages in the output folder: a cask, a formula
// and the three manifests of winget.
func managers(ctx context.Context, j job) (made []string, err error) {
	work, err := j.open()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work) //nolint:errcheck // a leftover folder does no harm
	if j.app.release, err = readRelease(ctx, j.root, j.app.Details.Version); err != nil {
		return nil, err
	}
	var problem error
	find := func(arch, ending string) download {
		j.arch = arch
		d, err := downloadOf(filepath.Join(j.out, j.called(ending)))
		problem = errors.Join(problem, err)
		return d
	}
	about := struct {
		Name, Command, Version, Homepage, Downloads, Short string
		Mac, Intel, Arm, Windows                           download
	}{
		j.app.Details.Name, j.app.command(), j.app.release.version, homepage, homepage + "/releases/download", shortDescription,
		find("", ".dmg"), find("amd64", ".tar.xz"), find("arm64", ".tar.xz"), find("amd64", ".zip"),
	}
	if problem != nil {
		return nil, problem
	}
	files := map[string][]byte{}
	for name, text := range map[string]*template.Template{"homebrew/Casks/" + about.Command + ".rb": caskText, "homebrew/Formula/" + about.Command + ".rb": formulaText} {
		var out bytes.Buffer
		if err := text.Execute(&out, about); err != nil {
			return nil, err
		}
		files[name] = out.Bytes()
	}
	url := about.Downloads + "/v" + about.Version + "/" + about.Windows.Name
	for name, manifest := range j.app.winget(url, about.Windows.SHA256) {
		text, err := yaml.Marshal(manifest)
		if err != nil {
			return nil, err
		}
		files["winget/"+name] = text
	}
	for name, text := range files {
		path := filepath.Join(j.out, filepath.FromSlash(name))
		if err := writeFile(path, text, 0o644); err != nil {
			return nil, err
		}
		made = append(made, path)
	}
	return made, nil
}

// downloadOf returns the name and the hash of a package.
func downloadOf(path string) (d download, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, fmt.Errorf("%s is missing: make the packages of all systems first", filepath.Base(path))
	}
	sum := sha256.Sum256(text)
	return download{filepath.Base(path), hex.EncodeToString(sum[:])}, err
}

// The manifests of winget, the Windows Package Manager (https://learn.microsoft.com/windows/package-manager/package).
type (
	manifestHead struct {
		Identifier string `yaml:"PackageIdentifier"`
		Version    string `yaml:"PackageVersion"`
	}
	manifestEnd struct {
		Type   string `yaml:"ManifestType"`
		Format string `yaml:"ManifestVersion"`
	}
	versionManifest struct {
		manifestHead `yaml:",inline"`
		Locale       string `yaml:"DefaultLocale"`
		manifestEnd  `yaml:",inline"`
	}
	installerManifest struct {
		manifestHead `yaml:",inline"`
		Kind         string      `yaml:"InstallerType"`
		Nested       string      `yaml:"NestedInstallerType"`
		Programs     []program   `yaml:"NestedInstallerFiles"`
		Date         string      `yaml:"ReleaseDate"`
		Installers   []installer `yaml:"Installers"`
		manifestEnd  `yaml:",inline"`
	}
	program struct {
		Path  string `yaml:"RelativeFilePath"`
		Alias string `yaml:"PortableCommandAlias"`
	}
	installer struct {
		Architecture string `yaml:"Architecture"`
		URL          string `yaml:"InstallerUrl"`
		SHA256       string `yaml:"InstallerSha256"`
	}
	localeManifest struct {
		manifestHead `yaml:",inline"`
		Locale       string `yaml:"PackageLocale"`
		Publisher    string `yaml:"Publisher"`
		Name         string `yaml:"PackageName"`
		Homepage     string `yaml:"PackageUrl"`
		License      string `yaml:"License"`
		LicenseURL   string `yaml:"LicenseUrl"`
		Short        string `yaml:"ShortDescription"`
		Description  string `yaml:"Description"`
		manifestEnd  `yaml:",inline"`
	}
)

// winget returns the manifests of winget, by file name.
func (a *app) winget(url, hash string) map[string]any {
	const locale = "en-US"
	head := manifestHead{"ThrongSim." + a.Details.Name, a.release.version}
	end := func(kind string) manifestEnd { return manifestEnd{kind, "1.6.0"} }
	folder := a.Details.Name + `\`
	return map[string]any{
		head.Identifier + ".yaml": versionManifest{head, locale, end("version")},
		head.Identifier + ".installer.yaml": installerManifest{
			head, "zip", "portable",
			[]program{{folder + a.Details.Name + ".exe", a.command()}, {folder + a.command() + "ctl.exe", a.command() + "ctl"}},
			a.release.made.Format(time.DateOnly),
			[]installer{{"x64", url, strings.ToUpper(hash)}},
			end("installer"),
		},
		head.Identifier + ".locale." + locale + ".yaml": localeManifest{
			head, locale, "The Throng authors", a.Details.Name, homepage, "MIT", homepage + "/blob/main/LICENSE",
			shortDescription, longDescription, end("defaultLocale"),
		},
	}
}
