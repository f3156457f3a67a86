package runbundle

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/audit"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/storage/sqlite/transfer"
)

// mostManifest is the size of a manifest in bytes, at most.
const mostManifest = 1 << 20

// mostProblems is how many files an error names, at most.
const mostProblems = 3

// ErrDamaged says that a file is not a bundle, or is one that was changed or cut off.
var ErrDamaged = errors.New("the bundle is damaged")

// Bundle is an unpacked bundle. Close removes it.
type Bundle struct {
	Manifest
	Dir string // a data folder with the run
}

// damaged returns an error for a damaged bundle, which says what is wrong with it.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s; get a new copy of the bundle", ErrDamaged, fmt.Sprintf(format, args...))
}

// ofSystem reports whether an error comes from the operating system, and so says nothing about a bundle.
func ofSystem(err error) bool {
	_, ok := errors.AsType[syscall.Errno](err)
	return ok
}

// unreadable returns an error for a file of a bundle that cannot be unpacked.
func unreadable(name string, err error) error {
	if ofSystem(err) {
		return fmt.Errorf("unpack %s: %w", name, err)
	}
	return damaged("%s was changed", name)
}

// Open unpacks a bundle into a temporary folder. Every file has the size and digest that the manifest says, and the manifest describes
// the run, or the error wraps ErrDamaged; [engine.ErrNewer] if a newer version wrote it.
func Open(ctx context.Context, name string) (b *Bundle, err error) {
	archive, err := zip.OpenReader(name)
	if err != nil && !ofSystem(err) {
		return nil, damaged("%s is not a ZIP archive, or its end is missing or was changed", name)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	m, err := manifest(&archive.Reader)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "throng-bundle-*")
	if err != nil {
		return nil, fmt.Errorf("a folder for the bundle: %w", err)
	}
	b = &Bundle{Manifest: *m, Dir: dir}
	if err = b.unpack(&archive.Reader); err == nil {
		err = b.checkManifest(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Close removes the unpacked files.
func (b *Bundle) Close() error { return os.RemoveAll(b.Dir) }

// manifest reads and checks the manifest.
func manifest(archive *zip.Reader) (*Manifest, error) {
	i := slices.IndexFunc(archive.File, func(f *zip.File) bool { return f.Name == manifestName })
	if i < 0 {
		return nil, damaged("%s is missing", manifestName)
	}
	f, err := archive.File[i].Open()
	if err != nil && !ofSystem(err) {
		return nil, damaged("the beginning of %s or the end of the archive was changed", manifestName)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // if it fails, it repeats the error of reading
	text, err := io.ReadAll(io.LimitReader(f, mostManifest))
	if err != nil {
		return nil, unreadable(manifestName, err)
	}
	var head struct {
		Format int    `json:"format"`
		Throng string `json:"throng_version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, damaged("%s was changed", manifestName)
	}
	switch {
	case head.Format > Format:
		return nil, fmt.Errorf("%w: the bundle has format %d, this version reads format %d; it was written by Throng %s", engine.ErrNewer, head.Format, Format, head.Throng)
	case head.Format < Format:
		return nil, fmt.Errorf("the bundle has format %d, this version reads format %d; make it again from its run, which Throng %s wrote", head.Format, Format, head.Throng)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil || (&engine.RunRecord{ID: m.Run}).CheckIDs() != nil {
		return nil, damaged("%s was changed", manifestName)
	}
	return &m, nil
}

// unpack checks all files, and extracts those of the data folder.
func (b *Bundle) unpack(archive *zip.Reader) error {
	listed := map[string]File{}
	for _, f := range b.Files {
		listed[f.Name] = f
	}
	if err := match(archive, listed); err != nil {
		return err
	}
	for _, f := range archive.File {
		if f.Name == manifestName {
			continue
		}
		if err := b.extract(f, listed[f.Name]); err != nil {
			return err
		}
	}
	if !sqlite.Exists(b.Dir) {
		return damaged("%s is missing", storeName)
	}
	return nil
}

// match checks that an archive has the files of a list and a manifest, each once, and nothing else.
func match(archive *zip.Reader, listed map[string]File) error {
	var problems []string
	seen := map[string]bool{}
	for _, f := range archive.File {
		_, ok := listed[f.Name]
		switch {
		case !filepath.IsLocal(f.Name):
			problems = append(problems, fmt.Sprintf("%q is a path outside of the bundle", f.Name))
		case seen[f.Name]:
			problems = append(problems, fmt.Sprintf("%q is there twice", f.Name))
		case !ok && f.Name != manifestName:
			problems = append(problems, fmt.Sprintf("%q is not in its list", f.Name))
		}
		seen[f.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if !seen[name] {
			problems = append(problems, fmt.Sprintf("%q is missing", name))
		}
	}
	if n := len(problems); n > mostProblems {
		problems = append(problems[:mostProblems], fmt.Sprintf("and %d more", n-mostProblems))
	}
	if len(problems) > 0 {
		return damaged("%s", strings.Join(problems, ", "))
	}
	return nil
}

// extract checks a file, and writes it if it belongs to a data folder.
func (b *Bundle) extract(f *zip.File, want File) (err error) {
	from, err := f.Open()
	if err != nil {
		return unreadable(f.Name, err)
	}
	defer func() { _ = from.Close() }() // if it fails, it repeats the error of reading
	sum := sha256.New()
	var to io.Writer = sum
	if b.ours(f.Name) {
		path := filepath.Join(b.Dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		to = io.MultiWriter(sum, out)
	}
	n, err := io.Copy(to, io.LimitReader(from, want.Bytes+1)) // a byte more than it should have
	if err != nil {
		return unreadable(f.Name, err)
	}
	if newFile(f.Name, n, sum) != want {
		return damaged("%s was changed", f.Name)
	}
	return nil
}

// checkManifest compares the manifest with the run that it describes.
func (b *Bundle) checkManifest(ctx context.Context) error {
	return with(b.Dir, func(store *sqlite.Store) error {
		record, err := store.Run(ctx, b.Run)
		if errors.Is(err, engine.ErrNotFound) {
			return damaged("%s does not have run %s, which %s describes", storeName, b.Run, manifestName)
		}
		if err != nil {
			return err
		}
		wrong, err := b.misdescribed(&record)
		if err == nil && len(wrong) > 0 {
			err = damaged("%s and the run differ in %s", manifestName, strings.Join(wrong, ", "))
		}
		return err
	})
}

// logName matches what follows the ID of a run in the names of logs of mocks.
var logName = regexp.MustCompile(`^[.a-zA-Z0-9_-]*$`)

// ours reports whether a file belongs to the data folder.
func (b *Bundle) ours(name string) bool {
	log, ok := strings.CutPrefix(name, mockFolder+string(b.Run))
	return name == storeName || ok && logName.MatchString(log)
}

// Add adds the run to the store of a data folder. It is listed there when the logs of its mocks are there too: without them, it would
// be resumed with empty mocks.
func (b *Bundle) Add(ctx context.Context, data string) error {
	return transfer.Copy(ctx, b.Run, b.Dir, data, quiet, func() error { return b.addLogs(data) })
}

// addLogs adds the logs of the mocks to a data folder.
func (b *Bundle) addLogs(data string) error {
	folder := filepath.Dir(config.ShopLog(data, b.Run))
	for _, f := range b.Files {
		if name, ok := strings.CutPrefix(f.Name, mockFolder); ok && b.ours(f.Name) {
			err := os.MkdirAll(folder, 0o700)
			if err == nil {
				err = transfer.CopyFile(filepath.Join(b.Dir, filepath.FromSlash(f.Name)), filepath.Join(folder, name))
			}
			if err != nil {
				return fmt.Errorf("the log of its mock: %w", err)
			}
		}
	}
	return nil
}

// Audit recomputes the figures of the run from its journal.
func (b *Bundle) Audit(ctx context.Context) (report *audit.Report, err error) {
	err = with(b.Dir, func(store *sqlite.Store) error {
		report, err = review.Audit(ctx, store, b.Run)
		return err
	})
	return report, err
}

// Changed returns the names of the results that are not those of the manifest.
func (b *Bundle) Changed(ctx context.Context) (names []string, err error) {
	err = with(b.Dir, func(store *sqlite.Store) error {
		found, err := results(ctx, store, b.Run)
		names = differ(found, b.Results)
		return err
	})
	return names, err
}

// Replayed returns the names of the results of another run in the data folder that are not those of the bundle: the newest one, which
// replayed it.
func (b *Bundle) Replayed(ctx context.Context) (names []string, err error) {
	err = with(b.Dir, func(store *sqlite.Store) error {
		newest, err := store.Newest(ctx)
		if err != nil {
			return err
		}
		if newest.Settings.Replay != b.Run {
			return fmt.Errorf("the newest run is %s, which does not replay %s", newest.ID, b.Run)
		}
		found, err := stable(ctx, store, newest.ID)
		if err != nil {
			return err
		}
		want, err := stable(ctx, store, b.Run)
		names = differ(found, want)
		return err
	})
	return names, err
}

// CheckScenario refuses an archive where a scenario is expected: it may be a bundle.
func CheckScenario(name string) error {
	archive, err := zip.OpenReader(name)
	if err != nil {
		return nil //nolint:nilerr // not an archive
	}
	bundle := slices.ContainsFunc(archive.File, func(f *zip.File) bool { return f.Name == manifestName })
	if err := archive.Close(); err != nil {
		return err
	}
	if !bundle {
		return &engine.FieldError{Field: name, Problem: "is a ZIP archive, not a scenario", Hint: "unpack it first"}
	}
	return &engine.FieldError{Field: name, Problem: "is a bundle of a run, not a scenario", Hint: "add the run to the store: throngctl bundle open " + name}
}
