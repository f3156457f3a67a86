package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// TestManagers makes what package managers read of four packages, and checks names, addresses and hashes in it.
func TestManagers(t *testing.T) {
	j := job{root: filepath.Join("..", "..", ".."), out: t.TempDir()}
	a, err := readApp(j.root)
	if err != nil {
		t.Fatal(err)
	}
	if a.release, err = readRelease(t.Context(), j.root, a.Details.Version); err != nil {
		t.Fatal(err)
	}
	j.app = a
	if _, err := managers(t.Context(), j); err == nil || !strings.Contains(err.Error(), "make the packages of all systems first") {
		t.Errorf("without packages: %v", err)
	}
	hashes := map[string]string{}
	for arch, ending := range map[string]string{"": ".dmg", "amd64": ".tar.xz", "arm64": ".tar.xz", "x64": ".zip"} {
		if j.arch = arch; ending == ".zip" {
			j.arch = "amd64"
		}
		name := j.called(ending)
		if err := os.WriteFile(filepath.Join(j.out, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(name))
		hashes[name] = hex.EncodeToString(sum[:])
	}
	made, err := managers(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, path := range made {
		text := read(t, path)
		all += text
		if filepath.Ext(path) == ".rb" {
			if ruby, err := exec.LookPath("ruby"); err == nil {
				if out, err := exec.CommandContext(t.Context(), ruby, "-c", path).CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", filepath.Base(path), err, out)
				}
			}
			continue
		}
		var manifest map[string]any
		if err := yaml.Unmarshal([]byte(text), &manifest); err != nil {
			t.Fatalf("%s: %v\n%s", filepath.Base(path), err, text)
		}
		for _, key := range []string{"PackageIdentifier", "PackageVersion", "ManifestType", "ManifestVersion"} {
			if _, ok := manifest[key].(string); !ok {
				t.Errorf("%s has no %s:\n%s", filepath.Base(path), key, text)
			}
		}
	}
	version := a.release.version
	for name, hash := range hashes {
		shown := strings.ReplaceAll(name, version, "#{version}")
		if !strings.Contains(all, "/v"+version+"/"+name) && !strings.Contains(all, "/v#{version}/"+shown) {
			t.Errorf("no address of %s in:\n%s", name, all)
		}
		if !strings.Contains(strings.ToLower(all), hash) {
			t.Errorf("no hash of %s in:\n%s", name, all)
		}
	}
	if left := regexp.MustCompile(`<no value>|\{\{`).FindString(all); left != "" || len(made) != 5 {
		t.Errorf("%d files, with %q", len(made), left)
	}
}
