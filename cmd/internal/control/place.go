package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// folderName is the name of the folder for sockets in the data folder.
const folderName = "control"

// names are the file names of a socket, and of the file that holds its path if the data folder is too deep for it.
type names struct{ socket, place string }

var ofWindow = names{"window.sock", "window.place"}

// ofRun returns the names for a run in progress.
func ofRun(run engine.RunID) names { return names{string(run) + ".sock", string(run) + ".place"} }

// mostPath is the maximum length of the path of a socket: 108 bytes on Linux and Windows, 104 on macOS, including the
// terminating zero.
const mostPath = 100

// place is the location of the socket of a data folder.
type place struct {
	names
	folder string // in the data folder
	path   string // of the socket
	away   string // the folder made for the socket outside of the data folder; "" if it is inside
}

func folderOf(data string) (string, error) {
	data, err := filepath.Abs(data)
	return filepath.Join(data, folderName), err
}

// makePlace makes a folder that only this user can open, and returns the path for the socket in it.
func makePlace(data string, n names) (place, error) {
	folder, err := folderOf(data)
	if err != nil {
		return place{}, err
	}
	p := place{names: n, folder: folder, path: filepath.Join(folder, n.socket)}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return place{}, err
	}
	if err := os.Chmod(folder, 0o700); err != nil { // the folder may be older
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

// forgetDead removes the sockets of runs whose process died. Only the process that has the turn in the store may call it.
func forgetDead(data string) {
	folder, err := folderOf(data)
	if err != nil {
		return
	}
	entries, _ := os.ReadDir(folder) // without the folder, there are no sockets
	for _, e := range entries {
		run, isSocket := strings.CutSuffix(e.Name(), ".sock")
		if !isSocket {
			run, isSocket = strings.CutSuffix(e.Name(), ".place")
		}
		n := ofRun(engine.RunID(run))
		if !isSocket || n.socket == ofWindow.socket {
			continue
		}
		if socket, _, err := placed(folder, n); err == nil {
			c, err := (&net.Dialer{Timeout: dialTime}).DialContext(context.Background(), "unix", socket)
			if err == nil {
				_ = c.Close()
				continue
			}
		}
		p := place{names: n, folder: folder}
		p.forget()
	}
}

// forget removes the socket of a process that died. The caller holds the lock of the run, or of the window, so no live
// process serves there.
func (p *place) forget() {
	if before, away, err := placed(p.folder, p.names); err == nil && away {
		_ = os.Remove(before) // it may be gone
		_ = os.Remove(filepath.Dir(before))
	}
	_ = os.Remove(filepath.Join(p.folder, p.place))
	_ = os.Remove(filepath.Join(p.folder, p.socket))
}

// remove removes everything except the folder in the data folder.
func (p *place) remove() error {
	err := os.Remove(p.path) // the listener usually has removed it
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

// placed returns the path of the socket of a data folder, if there is one.
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

// runtimeFolder returns the user's folder for sockets, or the folder for temporary files.
func runtimeFolder() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return os.TempDir()
}
