package crash

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// leastSecret is the minimum length of a secret that is removed: shorter texts occur in ordinary words.
const leastSecret = 4

// confided holds the secrets that this process knows.
var confided struct {
	sync.Mutex
	all map[string]bool
}

// Conceal removes a secret from the text of every panic that this process catches.
func Conceal(secret string) {
	if len(secret) < leastSecret {
		return
	}
	confided.Lock()
	defer confided.Unlock()
	if confided.all == nil {
		confided.all = map[string]bool{}
	}
	confided.all[secret] = true
}

// userinfo matches a user with a password in an address.
var userinfo = regexp.MustCompile(`://[^/@\s]*:[^/@\s]*@`)

// patterns match secrets by their form. They are needed for reports of processes that have ended.
var (
	credential = regexp.MustCompile(`(?i)\b(bearer|basic)(\s+)[a-z0-9._~+/=-]{8,}`)
	assigned   = regexp.MustCompile(`(?i)\b((?:[a-z0-9_-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key))["']?\s*[=:]\s*["']?)[^\s"'&,;]{4,}`)
	apiKey     = regexp.MustCompile(`\b(sk|pk|xox[a-z]|ghp|AKIA)[-_A-Za-z0-9]{16,}`)
)

// private returns a text that can be shown to others: without anything that looks like a secret, and without the path of the
// home folder.
func private(text string) string {
	text = concealed(text)
	text = credential.ReplaceAllString(text, "$1$2"+hidden)
	text = assigned.ReplaceAllString(text, "${1}"+hidden)
	text = apiKey.ReplaceAllString(text, hidden)
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		text = strings.ReplaceAll(text, home, "~")
	}
	return text
}

const hidden = "(concealed)"

func concealed(text string) string {
	confided.Lock()
	defer confided.Unlock()
	for secret := range confided.all {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return userinfo.ReplaceAllString(text, "://"+hidden+"@")
}
