package fromopenapi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/throng-sim/throng/engine/importer"
)

var notWord = regexp.MustCompile(`\W`)

// keywords are words that expressions cannot use as names.
var keywords = strings.Fields("and break continue def elif else for if in lambda load not or pass return while as assert async await class del except finally from global import is nonlocal raise try with yield None True False")

func isKeyword(name string) bool {
	return slices.Contains(keywords, name)
}

// name gives every operation a name of its own.
func (b *builder) name() {
	taken := map[string]bool{}
	for _, o := range b.ops {
		base := stepName(o)
		name := base
		for n := 2; taken[name]; n++ {
			name = base + "_" + strconv.Itoa(n)
		}
		taken[name] = true
		o.name = name
	}
}

// stepName derives a name from the operationId, without what FastAPI appends, or from the method and path.
func stepName(o *operation) string {
	id := o.ID
	if suffix := notWord.ReplaceAllString(o.Path, "_") + "_" + strings.ToLower(o.Method); len(id) > len(suffix) {
		id = strings.TrimSuffix(id, suffix)
	}
	name := withoutController(importer.Identifier(id))
	if name == "" {
		name = importer.Identifier(verb(o) + " " + object(o))
	}
	switch {
	case name == "":
		return "step"
	case isKeyword(name):
		return name + "_step"
	}
	return name
}

// withoutController drops a word that frameworks put into every operationId: cats_find_all of CatsController_findAll.
func withoutController(name string) string {
	words := strings.Split(name, "_")
	if i := slices.Index(words, "controller"); i > 0 && i < len(words)-1 {
		words = slices.Delete(words, i, i+1)
	}
	return strings.Join(words, "_")
}

// verb says what an operation does.
func verb(o *operation) string {
	switch o.role {
	case create:
		return "create"
	case list:
		return "list"
	case update:
		return "update"
	case remove:
		return "delete"
	case read:
		return "get"
	case other, register, login, action, logout:
	}
	return ""
}

// object says what an operation does it to.
func object(o *operation) string {
	l := literals(o.Path)
	if len(l) == 0 {
		return "root"
	}
	last := l[len(l)-1]
	switch {
	case o.role == action && len(l) > 1:
		return last + " " + singular(l[len(l)-2])
	case o.role == list || o.role == action || o.role == login || o.role == logout || o.role == register:
		return last
	}
	if len(l) > 1 && !strings.HasPrefix(l[len(l)-2], "api") && len(last) < 6 {
		return singular(l[len(l)-2]) + " " + singular(last)
	}
	return singular(last)
}

// plain is a name without case and separators: basketid of basket_id, basketId and Basket-ID.
func plain(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return r
	}, name))
}

// singular returns the singular of an English noun, without case and separators.
func singular(noun string) string {
	noun = plain(noun)
	switch {
	case strings.HasSuffix(noun, "ies") && len(noun) > 4:
		return noun[:len(noun)-3] + "y"
	case strings.HasSuffix(noun, "sses"), strings.HasSuffix(noun, "xes"), strings.HasSuffix(noun, "ches"), strings.HasSuffix(noun, "shes"), strings.HasSuffix(noun, "uses"):
		return noun[:len(noun)-2]
	case strings.HasSuffix(noun, "people"):
		return strings.TrimSuffix(noun, "people") + "person"
	case strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss") && !strings.HasSuffix(noun, "us") && !strings.HasSuffix(noun, "is") && len(noun) > 2:
		return noun[:len(noun)-1]
	}
	return noun
}

// affixes are parts of the names of schemas that do not belong to the thing.
var affixes = []string{"response", "result", "schema", "model", "public", "details", "detail", "created", "output", "read", "view", "base", "info", "item", "data", "dto", "out", "create", "update", "request", "input", "in"}

// thing returns what a schema describes: basket of BasketOut.
func thing(schema string) string {
	if i := strings.LastIndexAny(schema, "./"); i >= 0 {
		schema = schema[i+1:]
	}
	words := strings.Split(importer.Identifier(schema), "_")
	for len(words) > 1 {
		last := words[len(words)-1]
		found := false
		for _, a := range affixes {
			found = found || a == last
		}
		if !found {
			break
		}
		words = words[:len(words)-1]
	}
	return singular(strings.Join(words, ""))
}
