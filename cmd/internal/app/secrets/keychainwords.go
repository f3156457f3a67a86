package secrets

import (
	"errors"
	"runtime"
	"strings"

	"github.com/zalando/go-keyring"
)

// keychainError says in words why a keychain cannot be used, and what can be done.
type keychainError struct {
	words string
	err   error
}

// Error implements error.
func (e *keychainError) Error() string { return "the keychain cannot be used: " + e.words }

// Unwrap returns what the system says.
func (e *keychainError) Unwrap() error { return e.err }

var errKeychainLate = errors.New("no answer within " + keychainTime.String())

// keychainWords tells by what systems say why there is no keychain. What is not known here is told as it is.
var keychainWords = []struct{ part, words string }{
	{errKeychainLate.Error(), errKeychainLate.Error() + "; it may be asking for its password in another window. Answer it, and try again"},
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
	{"Access is denied", "the system does not let this program at it. Look at the rights of this account"},
}

const (
	noKeyring      = "no program that keeps passwords runs in this session. Start one, such as GNOME Keyring, KWallet or KeePassXC, and try again"
	noSession      = "this session has no desktop services (D-Bus), through which passwords are kept. Start Throng from the desktop, or set the value in the environment"
	keychainLocked = "it is locked. Unlock it, and try again"
)

// noKeychain puts into words why the keychain cannot be used.
func noKeychain(err error) error {
	text := err.Error()
	if errors.Is(err, keyring.ErrUnsupportedPlatform) {
		return &keychainError{"there is none on " + runtime.GOOS + ". Set the value in the environment", err}
	}
	for _, w := range keychainWords {
		if strings.Contains(text, w.part) {
			return &keychainError{w.words, err}
		}
	}
	return &keychainError{text, err}
}
