package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// probe is a program in place of throngctl: it prints its user, and what it may write to.
const probe = `#include <stdio.h>
#include <unistd.h>
int main(void) {
	printf("%d %d", getuid(), getgid());
	const char *folders[] = {"/data", "/tmp", "/etc", "/usr/bin"};
	for (int i = 0; i < 4; i++) if (!access(folders[i], W_OK)) printf(" %s", folders[i]);
	return 0;
}
`

// probing returns a job whose terminal program is the probe.
func probing(t *testing.T, flags ...string) job {
	t.Helper()
	needTools(t, "gcc")
	j, work := released(t, "linux")
	source := filepath.Join(work, "main.c")
	if err := os.WriteFile(source, []byte(probe), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, ".", "gcc", append([]string{"-o", j.ctl, source}, flags...)...)
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	return j
}

// untarred returns the headers and texts of an archive, by path.
func untarred(t *testing.T, text []byte) (headers map[string]*tar.Header, texts map[string][]byte) {
	t.Helper()
	headers, texts = map[string]*tar.Header{}, map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(text)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return headers, texts
		} else if err != nil {
			t.Fatal(err)
		}
		headers[h.Name] = h
		if texts[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func parse[T any](t *testing.T, text []byte) (value T) {
	t.Helper()
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// imageParts reads an archive as a container tool does: from the index to the manifest, and from there to configuration and layer.
func imageParts(t *testing.T, archive string) (name, config string, layer []byte) {
	t.Helper()
	_, files := untarred(t, []byte(read(t, archive)))
	blob := func(d descriptor) []byte {
		text := files[d.path()]
		if len(text) != d.Size || digest(text) != d.Digest {
			t.Fatalf("the blob %+v has %d bytes and the digest %s", d, len(text), digest(text))
		}
		return text
	}
	type manifest struct {
		Config descriptor
		Layers []descriptor
	}
	index := parse[struct{ Manifests []descriptor }](t, files["index.json"])
	if len(index.Manifests) != 1 {
		t.Fatalf("the index has %d manifests", len(index.Manifests))
	}
	m := parse[manifest](t, blob(index.Manifests[0]))
	old := parse[[]struct {
		Config           string
		RepoTags, Layers []string
	}](t, files["manifest.json"])
	if len(m.Layers) != 1 || len(old) != 1 || old[0].Config != m.Config.path() || !slices.Equal(old[0].Layers, []string{m.Layers[0].path()}) {
		t.Fatalf("the manifests differ: %+v and %+v", m, old)
	}
	name = index.Manifests[0].Annotations["io.containerd.image.name"]
	if !slices.Equal(old[0].RepoTags, []string{name}) {
		t.Errorf("got the names %q and %s", old[0].RepoTags, name)
	}
	z, err := gzip.NewReader(bytes.NewReader(blob(m.Layers[0])))
	if err != nil {
		t.Fatal(err)
	}
	if layer, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return name, string(blob(m.Config)), layer
}

// TestImage makes an image, reads it, and runs its program in its root as its user.
func TestImage(t *testing.T) {
	j := probing(t, "-static")
	archive, err := j.image("0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, archive)
	if _, err := j.image("0123456789abcdef"); err != nil || read(t, archive) != before {
		t.Errorf("the image differs when made again, or %v", err)
	}
	name, text, layer := imageParts(t, archive)
	if want := imageName + ":" + j.value(t, "Version"); name != want {
		t.Errorf("got the name %s, want %s", name, want)
	}
	config := parse[struct {
		Architecture, OS string
		Config           struct {
			User, StopSignal string
			Entrypoint, Env  []string
			Labels           map[string]string
		}
		RootFS struct {
			Layers []string `json:"diff_ids"`
		}
	}](t, []byte(text))
	c := config.Config
	if config.Architecture != "amd64" || config.OS != "linux" || !slices.Equal(config.RootFS.Layers, []string{digest(layer)}) {
		t.Errorf("got %+v", config)
	}
	if c.User != "65532:65532" || c.StopSignal != "SIGTERM" || !slices.Equal(c.Entrypoint, []string{"/usr/bin/throngctl"}) {
		t.Errorf("got %+v", c)
	}
	for label, want := range map[string]string{"title": "throngctl", "version": j.value(t, "Version"), "revision": "0123456789abcdef", "source": homepage} {
		if got := c.Labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("%s: got %q, want %q", label, got, want)
		}
	}
	headers, texts := untarred(t, layer)
	checkLicenses(t, string(texts["usr/share/doc/throng/copyright"]))
	if roots := x509.NewCertPool(); !roots.AppendCertsFromPEM(texts[imageRoots]) || bytes.Count(texts[imageRoots], []byte("BEGIN")) < 50 {
		t.Errorf("there are no root certificates in %d bytes", len(texts[imageRoots]))
	}
	for path, h := range headers {
		if want := map[string]int{"data/": imageUser}[path]; h.Uid != want || h.Gid != want || !h.ModTime.Equal(j.app.release.made) {
			t.Errorf("%s belongs to %d:%d since %v, want %d since %v", path, h.Uid, h.Gid, h.ModTime, want, j.app.release.made)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("running the program in its root takes root")
	}
	runInside(t, layer, c.Entrypoint[0])
}

// runInside unpacks the image and runs the probe there.
func runInside(t *testing.T, layer []byte, program string) {
	t.Helper()
	root := t.TempDir()
	unpack := exec.CommandContext(t.Context(), "tar", "-xp", "--same-owner", "--numeric-owner", "-C", root)
	unpack.Stdin = bytes.NewReader(layer)
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), program)
	run.Dir = "/"
	run.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser}}
	out, err := run.CombinedOutput()
	if want := fmt.Sprintf("%d %[1]d /data /tmp", imageUser); err != nil || string(out) != want {
		t.Errorf("got %q and %v, want %q", out, err, want)
	}
}

// TestImageNeedsStaticProgram checks that a program with shared libraries is refused: it would not start.
func TestImageNeedsStaticProgram(t *testing.T) {
	j := probing(t)
	if _, err := j.image(""); err == nil || !strings.Contains(err.Error(), "shared libraries") {
		t.Errorf("got %v", err)
	}
}
