package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// folderName is the folder of the sockets in the data folder.
const folderName = "control"

// names are those of a socket, and of the file that says where it is instead where its path would be too long.
type names struct{ socket, place string }

var (
	ofRun    = names{"run.sock", "place"}
	ofWindow = names{"window.sock", "window.place"}
)

// mostPath is how long the path of a socket may be: 108 bytes on Linux and Windows, 104 on macOS, with its end.
const mostPath = 100

// place is where the socket of a data folder is.
type place struct {
	names
	folder string // in the data folder
	path   string // the socket's
	away   string // the folder that was made for the socket elsewhere; "" is none
}

func folderOf(data string) (string, error) {
	data, err := filepath.Abs(data)
	return filepath.Join(data, folderName), err
}

// makePlace makes a folder that only this user can open, and says where in it the socket goes.
func makePlace(data string, n names) (place, error) {
	folder, err := folderOf(data)
	if err != nil {
		return place{}, err
	}
	p := place{names: n, folder: folder, path: filepath.Join(folder, n.socket)}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return place{}, err
	}
	if err := os.Chmod(folder, 0o700); err != nil { // it may be there from before
		return place{}, err
	}
	p.forget()
	if len(p.path) <= mostPath {
		return p, nil
	}
	if p.away, err = os.MkdirTemp(runtimeFolder(), "throng-"); err != nil { // made with 0700
		return place{}, err
	}
	p.path = filepath.Join(p.away, n.socket)
	if len(p.path) > mostPath {
		err = fmt.Errorf("the path of the socket %s is longer than %d bytes; TMPDIR can name a shorter folder", p.path, mostPath)
	} else {
		err = os.WriteFile(filepath.Join(folder, n.place), []byte(p.path+"\n"), 0o600)
	}
	if err != nil {
		return place{}, errors.Join(err, os.Remove(p.away))
	}
	return p, nil
}

// forget removes what a process left that died: who makes a place has the run, or the window, so nobody alive serves there.
func (p *place) forget() {
	if before, away, err := placed(p.folder, p.names); err == nil && away {
		_ = os.Remove(before) // as far as it is still there
		_ = os.Remove(filepath.Dir(before))
	}
	_ = os.Remove(filepath.Join(p.folder, p.place))
	_ = os.Remove(filepath.Join(p.folder, p.socket))
}

// remove leaves nothing but the folder in the data folder.
func (p *place) remove() error {
	err := os.Remove(p.path) // whoever stops listening mostly has removed it
	if p.away != "" {
		err = errors.Join(ignoreMissing(err), os.Remove(filepath.Join(p.folder, p.place)), os.Remove(p.away))
	}
	return ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// placed says where the socket of a data folder is, if there is one.
func placed(folder string, n names) (socket string, away bool, err error) {
	text, err := os.ReadFile(filepath.Join(folder, n.place))
	if errors.Is(err, fs.ErrNotExist) {
		return filepath.Join(folder, n.socket), false, nil
	}
	socket = strings.TrimSpace(string(text))
	if err == nil && (!filepath.IsAbs(socket) || filepath.Base(socket) != n.socket) {
		err = fmt.Errorf("%s names no socket of Throng", filepath.Join(folder, n.place))
	}
	return socket, true, err
}

// runtimeFolder is the user's folder for sockets, or else that for temporary files.
func runtimeFolder() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return os.TempDir()
}
