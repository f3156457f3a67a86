package secrets

import (
	"errors"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

// TestKeychainErrors checks that errors of D-Bus are replaced by an explanation with advice.
func TestKeychainErrors(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{`exec: "dbus-launch": executable file not found in $PATH`, "Start Throng from the desktop"},
		{"dial unix /run/user/1000/bus: connect: no such file or directory", "Start Throng from the desktop"},
		{"dbus: couldn't determine address of session bus: DBUS_SESSION_BUS_ADDRESS is empty", "Start Throng from the desktop"},
		{"The name org.freedesktop.secrets was not provided by any .service files", "such as GNOME Keyring"},
		{"failed to unlock correct collection '/org/freedesktop/secrets/aliases/default'", "Unlock it"},
		{"prompt dismissed", "Unlock it"},
		{errKeychainLate.Error(), "another window"},
		{keyring.ErrUnsupportedPlatform.Error(), "unsupported"},
		{"something new", "something new"},
	} {
		raw := errors.New(c.raw)
		err := noKeychain(raw)
		if text := err.Error(); !strings.HasPrefix(text, "the keychain cannot be used: ") || !strings.Contains(text, c.want) || c.want != c.raw && strings.Contains(text, c.raw) && len(c.raw) > 30 {
			t.Errorf("for %q, got %q, want %q in it", c.raw, text, c.want)
		}
		if !errors.Is(err, raw) {
			t.Errorf("%v does not wrap the error of the system", err)
		}
	}
}
