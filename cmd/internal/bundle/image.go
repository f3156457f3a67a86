package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// imageName is the name of the container image of the terminal program. Its tag is the version.
const imageName = "ghcr.io/throng-sim/throngctl"

// imageSystem is the system of a job that makes the image.
const imageSystem = "container"

// imageUser is the user and the group of the program in a container: the usual ID of "nonroot", which no person has.
const imageUser = 65532

// staticTags are the tags of a program without shared libraries: names of hosts and users are looked up by Go, and SQLite loads
// no extensions.
const staticTags = "netgo,osusergo,sqlite_omit_load_extension"

// linuxCompilers holds the C cross-compilers for Linux, by processor.
var linuxCompilers = map[string]string{"amd64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"}

// packImage builds the terminal program without shared libraries, and makes a package for Alpine Linux and a container image with
// nothing else, as an archive that docker load, podman load and ctr image import read. It needs no container tool.
func packImage(ctx context.Context, j job, work string) ([]string, error) {
	j.ctl = filepath.Join(work, j.app.command()+"ctl")
	env := []string{"GOOS=linux", "GOARCH=" + j.arch, "CGO_ENABLED=1"}
	if compiler := linuxCompilers[j.arch]; (runtime.GOOS != "linux" || j.arch != runtime.GOARCH) && os.Getenv("CC") == "" {
		env = append(env, "CC="+compiler)
	}
	if _, err := runWith(ctx, env, j.root, "go", "build", "-trimpath", "-tags", staticTags,
		"-ldflags", "-s -w -linkmode external -extldflags -static", "-o", j.ctl, "./cmd/"+j.app.command()+"ctl"); err != nil {
		return nil, err
	}
	revision, err := run(ctx, j.root, "git", "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	image, err := j.image(strings.TrimSpace(revision))
	if err != nil {
		return nil, err
	}
	made, err := packAlpine(ctx, j, work)
	return append(made, image), err
}

// image makes the image with a built program, and returns the path of its archive. The same program, version and time make the
// same bytes.
func (j *job) image(revision string) (string, error) {
	if err := checkStatic(j.ctl); err != nil {
		return "", err
	}
	entries, err := j.imageEntries()
	if err != nil {
		return "", err
	}
	layer, err := tarred(entries, j.app.release.made)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
	if _, err := z.Write(layer); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	l := layout{created: j.app.release.made}
	layerBlob := l.add("application/vnd.oci.image.layer.v1.tar+gzip", packed.Bytes())
	config, err := l.addJSON("application/vnd.oci.image.config.v1+json", j.imageConfig(revision, digest(layer)))
	if err != nil {
		return "", err
	}
	path := filepath.Join(j.out, j.called(".image.tar"))
	return path, l.write(path, imageName+":"+j.app.release.version, config, layerBlob)
}

// checkStatic returns an error if a program needs shared libraries, which are not in the image.
func checkStatic(program string) error {
	f, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return fmt.Errorf("%s needs shared libraries, and the image has none", program)
		}
	}
	return nil
}

// imageConfig returns the configuration of the image (https://github.com/opencontainers/image-spec/blob/main/config.md).
func (j *job) imageConfig(revision, layer string) map[string]any {
	a, created := &j.app, j.app.release.made.Format(time.RFC3339)
	user := strconv.Itoa(imageUser)
	label := func(name string) string { return "org.opencontainers.image." + name }
	return map[string]any{
		"architecture": j.arch, "os": "linux", "created": created, "author": maintainer,
		"config": map[string]any{
			"User":       user + ":" + user,
			"Env":        []string{"PATH=/usr/bin", "HOME=/" + imageData, "THRONG_DATA=/" + imageData},
			"Entrypoint": []string{"/" + imageProgram},
			"WorkingDir": "/" + imageData,
			"StopSignal": "SIGTERM",
			"Labels": map[string]string{
				label("title"): a.command() + "ctl", label("description"): a.LinuxAndBSD.Comment, label("version"): a.release.version,
				label("revision"): revision, label("created"): created, label("licenses"): "MIT AND LGPL-2.1-or-later AND MPL-2.0",
				label("url"): homepage, label("source"): homepage, label("authors"): maintainer,
			},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{layer}},
		"history": []any{map[string]string{"created": created, "created_by": "make image"}},
	}
}

// layout is an OCI image layout (https://github.com/opencontainers/image-spec/blob/main/image-layout.md) in memory.
type layout struct {
	created time.Time
	blobs   []imageEntry
}

// descriptor refers to a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// path returns the path of the blob in the layout.
func (d descriptor) path() string { return "blobs/sha256/" + d.Digest[len("sha256:"):] }

func digest(text []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(text)) }

func (l *layout) add(mediaType string, text []byte) descriptor {
	d := descriptor{MediaType: mediaType, Digest: digest(text), Size: len(text)}
	l.blobs = append(l.blobs, imageEntry{path: d.path(), text: text, mode: 0o644})
	return d
}

func (l *layout) addJSON(mediaType string, value any) (descriptor, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return descriptor{}, err
	}
	return l.add(mediaType, text), nil
}

// write writes an archive of the layout. It also has the list that releases of Docker before 25 read.
func (l *layout) write(path, name string, config, layer descriptor) (err error) {
	const manifestType, indexType = "application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.index.v1+json"
	manifest, err := l.addJSON(manifestType, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": config, "layers": []descriptor{layer},
	})
	if err != nil {
		return err
	}
	manifest.Annotations = map[string]string{"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
	for file, value := range map[string]any{
		"oci-layout": map[string]string{"imageLayoutVersion": "1.0.0"},
		"index.json": map[string]any{"schemaVersion": 2, "mediaType": indexType, "manifests": []descriptor{manifest}},
		"manifest.json": []any{map[string]any{
			"Config": config.path(), "RepoTags": []string{name}, "Layers": []string{layer.path()},
		}},
	} {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		l.blobs = append(l.blobs, imageEntry{path: file, text: text, mode: 0o644})
	}
	archive, err := tarred(l.blobs, l.created)
	if err != nil {
		return err
	}
	return writeFile(path, archive, 0o644)
}
