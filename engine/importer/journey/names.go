package journey

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// words splits a name into lower-case words in the singular: productIds and product_id are both product, id.
func words(name string) []string {
	var all []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			all = append(all, singular(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]) && unicode.IsUpper(runes[i-1])):
			end()
		}
		word = append(word, unicode.ToLower(r))
	}
	end()
	return all
}

// singular returns the singular of an English noun, by its ending.
func singular(word string) string {
	const shortest = 3
	switch {
	case len(word) <= shortest || strings.HasSuffix(word, "ss") || strings.HasSuffix(word, "us") || strings.HasSuffix(word, "is"):
		return word
	case strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses") || strings.HasSuffix(word, "xes") || strings.HasSuffix(word, "ches") || strings.HasSuffix(word, "shes"):
		return word[:len(word)-2]
	}
	return strings.TrimSuffix(word, "s")
}

var nameParts = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z]+[a-z0-9]*|[0-9]+`)

// snake writes a name as an identifier.
func snake(name string) string {
	var parts []string
	for _, part := range nameParts.FindAllString(name, -1) {
		parts = append(parts, strings.ToLower(part))
	}
	text := strings.Join(parts, "_")
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		text = "n" + text
	}
	return text
}

// reserved are words that cannot be the name of a step or a field after a dot.
var reserved = strings.Fields(`and as assert break class continue def del elif else except finally for from global if import in is lambda
	load nonlocal not or pass raise return try while with yield None True False`)

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// field returns how an expression reads a field.
func field(name string) string {
	if identifier.MatchString(name) && !slices.Contains(reserved, name) {
		return "." + name
	}
	return "[" + quote(name) + "]"
}

// quote writes a text as a literal of an expression.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u00` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// plain are segments at the beginning of paths that say nothing.
var plain = regexp.MustCompile(`^(?:api|rest|v\d+(?:\.\d+)?)$`)

// actions are last segments of paths that say what a request does.
var actions = strings.Fields(`login logout signin signout signup register search checkout select pay confirm cancel submit refresh token
	verify complete start stop add remove apply authenticate auth me health healthz status graphql`)

// signingIn are segments that the name of a login needs not repeat.
var signingIn = strings.Fields("auth oauth oauth2 account accounts user users session sessions")

// verbs are the beginnings of step names.
var verbs = map[string]string{
	http.MethodGet: "get", http.MethodHead: "head", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "update", http.MethodDelete: "delete",
}

// stepName names a step after its method and its path, whose dynamic segments are written {id}.
func stepName(method string, segments []string) string {
	const most = 2
	var fixed []string
	last := ""
	for i, s := range segments {
		if s == "{id}" {
			continue
		}
		name := snake(strings.TrimSuffix(strings.TrimSuffix(s, ".json"), ".php"))
		if name == "" || plain.MatchString(name) && i < len(segments)-1 {
			continue
		}
		fixed = append(fixed, name)
		last = name
	}
	fixed = fixed[max(0, len(fixed)-most):]
	switch {
	case len(fixed) == 0:
		return verbs[method] + "_home"
	case slices.Contains(actions, last) && method == http.MethodPost:
		if len(fixed) == most && !slices.Contains(signingIn, fixed[0]) {
			return last + "_" + strings.Join(words(fixed[0]), "_")
		}
		return last
	case slices.Contains(actions, last) && method == http.MethodGet && len(fixed) == most && last != "me" && last != "status":
		return last + "_" + fixed[0]
	}
	if len(fixed) == most && slices.Contains(segments, "{id}") {
		fixed[0] = strings.Join(words(fixed[0]), "_") // of one
	}
	verb := verbs[method]
	if len(segments) > 0 && segments[len(segments)-1] == "{id}" {
		fixed[len(fixed)-1] = strings.Join(words(fixed[len(fixed)-1]), "_")
	} else if method == http.MethodPost {
		fixed[len(fixed)-1] = strings.Join(words(fixed[len(fixed)-1]), "_")
	}
	return verb + "_" + strings.Join(fixed, "_")
}

// unique returns a name that taken does not have, and adds it there. taken counts how often a name was asked for.
func unique(name string, taken map[string]int) string {
	if slices.Contains(reserved, name) {
		name += "_"
	}
	if name == "" || !identifier.MatchString(name) {
		name = "step"
	}
	for {
		next := name
		if taken[name]++; taken[name] > 1 {
			next += "_" + strconv.Itoa(taken[name])
			if taken[next] > 0 {
				continue
			}
			taken[next] = 1
		}
		return next
	}
}

func shorten(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
