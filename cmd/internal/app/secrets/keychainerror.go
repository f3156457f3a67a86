package secrets

import (
	"errors"
	"runtime"
	"strings"

	"github.com/zalando/go-keyring"
)

// keychainError explains why the keychain cannot be used, and what to do.
type keychainError struct {
	text string
	err  error
}

// Error implements error.
func (e *keychainError) Error() string { return "the keychain cannot be used: " + e.text }

// Unwrap returns the error of the system.
func (e *keychainError) Unwrap() error { return e.err }

var errKeychainLate = errors.New("no response within " + keychainTime.String())

// keychainErrors explains errors of keychains by a part of their texts. Other errors are shown unchanged.
var keychainErrors = []struct{ part, text string }{
	{errKeychainLate.Error(), errKeychainLate.Error() + ". It may be asking for its password in another window. Enter it there, and try again"},
	{"org.freedesktop.secrets", noKeyring},
	{"ServiceUnknown", noKeyring},
	{"dbus-launch", noSession},
	{"autolaunch", noSession},
	{"DBUS_SESSION_BUS_ADDRESS", noSession},
	{"dial unix", noSession},
	{"unlock", keychainLocked},
	{"locked", keychainLocked},
	{"dismissed", keychainLocked},
	{"-25308", keychainLocked}, // macOS: no interaction is allowed
	{"exit status 36", keychainLocked},
	{"Access is denied", "the system denies access. Check the permissions of this account"},
}

const (
	noKeyring      = "no password manager is running in this session. Start one, such as GNOME Keyring, KWallet or KeePassXC, and try again"
	noSession      = "this session has no desktop services (D-Bus). Start Throng from the desktop, or set the value in the environment"
	keychainLocked = "it is locked. Unlock it and try again"
)

// noKeychain explains why the keychain cannot be used.
func noKeychain(err error) error {
	text := err.Error()
	if errors.Is(err, keyring.ErrUnsupportedPlatform) {
		return &keychainError{runtime.GOOS + " has no keychain. Set the value in the environment", err}
	}
	for _, e := range keychainErrors {
		if strings.Contains(text, e.part) {
			return &keychainError{e.text, err}
		}
	}
	return &keychainError{text, err}
}
