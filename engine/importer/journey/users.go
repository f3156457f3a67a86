package journey

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
)

var (
	userName      = regexp.MustCompile(`(?i)^(?:user|user_?name|user_?id|login|e?_?mail|e-?mail_?address|identifier|account|phone|phone_?number)$`)
	signUpPath    = regexp.MustCompile(`(?i)(?:^|/)(?:sign-?up|register|registration|registrations|create-?account)(?:/|$)`)
	usersPath     = regexp.MustCompile(`(?i)/(?:users|accounts|customers|members)/?$`)
	madeName      = regexp.MustCompile(`(?i)session|request|correlation|transaction|idempot|nonce|message|event|client|device|visit|trace|conversation|cart_?token|operation`)
	loginPassword = regexp.MustCompile(`(?i)passw|^pwd$|^pass$|^pin$`)
	ownID         = regexp.MustCompile(`(?i)^(?:id|uuid|guid)$`)
)

// lastPart returns the name of a field without what is around it: email of user[email] and of user.email.
func lastPart(name string) string {
	name = strings.TrimRight(name, "]")
	return name[strings.LastIndexAny(name, "[.")+1:]
}

// recognizer finds values that stand for a user or a session.
type recognizer struct{ *builder }

// recognizeUsers finds who signs in or up. The user of a login becomes an attribute of the agents. A user who signs up must be new in
// each session, and stays that in all later requests.
func (b recognizer) recognizeUsers() {
	for _, c := range b.visits[0].calls {
		if c.Method != http.MethodPost && c.Method != http.MethodPut || !slices.ContainsFunc(c.slots, isLoginPassword) {
			continue
		}
		path := c.url.Path
		new := signUpPath.MatchString(path) || usersPath.MatchString(path)
		for _, s := range c.slots {
			name := lastPart(s.name)
			if s.place != inBody || s.done || !userName.MatchString(name) || variable.MatchString(s.text) {
				continue
			}
			mail := emailText.MatchString(s.text)
			value, known := b.users[s.text]
			switch {
			case known:
			case new && mail:
				value = importer.Value{Expr: uniqueEmail, Note: "somebody new in each session"}
			case new:
				value = importer.Value{Expr: uniqueUser, Note: "somebody new in each session"}
			default:
				value = b.attribute(mail, s.text)
			}
			b.users[s.text] = value
			*s.value, s.done = value, true
		}
	}
}

func isLoginPassword(s *slot) bool {
	return s.place == inBody && loginPassword.MatchString(lastPart(s.name))
}

// attribute makes an attribute of the agents for who signed in.
func (b recognizer) attribute(mail bool, text string) importer.Value {
	base := "user"
	if mail {
		base = "email"
	}
	name := base
	for i := 2; slices.ContainsFunc(b.draft.Data, func(d importer.Data) bool { return d.Name == name }); i++ {
		name = base + "_" + itoa(i)
	}
	b.draft.Data = append(b.draft.Data, importer.Data{
		Name: name, Attribute: true, Value: importer.Value{Literal: text},
		Note: "All agents sign in as the user of the recording, and share what that user has. To give each its own, import with --users FILE: a CSV with the column " + name + ".",
	})
	return importer.Value{Expr: "agent." + name}
}

// recognizeUUIDs finds UUIDs that the client made and sent more than once: all of a session are one.
func (b recognizer) recognizeUUIDs() {
	v := b.visits[0]
	counts, first := make(map[string]int), make(map[string]*slot)
	var order []string
	for _, c := range v.calls {
		seen := make(map[string]bool)
		for _, s := range c.slots {
			if !uuidText.MatchString(s.text) || s.place == inPath || seen[s.text] {
				continue
			}
			seen[s.text] = true
			if counts[s.text]++; counts[s.text] == 1 {
				first[s.text] = s
				order = append(order, s.text)
				if b.best(v, c, s, s.text) != nil || !madeName.MatchString(s.name) {
					counts[s.text] = -len(v.calls) * 2
				}
				if twin := b.twin(c, s); twin != nil && twin.text == s.text {
					counts[s.text] = -len(v.calls) * 2
				}
			}
		}
	}
	exprs := []string{"session.uuid", "session.seed_uuid"}
	for _, text := range order {
		if counts[text] > 1 && len(exprs) > 0 {
			b.uuids[text] = exprs[0]
			exprs = exprs[1:]
		}
	}
}
