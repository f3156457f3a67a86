package fromopenapi

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/engine/openapi"
)

// values makes the values of one operation.
type values struct {
	*builder
	of      *operation // nil for a request that is not in the document
	signing bool       // it is a login: credentials are those of the agents
	files   []importer.Upload
}

func expression(format string, args ...any) importer.Value {
	return importer.Value{Expr: fmt.Sprintf(format, args...)}
}

const (
	uniqueEmail = `session.uuid + "@example.com"`
	uniqueName  = `"user-" + session.uuid[:13]`
	ownPassword = `"Pw1-" + session.uuid`
)

// user returns the name, or the email address, of the agent's account.
func (v *values) user(name string) importer.Value {
	email := slices.Contains(emailNames, plain(name))
	if email {
		if c := v.column(append(slices.Clone(emailNames), "username", "user", "login")); c != "" {
			return expression("agent.%s", c)
		}
	}
	if c := v.column(userNames); c != "" {
		return expression("agent.%s", c)
	}
	switch {
	case !v.signs.self && v.signing:
		return importer.Value{Secret: v.secret("USER", "user name at "+v.host())}
	case email || v.signing && v.registersByEmail():
		return importer.Value{Expr: v.signs.email}
	}
	return importer.Value{Expr: uniqueName}
}

// registersByEmail reports whether accounts have an email address and no other name: it is the user name of a login then.
func (v *values) registersByEmail() bool {
	o := v.first(register)
	return o != nil && o.body != nil && property(o.body.Schema, []string{"username", "user", "login"}) == "" && property(o.body.Schema, emailNames) != ""
}

// password returns the password of the agent's account.
func (v *values) password() importer.Value {
	if c := v.column(passwordNames); c != "" {
		return expression("agent.%s", c)
	}
	if v.signs.self || !v.signing {
		return importer.Value{Expr: v.signs.password}
	}
	return importer.Value{Secret: v.secret("PASSWORD", "password at "+v.host())}
}

// stable returns the value of a property if it is the same at every place of a session.
func (b *builder) stable(p openapi.Property) (importer.Value, bool) {
	v := &values{builder: b}
	name := plain(p.Name)
	if p.Schema.Type() != "string" || len(p.Schema.Enum()) > 0 {
		return importer.Value{}, false
	}
	if slices.Contains(emailNames, name) || slices.Contains([]string{"username", "login"}, name) {
		of := v.scalar(p.Schema, p.Name, nil)
		return of, of.Expr != "" && !strings.Contains(of.Expr, "(")
	}
	return importer.Value{}, false
}

const deepest = 6

// make makes a value of a schema. at is the place in the body, example is the example of the document.
func (v *values) make(s *openapi.Schema, name, at string, example any, depth int) importer.Value {
	if v.of != nil {
		if n := v.of.needAt("body", at); n != nil {
			return v.needed(n, s, name, example)
		}
	}
	switch kind := s.Type(); {
	case depth > deepest:
		return importer.Value{}
	case kind == "object":
		return v.object(s, at, example, depth)
	case kind == "array":
		return v.array(s, name, at, example, depth)
	}
	return v.scalar(s, name, example)
}

// needed makes a value that an operation of the journey returns.
func (v *values) needed(n *need, s *openapi.Schema, name string, example any) importer.Value {
	of := v.scalar(s, name, example)
	if s.Type() == "array" {
		of = v.scalar(s.Items(), name, nil)
	}
	var single importer.Value
	if n.from != nil {
		single = n.from.value(of.Literal)
	} else {
		single = importer.Value{Open: &importer.Open{Name: n.name, Example: or(of.Literal, sampleOf(s)), Candidates: v.candidates(n)}}
	}
	if s.Type() == "array" {
		return importer.Value{Items: &[]importer.Value{single}}
	}
	return single
}

// candidates says where a value without a source may come from.
func (v *values) candidates(n *need) []string {
	all := []string{"a parameter"}
	if c := v.column([]string{plain(n.name)}); c != "" {
		all = append([]string{"agent." + c}, all...)
	}
	return all
}

func or(a, b any) any {
	if a != nil {
		return a
	}
	return b
}

// sampleOf is a constant of a schema's type.
func sampleOf(s *openapi.Schema) any {
	for _, e := range s.Examples() {
		if isScalar(e) {
			return e
		}
	}
	switch s.Type() {
	case "integer", "number":
		return int64(1)
	case "boolean":
		return true
	}
	if s.Format() == "uuid" {
		return "00000000-0000-4000-8000-000000000001"
	}
	return "1"
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, bool, int64, float64:
		return true
	}
	return false
}

// object makes an object: the required properties, and others that say something.
func (v *values) object(s *openapi.Schema, at string, example any, depth int) importer.Value {
	fields := []importer.Pair{}
	examples, _ := example.(map[string]any)
	all := s.Properties()
	required := slices.ContainsFunc(all, func(p openapi.Property) bool { return p.Required })
	for _, p := range all {
		place := strings.TrimPrefix(at+"."+p.Name, ".")
		if p.Schema.ReadOnly() || !p.Required && !v.wanted(p, place, required, depth, len(fields)) {
			continue
		}
		if p.Schema == nil {
			fields = append(fields, importer.Pair{Name: p.Name, Value: importer.Value{Open: &importer.Open{Name: p.Name, Example: examples[p.Name]}}})
			continue
		}
		fields = append(fields, importer.Pair{Name: p.Name, Value: v.make(p.Schema, p.Name, place, examples[p.Name], depth+1)})
	}
	return importer.Value{Fields: &fields}
}

// mostOptional is how many properties an object without required ones gets.
const mostOptional = 6

// wanted reports whether an optional property is sent.
func (v *values) wanted(p openapi.Property, at string, required bool, depth, sent int) bool {
	if p.Schema == nil {
		return false
	}
	if v.of != nil {
		if n := v.of.needAt("body", at); n != nil {
			return n.from != nil
		}
	}
	name := plain(p.Name)
	switch {
	case v.signing:
		return slices.Contains(passwordNames, name) || slices.Contains(userNames, name) && name != "id" && name != "name" || name == "granttype"
	case v.of != nil && v.of.role == register && (slices.Contains(passwordNames, name) || slices.Contains(userNames[:7], name)):
		return true
	case required || depth > 1 || name == "id" || p.Schema.Type() == "object" || p.Schema.Type() == "array":
		return false
	}
	return sent < mostOptional
}

// array makes a list of as many items as there must be, and at least one.
func (v *values) array(s *openapi.Schema, name, at string, example any, depth int) importer.Value {
	least, _ := s.Count()
	items := s.Items()
	count := min(max(least, 1), 5)
	if enum := items.Enum(); s.Unique() && len(enum) >= count && count > 1 {
		return expression("sample(%s, %d)", listing(enum), count)
	}
	list := []importer.Value{}
	examples, _ := example.([]any)
	if items != nil {
		for i := range count {
			var e any
			if i < len(examples) {
				e = examples[i]
			}
			list = append(list, v.make(items, singularName(name), at+"[]", e, depth+1))
		}
	}
	return importer.Value{Items: &list}
}

// singularName keeps a name that a rule knows: photoUrls is a list of photoUrl.
func singularName(name string) string { return strings.TrimSuffix(name, "s") }

// listing writes values as a list of an expression.
func listing(all []any) string {
	parts := make([]string, 0, len(all))
	for _, v := range all {
		switch v := v.(type) {
		case string:
			parts = append(parts, strconv.Quote(v))
		case bool:
			parts = append(parts, map[bool]string{true: "True", false: "False"}[v])
		case nil:
			parts = append(parts, "None")
		default:
			parts = append(parts, fmt.Sprint(v))
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// scalar makes a value other than objects and lists.
func (v *values) scalar(s *openapi.Schema, name string, example any) importer.Value {
	if enum := slices.DeleteFunc(s.Enum(), func(e any) bool { return !isScalar(e) }); len(enum) > 0 {
		if len(enum) == 1 {
			return importer.Value{Literal: enum[0]}
		}
		const most = 20
		return expression("pick(%s)", listing(enum[:min(len(enum), most)]))
	}
	switch s.Type() {
	case "boolean":
		return expression("chance(0.5)")
	case "integer", "number":
		return v.number(s, name, example)
	case "null":
		return importer.Value{}
	case "string", "":
		return v.text(s, name, example)
	}
	return importer.Value{Literal: sampleOf(s)}
}

// number makes a number within its bounds.
func (v *values) number(s *openapi.Schema, name string, example any) importer.Value {
	least, most, step := s.Range()
	low, high := numberRange(plain(name))
	bounded := least != nil || most != nil
	if e, ok := firstScalar(example, s); ok && !bounded && low == 1 && high == 100 {
		return importer.Value{Literal: e}
	}
	switch {
	case least != nil && most != nil:
		if low, high = math.Max(low, *least), math.Min(high, *most); low > high {
			low, high = *least, *most
		}
	case least != nil && (low < *least || high <= *least):
		low, high = *least, *least+100
	case most != nil && high > *most:
		low, high = math.Min(low, *most), *most
	}
	if step != nil && *step > 0 {
		from, to := math.Ceil(low/(*step)), math.Floor(high/(*step))
		return expression("int(uniform(%s, %s)) * %s", decimal(from), decimal(math.Max(to, from)+1), decimal(*step))
	}
	if s.Type() == "integer" {
		return expression("int(uniform(%s, %s))", decimal(math.Ceil(low)), decimal(math.Max(math.Floor(high), math.Ceil(low))+1))
	}
	return expression("round(uniform(%s, %s), 2)", decimal(low), decimal(high))
}

// numberRange is a usual range for a name.
func numberRange(name string) (low, high float64) {
	for _, rule := range []struct {
		part      string
		low, high float64
	}{
		{"quantity", 1, 5},
		{"qty", 1, 5},
		{"count", 1, 5},
		{"rating", 1, 5},
		{"stars", 1, 5},
		{"age", 18, 90},
		{"year", 1990, 2025},
		{"month", 1, 12},
		{"page", 1, 1},
		{"limit", 20, 20},
		{"pagesize", 20, 20},
		{"offset", 0, 0},
		{"percent", 1, 50},
		{"discount", 1, 50},
		{"latitude", -60, 60},
		{"lat", -60, 60},
		{"longitude", -180, 180},
		{"lng", -180, 180},
		{"lon", -180, 180},
		{"weight", 1, 20},
		{"price", 1, 200},
		{"cost", 1, 200},
		{"amount", 1, 200},
		{"total", 1, 200},
	} {
		if name == rule.part || len(rule.part) > 3 && strings.HasSuffix(name, rule.part) && rule.part != "page" {
			return rule.low, rule.high
		}
	}
	return 1, 100
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// firstScalar returns an example other than objects and lists.
func firstScalar(example any, s *openapi.Schema) (any, bool) {
	for _, e := range append([]any{example}, append(s.Examples(), s.Default())...) {
		if isScalar(e) {
			return e, true
		}
	}
	return nil, false
}

// text makes a text of a format, pattern, name or example.
func (v *values) text(s *openapi.Schema, name string, example any) importer.Value {
	least, most := s.Length()
	made, sample := v.named(s, name)
	if pattern := s.Pattern(); pattern != "" {
		if re, err := regexp.Compile(pattern); made.Expr == "" || err != nil || !re.MatchString(sample) {
			if of, ok := fromPattern(pattern, least); ok {
				return of
			}
			made = importer.Value{}
		}
	}
	if made.Expr == "" && made.Parts == nil && made.Secret == "" && made.Literal == nil {
		if e, ok := firstScalar(example, s); ok {
			if t, isText := e.(string); isText || s.Type() == "" {
				if isText && t == "string" { // what some tools write for any text
					return v.fit(v.word(), "Quiet harbor", least, most)
				}
				return importer.Value{Literal: e}
			}
		}
		made, sample = v.word(), "Quiet harbor"
	}
	return v.fit(made, sample, least, most)
}

// fit makes a text as long as it must be, and no longer than it may be. sample is a text of usual length.
func (v *values) fit(made importer.Value, sample string, least, most int) importer.Value {
	if made.Expr == "" || strings.HasPrefix(made.Expr, "agent.") || made.Expr == v.signs.email || made.Expr == v.signs.password {
		return made
	}
	longest := len(sample)
	if strings.Contains(made.Expr, "pick(") && !strings.HasPrefix(made.Expr, "pick([") {
		longest += 15
	}
	if len(sample) < least {
		made.Expr += " + \" \" + session.uuid"
		if missing := least - len(sample) - len(" ") - 36; missing > 0 {
			made.Expr += " + \"-\" * " + strconv.Itoa(missing)
		}
	}
	if most >= 0 && (longest > most || len(sample) < least) {
		made.Expr = "(" + made.Expr + ")[:" + strconv.Itoa(most) + "]"
	}
	return made
}

// constant adds a list to the functions of the scenario, and returns a draw from it.
func (v *values) constant(name string, words ...string) string {
	if !v.constants[name] {
		v.constants[name] = true
		items := make([]importer.Value, len(words))
		for i, w := range words {
			items[i] = text(w)
		}
		v.draft.Data = append(v.draft.Data, importer.Data{Name: name, Value: importer.Value{Items: &items}})
	}
	return "pick(" + name + ")"
}

func (v *values) word() importer.Value {
	return importer.Value{Expr: v.constant("ADJECTIVES", "Quiet", "Bright", "Little", "Northern", "Simple", "Golden", "Early", "Wide") + ` + " " + ` +
		v.constant("NOUNS", "harbor", "garden", "lamp", "river", "table", "window", "market", "bridge")}
}

// jsonText writes a value as JSON for a body that is a text.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
