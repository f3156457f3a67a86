package journey

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
)

// resolve decides what becomes of a value of a request.
func (b *builder) resolve(c *call, s *slot) {
	v := b.visits[0]
	if s.done {
		return
	}
	s.done = true
	switch {
	case v.recording.Templates && variable.MatchString(s.text):
		b.template(c, s)
		return
	case isPassword(s) || isCard(s.text):
		b.secret(c, s)
		return
	}
	if user, ok := b.users[s.text]; ok && weigh(s.text) != trivial {
		*s.value = user
		return
	}
	if expr := b.uuids[s.text]; expr != "" {
		b.made(c, s, expr)
		return
	}
	if twin := b.twin(c, s); twin != nil {
		if twin.text == s.text && !isTokenName(s.name) && !isSecretName(s.name) && !isRandom(s.text) {
			b.equal(c, s)
			return
		}
		if twin.text != s.text {
			b.different(c, s, twin)
			return
		}
	}
	if !b.typed[s.text] {
		if from := b.best(v, c, s, s.text); from != nil && plausible(s, from, v, s.text) {
			b.take(c, s, from)
			return
		}
		if b.parts(c, s) || b.searched(c, s) {
			return
		}
	}
	b.literal(c, s)
}

// searched takes a value from the text of an earlier answer.
func (b *builder) searched(c *call, s *slot) bool {
	from := b.inTexts(c, s.text)
	if from == nil {
		return false
	}
	*s.value = b.from(c, s, from)
	return true
}

// inTexts looks for a value in the texts of earlier answers, the latest first. It is the last resort: only for values that are not
// equal by accident.
func (b *builder) inTexts(c *call, text string) *source {
	const most, shortest = 200, 5 // answers; pages without end are not worth the time
	v := b.visits[0]
	if weigh(text) != specific || len(text) > longestLiteral || len(text) < shortest {
		return nil
	}
	waiting := false
	for i := c.index - 1; i >= b.missed[text] && i >= c.index-most; i-- {
		if !v.before(i, c) {
			waiting = true // a later request may take it from there
			continue
		}
		if from, ok := inText(i, &v.calls[i].answer().Response, text); ok {
			return &from
		}
	}
	if !waiting {
		b.missed[text] = c.index
	}
	return nil
}

// take takes a value from its place in an answer.
func (b *builder) take(c *call, s *slot, from *source) {
	value := b.from(c, s, from)
	*s.value = value
	if from.lists == 1 && from.wrap == "" && from.origin == fromJSON {
		b.choices = append(b.choices, &choice{value: s.value, call: c, slot: s, from: *from, to: *value.From})
	}
}

// equal keeps a value that is the same in two recordings.
func (b *builder) equal(c *call, s *slot) {
	b.typed[s.text] = true
	v := b.visits[0]
	if from := b.best(v, c, s, s.text); from != nil && plausible(s, from, v, s.text) && from.origin == fromJSON && s.place != inPath {
		s.value.Note = "the same in both recordings; also in the answer of " + v.calls[from.call].step.Name
	}
}

// different decides about a value that differs between two recordings.
func (b *builder) different(c *call, s *slot, twin *slot) {
	v, w := b.visits[0], b.visits[1]
	var found *source
	var score [4]int
	for i := range v.found.places[s.text] {
		from := &v.found.places[s.text][i]
		if !v.before(from.call, c) || !w.has(twin, w.calls[v.twin[c.index]], from, v.twin[from.call]) {
			continue
		}
		next := [4]int{min(agreement(s, from, v), 2), -int(from.origin), -min(from.lists, 1), from.call}
		if found == nil || slices.Compare(next[:], score[:]) > 0 {
			found, score = from, next
		}
	}
	switch {
	case found != nil:
		b.take(c, s, found)
	case b.parts(c, s):
	case b.searched(c, s):
	case b.drawn(c, s, true):
	case isSecretName(s.name) || isTokenName(s.name) || isRandom(s.text):
		b.open(c, s, nil)
	default:
		b.open(c, s, []string{"pick([" + shown(s) + ", " + shown(twin) + "])", "a parameter"})
	}
}

// has reports whether the answer at the same place of this visit has the value of a request: the place may be another item of the
// same list.
func (v *visit) has(s *slot, c *call, from *source, at int) bool {
	if at < 0 {
		return false
	}
	for _, place := range v.found.places[s.text] {
		if place.call == at && v.before(at, c) && place.origin == from.origin && place.wrap == from.wrap &&
			(place.path == from.path || from.lists == 1 && place.lists == 1 && place.list == from.list && place.rest == from.rest) {
			return true
		}
	}
	return false
}

// shown writes the value of a slot as a literal of an expression.
func shown(s *slot) string {
	if _, ok := s.value.Literal.(string); ok || s.value.Literal == nil {
		return quote(s.text)
	}
	return s.text
}

// open marks a value that a person must decide about. Tokens are not repeated.
func (b *builder) open(c *call, s *slot, candidates []string) {
	v := b.visits[0]
	open := &importer.Open{Name: s.name, Candidates: candidates}
	if !isSecretName(s.name) && !isTokenName(s.name) && !isRandom(s.text) {
		open.Example = s.value.Literal
		if s.place == inPath {
			open.Example = s.text
		}
	}
	for _, from := range v.found.places[s.text] {
		const most = 3
		if v.before(from.call, c) && len(open.Candidates) < most+len(candidates) && from.wrap == "" {
			open.Candidates = append(open.Candidates, "steps."+v.calls[from.call].step.Name+from.path)
		}
	}
	*s.value = importer.Value{Open: open}
}

// drawn replaces a value that the client makes up: a UUID, a time, an email address with a number.
// A UUID of a single recording is taken for the client's own only if its name says so.
func (b *builder) drawn(c *call, s *slot, differs bool) bool {
	expr := timeOf(s.text, c.Start)
	switch {
	case expr != "":
	case uuidText.MatchString(s.text) && s.place != inPath && (differs || madeName.MatchString(s.name) || ownID.MatchString(s.name) && s.at == "json."+s.name):
		expr = "uuid()"
	case differs && emailText.MatchString(s.text) && strings.ContainsAny(s.text, "0123456789"):
		expr = uniqueEmail
	default:
		return false
	}
	b.made(c, s, expr)
	return true
}

const (
	uniqueEmail = `"user-" + session.uuid + "@example.com"`
	uniqueUser  = `"user" + session.uuid.replace("-", "")[:16]`
)

func (b *builder) made(_ *call, s *slot, expr string) {
	if _, text := s.value.Literal.(string); text && strings.HasPrefix(expr, "now.unix") && s.place == inBody {
		expr = "str(" + expr + ")"
	}
	*s.value = importer.Value{Expr: expr}
}

const longestLiteral = 2048 // longer random texts are data, not credentials

// literal decides about a value that no answer had.
func (b *builder) literal(c *call, s *slot) {
	switch {
	case b.typed[s.text] && !isSecretName(s.name) && !isRandom(s.text):
	case b.drawn(c, s, false):
		return
	case weigh(s.text) != trivial && (isSecretName(s.name) && !isTokenName(s.name) || s.place == inHeader && isSecretHeader(s.name) && !isTokenName(s.name) || s.place == inQuery && signed.MatchString(s.name)), isJWT(s.text):
		b.secret(c, s)
		return
	case weigh(s.text) != trivial && isTokenName(s.name):
		b.open(c, s, []string{"a token of an earlier answer"})
		c.note("The recording does not show where " + shorten(s.name) + " comes from.")
		return
	case isRandom(s.text) && len(s.text) <= longestLiteral && !hashName.MatchString(s.name) && !strings.HasPrefix(s.text, "data:"):
		b.open(c, s, []string{"a secret, if it is a credential"})
		c.note("A long random text without a known source was left out.")
		return
	case b.hideIn(c, s):
		return
	}
	b.typed[s.text] = true
}

// secret replaces a value by a secret.
func (b *builder) secret(c *call, s *slot) {
	*s.value = importer.Value{Secret: b.vault.name(b.draft.Services[c.service].Name, s.name, s.text, s.name+" of "+c.step.Name)}
	if text, ok := s.value.Literal.(string); ok {
		s.text = text
	}
}

// tokens returns the words of a text that consists of several.
func tokens(text string) []string {
	const longest = 64 << 10
	if len(text) > longest {
		return nil
	}
	all := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;:/?&=|\"'{}[]()<>\\\n\r\t", r) })
	if len(all) == 1 && all[0] == text {
		return nil
	}
	return all
}

// parts takes words of a text from answers. It reports whether there was one.
func (b *builder) parts(c *call, s *slot) bool {
	v := b.visits[0]
	var parts []importer.Value
	rest := s.text
	found := false
	for _, t := range tokens(s.text) {
		if weigh(t) != specific || b.typed[t] || s.place == inHeader && s.name == "Referer" {
			continue
		}
		before, after, ok := strings.Cut(rest, t)
		from := b.best(v, c, &slot{place: s.place, name: s.name, at: s.at}, t)
		if from == nil {
			from = b.inTexts(c, t)
		}
		if !ok || from == nil {
			continue
		}
		word := &slot{place: s.place, name: s.name, text: t, value: &importer.Value{}}
		if before != "" {
			parts = append(parts, importer.Value{Literal: s.escape(before)})
		}
		parts = append(parts, b.from(c, word, from))
		rest, found = after, true
	}
	if !found {
		return false
	}
	if rest != "" {
		parts = append(parts, importer.Value{Literal: s.escape(rest)})
	}
	*s.value = importer.Value{Parts: parts}
	return true
}

// escape escapes the literal part of a path.
func (s *slot) escape(text string) string {
	if s.place == inPath {
		return url.PathEscape(text)
	}
	return text
}

// secretIn matches credentials inside of a text: fields of XML, of JSON in a text, of a query in a URL. The first group is a name.
var secretIn = regexp.MustCompile(`(?i)([\w:.-]*(?:passw|secret|token|api[_-]?key|credential|cvv|cvc)[\w:.-]*)(\\*["']?\s*[>:=]\s*\\*["']?)([^"'<>&,;\s\\$]{4,})|(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)`)

// hideIn replaces credentials inside of a text by secrets.
func (b *builder) hideIn(c *call, s *slot) bool {
	var parts []importer.Value
	end := 0
	for _, m := range secretIn.FindAllStringSubmatchIndex(s.text, -1) {
		name, from, to := "token", m[8], m[9]
		if from < 0 {
			name, from, to = s.text[m[2]:m[3]], m[6], m[7]
		}
		if weigh(s.text[from:to]) == trivial {
			continue
		}
		parts = append(parts, importer.Value{Literal: s.escape(s.text[end:from])},
			importer.Value{Secret: b.vault.name(b.draft.Services[c.service].Name, name, s.text[from:to], name+" in "+c.step.Name)})
		end = to
	}
	if parts == nil {
		return false
	}
	if end < len(s.text) {
		parts = append(parts, importer.Value{Literal: s.escape(s.text[end:])})
	}
	*s.value = importer.Value{Parts: parts}
	return true
}

// postmanDraws are the variables that Postman fills in by itself.
var postmanDraws = map[string]string{
	"$guid": "uuid()", "$randomUUID": "uuid()", "$timestamp": "now.unix", "$isoTimestamp": "now.iso", "$randomInt": "int(uniform(0, 1000))",
	"$randomEmail": uniqueEmail, "$randomUserName": uniqueUser, "$randomBoolean": "chance(0.5)",
}

// template fills in the variables of a text.
func (b *builder) template(c *call, s *slot) {
	var parts []importer.Value
	end := 0
	for _, m := range variable.FindAllStringSubmatchIndex(s.text, -1) {
		if m[0] > end {
			parts = append(parts, importer.Value{Literal: s.escape(s.text[end:m[0]])})
		}
		parts = append(parts, b.variable(c, s, strings.TrimSpace(s.text[m[2]:m[3]])))
		end = m[1]
	}
	if end < len(s.text) {
		parts = append(parts, importer.Value{Literal: s.escape(s.text[end:])})
	}
	if len(parts) == 1 {
		*s.value = parts[0]
		return
	}
	*s.value = importer.Value{Parts: parts}
}

// variable returns the value of a variable of the source.
func (b *builder) variable(c *call, s *slot, name string) importer.Value {
	if expr := postmanDraws[name]; expr != "" {
		return importer.Value{Expr: expr}
	}
	if from := b.set(c, name); from != nil {
		return importer.Value{From: from}
	}
	if isSecretName(name) || isPasswordName(name) || isPassword(s) {
		return importer.Value{Secret: b.vault.named(name, name+" of "+c.step.Name)}
	}
	return importer.Value{Open: &importer.Open{Name: name, Candidates: []string{"a parameter"}}, Note: fmt.Sprintf("the variable %s", shorten(name))}
}

// set returns where a script takes a variable from, in an answer before a call.
func (b *builder) set(c *call, name string) *importer.From {
	v := b.visits[0]
	for _, set := range slices.Backward(v.recording.Sets) {
		if set.Variable != name {
			continue
		}
		for _, other := range v.calls {
			if other.at == set.Exchange && other.index < c.index {
				path := set.Path
				if first := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' }); path == "" || path[0] == '[' || contains([]string{"status", "headers", "body"}, first[0]) {
					path = ".body" + path
				}
				return &importer.From{Step: other.step.ID, Path: path}
			}
		}
	}
	return nil
}
