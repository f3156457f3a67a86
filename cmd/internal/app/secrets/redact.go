package secrets

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/crash"
	"github.com/throng-sim/throng/engine/service/redact"
)

// used holds the spellings of all secrets that this process has looked up, longest first.
var used struct {
	sync.Mutex
	forms []string
}

// Use registers secrets for [Redact] before they are used.
func Use(secrets ...string) {
	used.Lock()
	defer used.Unlock()
	for _, secret := range secrets {
		if secret == "" || slices.Contains(used.forms, secret) {
			continue
		}
		crash.Conceal(secret)
		used.forms = append(used.forms, redact.Spellings(secret)...)
		slices.SortFunc(used.forms, func(a, b string) int { return len(b) - len(a) })
	}
}

// minRedacted is the minimum length in bytes of secrets that are removed: shorter ones may occur by chance.
const minRedacted = 4

// Redact removes the secrets that this process has looked up from a text, in all their spellings. It is meant for texts
// assembled elsewhere, such as those of panics: texts from services are already redacted.
func Redact(text string) string {
	used.Lock()
	defer used.Unlock()
	for _, form := range used.forms {
		if len(form) >= minRedacted {
			text = strings.ReplaceAll(text, form, "…")
		}
	}
	return text
}

// PasswordsIn returns the passwords in an address: in the user info and in the query.
func PasswordsIn(address string) (all []string) {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	password, _ := u.User.Password()
	return []string{password, u.Query().Get("password")}
}
