package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAlpinePackage makes the package for Alpine Linux of a stand-in, and checks its files, its description and the checksums
// that apk reads (https://wiki.alpinelinux.org/wiki/Apk_spec).
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
		in := bytes.NewReader(packed)
		control := unzippedPart(t, in)
		dataHash := sha256.Sum256(packed[len(packed)-in.Len():])
		headers, texts := untarred(t, append(control, unzippedPart(t, in)...)) // the parts are one archive
		info := string(texts[".PKGINFO"])
		if want := fmt.Sprintf("datahash = %x\n", dataHash); !strings.Contains(info, want) || in.Len() != 0 {
			t.Errorf("no %q in:\n%s", want, info)
		}
		for path, h := range headers {
			if want := fmt.Sprintf("%x", sha1.Sum(texts[path])); h.Typeflag == tar.TypeReg && path != ".PKGINFO" && h.PAXRecords["APK-TOOLS.checksum.SHA1"] != want {
				t.Errorf("%s has the checksums %q, want %s", path, h.PAXRecords, want)
			}
		}
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

// unzippedPart returns the next of the gzip streams that a package consists of.
func unzippedPart(t *testing.T, in *bytes.Reader) []byte {
	t.Helper()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	z.Multistream(false)
	part, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return part
}
