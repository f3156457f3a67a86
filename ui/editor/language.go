package editor

import (
	"encoding/json"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/throng-sim/throng/assets"
)

// schema is the part of the language's JSON Schema that describes keys.
type schema struct {
	Description       string
	Ref               string `json:"$ref"`
	Properties        map[string]*schema
	PatternProperties map[string]*schema
	Items             *schema
	Definitions       map[string]*schema
	AnyOf, OneOf      []*schema
	AllOf             []*schema
	Then              *schema
	AdditionalRaw     json.RawMessage `json:"additionalProperties"`

	root *schema
}

// key is a key and its description.
type key struct{ name, about string }

// language is the schema of the scenario language.
var language = sync.OnceValue(func() *schema {
	text, err := fs.ReadFile(assets.Scenarios(), "schema.json")
	s := &schema{}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil { // the schema is embedded in the program
		panic(err)
	}
	s.root = s
	return s
})

// explain describes the last key of a path, and lists the keys at its level.
func (s *schema) explain(path []string) (about string, beside []key) {
	at := []*schema{s}
	for i, name := range path {
		last := i == len(path)-1
		if last {
			beside = keysOf(s, at)
		}
		var next []*schema
		for _, a := range at {
			next = append(next, a.child(s, name)...)
		}
		if len(next) == 0 {
			return "Unknown key.", keysOf(s, at)
		}
		if at = next; last {
			about = aboutOf(s, at)
		}
	}
	if len(path) == 0 {
		return "A scenario defines the agents, the services they call and the steps they execute.", keysOf(s, at)
	}
	if inner := keysOf(s, at); len(inner) > 0 {
		beside = inner
	}
	return about, beside
}

// variants returns a schema and the schemas it refers to or combines.
func (s *schema) variants(root *schema, depth int) (all []*schema) {
	if s == nil || depth > 8 {
		return nil
	}
	all = []*schema{s}
	if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
		all = append(all, root.Definitions[name].variants(root, depth+1)...)
	}
	for _, v := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf, []*schema{s.Then, s.Items}) {
		all = append(all, v.variants(root, depth+1)...)
	}
	return all
}

// child returns the schemas of a key.
func (s *schema) child(root *schema, name string) (all []*schema) {
	for _, v := range s.variants(root, 0) {
		if p := v.Properties[name]; p != nil {
			all = append(all, p)
			continue
		}
		for pattern, p := range v.PatternProperties {
			if re, err := regexp.Compile(pattern); err == nil && re.MatchString(name) {
				all = append(all, p)
			}
		}
		var more schema
		if len(v.AdditionalRaw) > 0 && v.AdditionalRaw[0] == '{' && json.Unmarshal(v.AdditionalRaw, &more) == nil {
			all = append(all, &more)
		}
	}
	return all
}

// aboutOf returns the first description among schemas.
func aboutOf(root *schema, at []*schema) string {
	for _, a := range at {
		for _, v := range a.variants(root, 0) {
			if v.Description != "" {
				return strings.ToUpper(v.Description[:1]) + v.Description[1:] + "."
			}
		}
	}
	return ""
}

// keysOf returns the keys of schemas, sorted.
func keysOf(root *schema, at []*schema) (all []key) {
	known := map[string]string{}
	for _, a := range at {
		for _, v := range a.variants(root, 0) {
			for name, p := range v.Properties {
				if known[name] == "" {
					known[name] = strings.TrimSuffix(aboutOf(root, []*schema{p}), ".")
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		all = append(all, key{name, known[name]})
	}
	return all
}

var blockKey = regexp.MustCompile(`^(\s*(?:-\s+)?)([^\s#'"{\[][^:#'"{\[]*?)\s*:(?:\s|$)`)

// keysAt returns the path of keys to a line, by indentation. The file may be incomplete.
func keysAt(lines []string, row int) (path []string) {
	if row < 0 || row >= len(lines) {
		return nil
	}
	for row > 0 && strings.TrimSpace(lines[row]) == "" {
		row--
	}
	indent := -1
	for ; row >= 0; row-- {
		m := blockKey.FindStringSubmatch(lines[row])
		if m == nil {
			continue
		}
		if deep := len(m[1]); indent < 0 || deep < indent {
			path = append([]string{m[2]}, path...)
			indent = deep
		}
		if indent == 0 {
			break
		}
	}
	return path
}

// flowKeys returns the path of keys in braces on a line, up to a column.
func flowKeys(line string, col int) (path []string) {
	runes := []rune(line)
	end := min(max(col, 0), len(runes))
	for end < len(runes) && !strings.ContainsRune(",:{}", runes[end]) {
		end++
	}
	if end < len(runes) && runes[end] == ':' { // the cursor is in a key
		end++
	}
	var quote rune
	from := 0
	for i, r := range runes[:end] {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '{':
			path, from = append(path, ""), i+1
		case r == '}' && len(path) > 0:
			path = path[:len(path)-1]
		case r == ',' && len(path) > 0:
			path[len(path)-1], from = "", i+1
		case r == ':' && len(path) > 0 && path[len(path)-1] == "":
			path[len(path)-1] = strings.TrimSpace(string(runes[from:i]))
		}
	}
	return slices.DeleteFunc(path, func(key string) bool { return key == "" })
}
