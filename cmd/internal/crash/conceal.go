package crash

import (
	"regexp"
	"strings"
	"sync"
)

// leastSecret is the shortest text that is taken out as a secret: a shorter one is in every other word.
const leastSecret = 4

// confided are the secrets that this process was told.
var confided struct {
	sync.Mutex
	all map[string]bool
}

// Conceal takes a secret out of every text that this process keeps of a panic it catches.
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

// userinfo is a user with a password in an address.
var userinfo = regexp.MustCompile(`://[^/@\s]*:[^/@\s]*@`)

const hidden = "(concealed)"

func concealed(text string) string {
	confided.Lock()
	defer confided.Unlock()
	for secret := range confided.all {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return userinfo.ReplaceAllString(text, "://"+hidden+"@")
}
