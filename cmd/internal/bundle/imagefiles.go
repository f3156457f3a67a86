package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/pem"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	roots "golang.org/x/crypto/x509roots/fallback/bundle"
)

// The paths in the image.
const (
	imageProgram = "usr/bin/throngctl"
	imageData    = "data" // the home and data folder, the only one that is written to, with tmp
	imageRoots   = "etc/ssl/certs/ca-certificates.crt"
)

//go:embed lgpl-2.1.txt
var lgpl string

// imageEntry is a file or a folder of an archive. The paths of folders end with a slash.
type imageEntry struct {
	path  string
	text  []byte
	mode  int64
	owner int // user and group
}

// imageEntries returns the content of the image.
func (j *job) imageEntries() ([]imageEntry, error) {
	program, err := os.ReadFile(j.ctl)
	if err != nil {
		return nil, err
	}
	terms, err := licenses()
	if err != nil {
		return nil, err
	}
	file := func(path, text string) imageEntry { return imageEntry{path: path, text: []byte(text), mode: 0o644} }
	return []imageEntry{
		{path: imageProgram, text: program, mode: 0o755},
		{path: imageData + "/", mode: 0o700, owner: imageUser},
		{path: "tmp/", mode: 0o1777},
		file(imageRoots, rootCertificates()),
		file("etc/passwd", fmt.Sprintf("root:x:0:0:root:/:/\nthrong:x:%d:%[1]d:Throng:/%s:/\n", imageUser, imageData)),
		file("etc/group", fmt.Sprintf("root:x:0:\nthrong:x:%d:\n", imageUser)),
		file("etc/nsswitch.conf", "hosts: files dns\n"),
		file("usr/share/doc/"+j.app.command()+"/copyright", terms+imageTerms+lgpl),
	}, nil
}

// imageTerms follows the licenses of modules: these parts are only in the image.
const imageTerms = `
The program in this image contains the GNU C Library (https://sourceware.org/glibc), under the GNU Lesser General Public License
2.1 or later, which follows. To link the program with another version of the library, build the image from the source of Throng:
` + homepage + `, make image.

The certificates in /` + imageRoots + ` are those of Mozilla's NSS, under the Mozilla Public License 2.0
(https://mozilla.org/MPL/2.0).

`

// rootCertificates returns the root certificates of Mozilla in PEM. Roots that Mozilla trusts only for certificates before some day
// are left out: PEM cannot say that.
func rootCertificates() string {
	var text strings.Builder
	for root := range roots.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a builder cannot fail
		}
	}
	return text.String()
}

// tarred returns an archive of entries, sorted by path, all with one time. It adds the folders above them, which belong to root.
func tarred(entries []imageEntry, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range withFolders(entries) {
		h := &tar.Header{Name: e.path, Mode: e.mode, Size: int64(len(e.text)), Uid: e.owner, Gid: e.owner, ModTime: at, Typeflag: tar.TypeReg}
		if strings.HasSuffix(e.path, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("%s: %w", e.path, err)
		}
		if _, err := w.Write(e.text); err != nil {
			return nil, fmt.Errorf("%s: %w", e.path, err)
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func withFolders(entries []imageEntry) []imageEntry {
	all, known := slices.Clone(entries), map[string]bool{}
	for _, e := range entries {
		known[e.path] = true
	}
	for _, e := range entries {
		for dir := path.Dir(strings.TrimSuffix(e.path, "/")); dir != "."; dir = path.Dir(dir) {
			if !known[dir+"/"] {
				known[dir+"/"] = true
				all = append(all, imageEntry{path: dir + "/", mode: 0o755})
			}
		}
	}
	slices.SortFunc(all, func(a, b imageEntry) int { return cmp.Compare(a.path, b.path) })
	return all
}
