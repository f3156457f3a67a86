package scenario

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// maxFile bounds a scenario's text files, in bytes, and maxSheet those that hold its population.
const (
	maxFile  = 16 << 20
	maxSheet = 256 << 20
)

// Endings are what the names of scenario files end in.
var Endings = []string{".yaml", ".yml", ".ai"}

// most is how many bytes a file may have.
func most(path string) int64 {
	if isSheet(path) {
		return maxSheet
	}
	return maxFile
}

// Data is a file that is read in pieces because it may be large.
type Data interface {
	io.ReaderAt
	io.Closer
	// Size returns the length in bytes.
	Size() int64
	// Stamp changes whenever the file does.
	Stamp() string
}

// DataOpener opens a file by its path relative to the scenario's folder.
type DataOpener func(path string) (Data, error)

// openedFile is a file of a folder.
type openedFile struct {
	*os.File
	info fs.FileInfo
}

// Size implements Data.
func (f openedFile) Size() int64 { return f.info.Size() }

// Stamp implements Data.
func (f openedFile) Stamp() string { return fmt.Sprint(f.info.Size(), f.info.ModTime().UnixNano()) }

// FolderData opens large files of a folder and nothing outside of it, links included.
func FolderData(dir string) DataOpener {
	return func(path string) (Data, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer func() { _ = root.Close() }()
		info, err := root.Stat(filepath.FromSlash(path))
		switch {
		case err != nil:
			return nil, absent(root, path, err)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not a file", path)
		}
		f, err := root.Open(filepath.FromSlash(path))
		if err != nil {
			return nil, err
		}
		return openedFile{f, info}, nil
	}
}

// textData is a file that is in memory.
type textData struct{ *bytes.Reader }

// NewData returns a file with a text.
func NewData(text []byte) Data { return textData{bytes.NewReader(text)} }

// Close implements Data.
func (textData) Close() error { return nil }

// Stamp implements Data.
func (t textData) Stamp() string {
	h := sha256.New()
	_, _ = io.Copy(h, io.NewSectionReader(t.Reader, 0, t.Size())) // memory has no errors
	return hex.EncodeToString(h.Sum(nil))
}

// Folder opens files of a folder and nothing outside of it, links included.
func Folder(dir string) Opener {
	open := FolderData(dir)
	return func(path string) (text []byte, err error) {
		f, err := open(path)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if f.Size() > most(path) {
			return nil, fmt.Errorf("%s: %s, more than %d MB", path, engine.FormatBytes(f.Size()), most(path)>>20)
		}
		return io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	}
}

// FS opens files of a file system, such as the embedded scenarios.
func FS(files fs.FS) Opener {
	return func(path string) ([]byte, error) { return fs.ReadFile(files, path) }
}

// Load reads a scenario from the disk.
func Load(path string, given map[string]string) (*Scenario, error) {
	return Extras{Parameters: given}.Load(path)
}

// Restore reads a scenario that was kept with its run.
func Restore(src engine.Source) (*Scenario, error) {
	r := &reader{name: src.Name, given: src.Parameters, kept: true, extras: kept(src)}
	s, err := r.scenario(func(path string) ([]byte, error) {
		text, ok := src.Files[path]
		if !ok {
			return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
		return text, nil
	})
	if err != nil {
		return nil, err
	}
	if s.Source.Hash != src.Hash {
		return nil, errors.New("the scenario kept with the run is damaged: its hash does not match")
	}
	s.Source.Path = src.Path
	return s, nil
}

// Reread reads a scenario that was kept with its run as if it were new: with other parameters, as written on a command
// line, and the population that a model wrote still to be written.
func Reread(src engine.Source, given map[string]string) (*Scenario, error) {
	return reread(src, kept(src), given)
}

func reread(src engine.Source, x Extras, given map[string]string) (*Scenario, error) {
	x.Parameters = given
	s, err := x.Read(src.Name, func(path string) ([]byte, error) {
		text, ok := src.Files[path]
		if !ok {
			return nil, fmt.Errorf("%s is not among the files kept with the run: %w", path, fs.ErrNotExist)
		}
		return text, nil
	})
	if err == nil {
		s.Source.Path = src.Path
	}
	return s, err
}

// hash is the SHA-256 of all files with their names.
func hash(files map[string][]byte) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%d %s %d\n", len(name), name, len(files[name]))
		h.Write(files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}
