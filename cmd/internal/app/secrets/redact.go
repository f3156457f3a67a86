package secrets

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/crash"
	"github.com/throng-sim/throng/engine/service/redact"
)

// used are the forms of all secrets that this process has looked up, the longest first.
var used struct {
	sync.Mutex
	forms []string
}

// Use notes secrets that are about to be used, so that [Redact] knows them.
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

// leastRedacted is how long a secret is, in bytes, that is taken out of any text: a shorter one may be there by chance.
const leastRedacted = 4

// Redact takes the secrets that this process has looked up out of a text, in all their spellings. It is for what was put
// together elsewhere, such as the text of a panic: what comes from a service is clean already.
func Redact(text string) string {
	used.Lock()
	defer used.Unlock()
	for _, form := range used.forms {
		if len(form) >= leastRedacted {
			text = strings.ReplaceAll(text, form, "…")
		}
	}
	return text
}

// PasswordsIn are those of an address, in both places where one may stand.
func PasswordsIn(address string) (all []string) {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	password, _ := u.User.Password()
	return []string{password, u.Query().Get("password")}
}
