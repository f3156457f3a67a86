package cmdline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// Install adds the folder of the program to PATH of the user's account and says so.
func (t *Tool) Install(context.Context) (text, command string, err error) {
	dir := filepath.Dir(t.program)
	if err := appendPath(dir); err != nil {
		return "", "", fmt.Errorf("cannot change PATH: %w. Open “Edit environment variables for your account” in Windows, and add %s to Path", err, dir)
	}
	return fmt.Sprintf("Added %s to PATH of your account.\nOpen a new terminal and type %s.%s", dir, Name, t.shadow()), "", nil
}

// appendPath adds a folder to PATH in the registry, and tells the programs that are running.
func appendPath(dir string) (err error) {
	key, err := registry.OpenKey(registry.CURRENT_USER, "Environment", registry.QUERY_VALUE|registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, key.Close()) }()
	old, _, err := key.GetStringValue("Path") // as it is written: other variables are kept
	if err != nil && !errors.Is(err, registry.ErrNotExist) {
		return err
	}
	for have := range strings.SplitSeq(old, ";") {
		if strings.EqualFold(filepath.Clean(have), filepath.Clean(dir)) {
			return nil
		}
	}
	if old = strings.TrimRight(old, ";"); old != "" {
		old += ";"
	}
	if err := key.SetExpandStringValue("Path", old+dir); err != nil {
		return err
	}
	announce()
	return nil
}

// Parameters of SendMessageTimeoutW (winuser.h).
const (
	everyWindow    = 0xffff // HWND_BROADCAST
	settingChanged = 0x001a // WM_SETTINGCHANGE
	skipHung       = 0x0002 // SMTO_ABORTIFHUNG
	waitMillis     = 1000
)

// announce tells other programs that the environment has changed, so that terminals opened from now on have the new PATH.
func announce() {
	what, err := windows.UTF16PtrFromString("Environment")
	if err != nil {
		return
	}
	_, _, _ = windows.NewLazySystemDLL("user32.dll").NewProc("SendMessageTimeoutW").
		Call(everyWindow, settingChanged, 0, uintptr(unsafe.Pointer(what)), skipHung, waitMillis, 0) // without it, the next sign-in does
}
