package runbundle

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/audit"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/storage/sqlite/transfer"
)

// mostManifest is the size of a manifest in bytes, at most.
const mostManifest = 1 << 20

// ErrDamaged says that a file is not a bundle, or is one that was changed or cut off.
var ErrDamaged = errors.New("the bundle is damaged")

// Bundle is an unpacked bundle. Close removes it.
type Bundle struct {
	Manifest
	Dir string // a data folder with the run
}

// Open unpacks a bundle into a temporary folder. Every file has the size and digest that the manifest says, or the error wraps
// ErrDamaged; [engine.ErrNewer] if a newer version wrote it.
func Open(name string) (b *Bundle, err error) {
	archive, err := zip.OpenReader(name)
	if errors.Is(err, zip.ErrFormat) {
		return nil, fmt.Errorf("%w: %s is not an archive, or its end is missing", ErrDamaged, name)
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
	if err := b.unpack(&archive.Reader); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Close removes the unpacked files.
func (b *Bundle) Close() error { return os.RemoveAll(b.Dir) }

// manifest reads and checks the manifest.
func manifest(archive *zip.Reader) (*Manifest, error) {
	f, err := archive.Open(manifestName)
	if err != nil {
		return nil, fmt.Errorf("%w: it has no %s", ErrDamaged, manifestName)
	}
	text, err := io.ReadAll(io.LimitReader(f, mostManifest))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, manifestName, err)
	}
	if m.Format > Format {
		return nil, fmt.Errorf("%w: the bundle has format %d, this version reads up to %d; it was written by Throng %s", engine.ErrNewer, m.Format, Format, m.Throng)
	}
	if err := (&engine.RunRecord{ID: m.Run}).CheckIDs(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return &m, nil
}

// unpack checks all files, and extracts those of the data folder.
func (b *Bundle) unpack(archive *zip.Reader) error {
	listed := map[string]File{}
	for _, f := range b.Files {
		listed[f.Name] = f
	}
	for _, f := range archive.File {
		if f.Name == manifestName {
			continue
		}
		want, ok := listed[f.Name]
		if !ok {
			return fmt.Errorf("%w: %q is not in its list, or is there twice", ErrDamaged, f.Name)
		}
		delete(listed, f.Name)
		if err := b.extract(f, want); err != nil {
			return err
		}
	}
	for name := range listed {
		return fmt.Errorf("%w: %q is missing", ErrDamaged, name)
	}
	if !sqlite.Exists(b.Dir) {
		return fmt.Errorf("%w: it has no journal", ErrDamaged)
	}
	return nil
}

// extract checks a file, and writes it if it belongs to a data folder.
func (b *Bundle) extract(f *zip.File, want File) (err error) {
	from, err := f.Open()
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, f.Name, err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
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
	switch {
	case errors.Is(err, zip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF), err == nil && (n != want.Bytes || hex.EncodeToString(sum.Sum(nil)) != want.SHA256):
		return fmt.Errorf("%w: %s was changed", ErrDamaged, f.Name)
	case err != nil:
		return fmt.Errorf("unpack %s: %w", f.Name, err)
	}
	return nil
}

// logName matches what follows the ID of a run in the names of logs of mocks.
var logName = regexp.MustCompile(`^[.a-zA-Z0-9_-]*$`)

// ours reports whether a file belongs to the data folder.
func (b *Bundle) ours(name string) bool {
	log, ok := strings.CutPrefix(name, mockFolder+string(b.Run))
	return name == storeName || ok && logName.MatchString(log)
}

// Add adds the run to the store of a data folder.
func (b *Bundle) Add(ctx context.Context, data string) error {
	if err := transfer.Copy(ctx, b.Run, b.Dir, data, quiet); err != nil {
		return err
	}
	folder := filepath.Dir(config.ShopLog(data, b.Run))
	for _, f := range b.Files {
		if name, ok := strings.CutPrefix(f.Name, mockFolder); ok && b.ours(f.Name) {
			err := os.MkdirAll(folder, 0o700)
			if err == nil {
				err = transfer.CopyFile(filepath.Join(b.Dir, filepath.FromSlash(f.Name)), filepath.Join(folder, name))
			}
			if err != nil {
				return fmt.Errorf("the run was added, but not the log of its mock: %w", err)
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
	return b.differ(ctx, b.Dir, b.Run)
}

// Replayed returns the names of the results of another run in the data folder that are not those of the bundle: the newest one, which
// replayed it.
func (b *Bundle) Replayed(ctx context.Context) (names []string, err error) {
	var newest engine.RunRecord
	if err := with(b.Dir, func(store *sqlite.Store) error {
		newest, err = store.Newest(ctx)
		return err
	}); err != nil {
		return nil, err
	}
	if newest.Settings.Replay != b.Run {
		return nil, fmt.Errorf("the newest run is %s, which does not replay %s", newest.ID, b.Run)
	}
	return b.differ(ctx, b.Dir, newest.ID)
}

func (b *Bundle) differ(ctx context.Context, dir string, run engine.RunID) (names []string, err error) {
	var record engine.RunRecord
	if err := with(dir, func(store *sqlite.Store) error {
		record, err = store.Run(ctx, run)
		return err
	}); err != nil {
		return nil, err
	}
	found, err := results(ctx, dir, &record)
	if err != nil {
		return nil, err
	}
	for i, f := range found {
		if i >= len(b.Results) || f != b.Results[i] {
			names = append(names, f.Name)
		}
	}
	return names, nil
}
