package fromopenapi

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/openapi"
)

// role is what an operation does for the journey.
type role uint8

const (
	other role = iota
	register
	login
	create
	list
	read
	update
	action
	remove
	logout
)

// operation is an operation of the document on its way to a step.
type operation struct {
	*openapi.Operation
	at       int // place in the document
	name     string
	group    string
	role     role
	resource string // singular noun of what it is about: basket
	answer   *openapi.Schema
	needs    []*need
	use      bool
	against  string                    // why it is not in the journey
	values   map[string]importer.Value // of its body that never differ in a session, by name
	depth    int                       // literal segments of the path
	body     *openapi.Media
}

// collect reads the operations of the document.
func (b *builder) collect() {
	for i, op := range b.document.Operations {
		if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, op.Method) {
			b.draft.Dropped = append(b.draft.Dropped, importer.Dropped{What: op.Key(), Reason: "steps cannot send " + op.Method, Count: 1})
			continue
		}
		o := &operation{Operation: op, at: i, use: true, values: map[string]importer.Value{}}
		literal := literals(op.Path)
		o.depth = len(literal)
		if o.depth > 0 {
			o.resource = singular(literal[o.depth-1])
		}
		o.group = op.Tag
		if o.group == "" && o.depth > 0 {
			o.group = literal[0]
		}
		o.answer = answerOf(op)
		o.body = preferred(op.Body)
		b.ops = append(b.ops, o)
		b.byKey[op.Key()] = o
	}
	for _, o := range b.ops {
		if endsInParameter(o.Path) {
			b.collections[collection(o.Path)] = true
		}
		b.described = b.described || len(o.Security) > 0
	}
	for _, o := range b.ops {
		o.role = b.roleOf(o)
	}
	b.name()
}

// answerOf returns the schema of the answer when all is well, or nil.
func answerOf(op *openapi.Operation) *openapi.Schema {
	any := false
	for _, r := range op.Responses {
		if !r.Good() {
			continue
		}
		any = true
		if m := openapi.JSON(r.Media); m != nil && m.Schema != nil {
			return m.Schema
		}
	}
	for _, r := range op.Responses {
		if m := openapi.JSON(r.Media); r.Status == "default" && !any && m != nil {
			return m.Schema
		}
	}
	return nil
}

// preferred returns the form in which a body is sent.
func preferred(body *openapi.Body) *openapi.Media {
	if body == nil || len(body.Media) == 0 {
		return nil
	}
	if m := openapi.JSON(body.Media); m != nil {
		return m
	}
	for _, kind := range []string{"application/x-www-form-urlencoded", "multipart/form-data", "text/"} {
		for i := range body.Media {
			if strings.HasPrefix(strings.ToLower(body.Media[i].Type), kind) {
				return &body.Media[i]
			}
		}
	}
	return &body.Media[0]
}

// literals returns the segments of a path without its parameters.
func literals(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" || strings.Contains(s, "{") })
}

// endsInParameter reports whether a path leads to one of many.
func endsInParameter(path string) bool { return strings.HasSuffix(strings.TrimSuffix(path, "/"), "}") }

// collection returns the path above the last parameter: /baskets of /baskets/{id}.
func collection(path string) string {
	path = strings.TrimSuffix(path, "/")
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

var (
	loginWords    = []string{"login", "signin", "token", "tokens", "session", "sessions", "authenticate", "auth", "logon", "oauth", "jwt"}
	registerWords = []string{"register", "registration", "signup", "enroll"}
	logoutWords   = []string{"logout", "signout", "logoff"}
	peopleWords   = []string{"user", "account", "customer", "member", "person", "profile", "client"}
)

func (b *builder) roleOf(o *operation) role {
	words := wordsOf(o)
	switch {
	case hasAny(words, logoutWords), o.Method == "DELETE" && hasAny(words, []string{"session", "sessions", "token"}) && !endsInParameter(o.Path):
		return logout
	case o.Method == "POST" && !hasAny(words, []string{"refresh", "revoke", "reset", "verify"}) && hasAny(words, loginWords) && tokenOf(o) != "":
		return login
	case o.Method == "POST" && hasAny(words, registerWords), b.makesUser(o):
		return register
	case slices.Contains([]string{"login", "signin"}, o.resource) && o.Method != "DELETE":
		return login
	}
	switch o.Method {
	case "DELETE":
		return remove
	case "PUT", "PATCH":
		return update
	case "POST":
		if !endsInParameter(o.Path) && b.creates(o) {
			return create
		}
		return action
	}
	if listOf(o.answer) {
		return list
	}
	return read
}

// makesUser reports whether an operation creates a user that can log in.
func (b *builder) makesUser(o *operation) bool {
	if o.Method != "POST" || endsInParameter(o.Path) || !slices.Contains(peopleWords, o.resource) || o.body == nil {
		return false
	}
	return property(o.body.Schema, passwordNames) != ""
}

// creates reports whether a POST makes something that has a path of its own, or an identifier.
func (b *builder) creates(o *operation) bool {
	for _, r := range o.Responses {
		if r.Status == "201" {
			return true
		}
	}
	return b.collections[strings.TrimSuffix(o.Path, "/")] || o.answer.Property("id") != nil
}

// listOf reports whether an answer is a list, or an object around one.
func listOf(s *openapi.Schema) bool {
	if s.Type() == "array" {
		return true
	}
	lists := 0
	for _, p := range s.Properties() {
		if p.Schema.Type() == "array" && p.Schema.Items().Type() == "object" {
			lists++
		}
	}
	return lists == 1 && s.Property("id") == nil
}

// wordsOf returns the words of the last segment of the path and of the operationId.
func wordsOf(o *operation) []string {
	text := o.ID
	if l := literals(o.Path); len(l) > 0 {
		text += " " + l[len(l)-1]
	}
	text = strings.NewReplacer("log_in", "login", "log-in", "login", "sign-in", "signin", "sign_in", "signin", "sign-up", "signup", "sign_up", "signup",
		"log-out", "logout", "log_out", "logout", "signIn", "signin", "signUp", "signup", "logOut", "logout", "logIn", "login").Replace(text)
	return strings.Split(importer.Identifier(text), "_")
}

func hasAny(words, wanted []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(wanted, w) })
}

// dangerous words name operations that a visitor does not call.
var dangerous = []string{
	"admin", "administration", "shutdown", "reset", "purge", "flush", "wipe", "truncate", "terminate", "restart", "reboot", "backup", "restore", "migrate",
	"migration", "debug", "actuator", "internal", "password", "passwd", "forgot", "deactivate", "disable", "impersonate", "webhook", "webhooks", "callback",
	"callbacks", "otp", "mfa", "2fa", "totp", "kill", "drop", "uninstall", "refund", "refunds", "revoke", "unsubscribe", "ban", "suspend",
}

// exclude takes operations out of the journey that are dangerous or cannot work.
func (b *builder) exclude() {
	for _, o := range b.ops {
		why := b.reasonAgainst(o)
		if why == "" {
			continue
		}
		o.use, o.against = false, why
	}
	b.withoutSources()
	used := 0
	for _, o := range b.ops {
		if !o.use {
			continue
		}
		if used++; used > mostUsed {
			o.use, o.against = false, "Not in the journey: it has many steps already."
		}
	}
	b.withoutSources()
}

// withoutSources takes out what needs answers of operations that are not in the journey.
func (b *builder) withoutSources() {
	for again := true; again; {
		again = false
		for _, o := range b.ops {
			for _, n := range o.needs {
				if o.use && n.required && (n.from == nil || !n.from.of.use) {
					o.use, again = false, true
					o.against = "Not in the journey: " + n.missing()
				}
			}
		}
	}
}

func (b *builder) reasonAgainst(o *operation) string {
	var words []string
	for _, l := range literals(o.Path) {
		words = append(words, strings.Split(importer.Identifier(l), "_")...)
	}
	words = append(words, strings.Split(importer.Identifier(o.ID), "_")...)
	i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(dangerous, w) })
	switch {
	case o == b.signs.request:
		return "Not a step of the journey: agents log in with it before their first request."
	case o.role == login && b.signs.kind == importer.Login:
		return "Not in the journey: agents log in with " + b.signs.what + "."
	case i >= 0 && o.role != login && o.role != register:
		return "Not in the journey: it may do harm (" + words[i] + ")."
	case o.role == register && b.options.People != "":
		return "Not in the journey: the agents of " + b.options.People + " have accounts."
	case o.role == logout && b.signs.kind != importer.Login && !b.signs.cookies:
		return "Not in the journey: it would end the session of all agents."
	case o.Deprecated:
		return "Not in the journey: it is deprecated."
	case o.body != nil && !written(o.body.Type):
		return "Not in the journey: a body of type " + o.body.Type + " must be written by hand."
	case o.role == remove || o.role == update && o.Method != "POST":
		return b.notOwned(o)
	}
	return ""
}

// written reports whether a body of a type can be generated.
func written(kind string) bool {
	kind = strings.ToLower(kind)
	return openapi.IsJSON(kind) || kind == "*/*" || strings.HasPrefix(kind, "text/plain") || strings.HasPrefix(kind, "application/x-www-form-urlencoded") ||
		strings.HasPrefix(kind, "multipart/form-data")
}

// notOwned says why something may not be changed or deleted: because the journey did not create it.
func (b *builder) notOwned(o *operation) string {
	what := "Not in the journey: it would change what the journey did not create."
	if o.role == remove {
		what = "Not in the journey: it would delete what the journey did not create."
	}
	owned := false
	for _, n := range o.needs {
		switch {
		case n.in != "path":
		case n.from == nil:
			return "Not in the journey: " + n.missing()
		default:
			if !n.from.owned() {
				return what
			}
			owned = true
		}
	}
	if owned {
		return ""
	}
	whole := strings.TrimSuffix(o.Path, "/")
	if slices.ContainsFunc(b.ops, func(other *operation) bool {
		return other.Method == o.Method && other.Path != o.Path && collection(other.Path) == whole && endsInParameter(other.Path)
	}) {
		return what // it is about all members of the collection: another operation is about one
	}
	if o.role == update && o.body != nil && len(o.needs) > 0 && slices.ContainsFunc(o.needs, func(n *need) bool { return n.from.owned() && n.name == "id" }) {
		return "" // the identifier is in the body
	}
	if o.role == remove && hasAny(literals(o.Path), []string{"me", "account", "profile", "user", "users"}) {
		return "Not in the journey: it deletes the account."
	}
	if b.collections[whole] {
		return what // it is about all members of the collection
	}
	made := slices.ContainsFunc(b.ops, func(other *operation) bool {
		return other.Method == "POST" && (other.role == create || other.role == action || other.role == register) &&
			(other.Path == o.Path || strings.HasPrefix(other.Path, o.Path+"/")) && other.use
	})
	if made || o.role == update && slices.Contains(literals(o.Path), "me") {
		return ""
	}
	return what
}
