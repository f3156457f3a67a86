package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAlpinePackage makes the package for Alpine Linux of a stand-in, and checks its files and its description.
func TestAlpinePackage(t *testing.T) {
	j := probing(t, "-static")
	for version, want := range map[string]string{"0.1.0": "0.1.0", "0.1.0-dev.20231114.abcdef012": "0.1.0_git20231114"} {
		j.app.release.version, j.app.release.made = version, time.Unix(1_700_000_000, 0).UTC()
		made, err := packAlpine(t.Context(), j, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if len(made) != 1 || filepath.Base(made[0]) != "throngctl_"+want+"_x86_64.apk" {
			t.Fatalf("got %q", made)
		}
		packed, err := os.ReadFile(made[0])
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed)) // its parts are streams that follow each other
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		headers, texts := untarred(t, all)
		info := string(texts[".PKGINFO"])
		for _, line := range []string{"pkgname = throngctl", "pkgver = " + want, "arch = x86_64", "license = MIT", "url = " + homepage, "depend = ca-certificates"} {
			if !strings.Contains(info, line+"\n") {
				t.Errorf("no %q in:\n%s", line, info)
			}
		}
		program := headers["usr/bin/throngctl"]
		if program == nil || program.Mode&0o777 != 0o755 || headers["usr/share/licenses/throng/LICENSE"] == nil {
			t.Errorf("the files are %v", headers)
		}
		if strings.Contains(info, "xdg-utils") || headers["usr/bin/throng"] != nil {
			t.Errorf("it is a package of the window:\n%s", info)
		}
	}
}
