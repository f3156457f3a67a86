package importer

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

// Kind is what a source of an import is.
type Kind string

// The kinds.
const (
	Unknown  Kind = ""
	OpenAPI  Kind = "openapi" // OpenAPI 3 or Swagger 2, as JSON or YAML
	HAR      Kind = "har"
	CURL     Kind = "curl"
	Postman  Kind = "postman"
	Scenario Kind = "scenario" // a scenario of Throng: there is nothing to import
)

// headSize is how much of a source Detect looks at, in bytes.
const headSize = 64 << 10

var (
	openAPIKey  = regexp.MustCompile(`(?m)^[ \t{]*["']?(?:openapi|swagger)["']?[ \t]*:[ \t]*["']?[123]`)
	scenarioKey = regexp.MustCompile(`(?m)^(?:chain [^\n:]+:|(?:chains|population|clock|services):)`)
	curlCommand = regexp.MustCompile(`(?m)^[ \t]*(?:\$ )?(?:[^\s#|]*/)?curl(?:\.exe)?[ \t\^]`)
)

// Detect returns what a source is, from its first bytes and its file name ("" if there is none). It looks at the contents first,
// because names often mislead.
func Detect(name string, data []byte) Kind {
	head := bytes.TrimSpace(bytes.TrimPrefix(data[:min(len(data), headSize)], []byte("\ufeff")))
	if len(head) > 0 && head[0] == '{' {
		if kind := detectJSON(head); kind != Unknown {
			return kind
		}
	}
	switch {
	case openAPIKey.Match(head):
		return OpenAPI
	case curlCommand.Match(head):
		return CURL
	case scenarioKey.Match(head):
		return Scenario
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".har":
		return HAR
	case ".curl":
		return CURL
	}
	return Unknown
}

// detectJSON reads the names of the outermost object, and of what is directly in it, as far as the text goes.
func detectJSON(head []byte) Kind {
	d := json.NewDecoder(bytes.NewReader(head))
	var objects, keys []bool // for each level: it is an object; its next token is a key
	outer := ""
	for {
		token, err := d.Token()
		if err != nil {
			return Unknown
		}
		top := len(keys) - 1
		if token == json.Delim('}') || token == json.Delim(']') {
			objects, keys = objects[:top], keys[:top]
			continue
		}
		isKey := top >= 0 && keys[top]
		if top >= 0 && objects[top] {
			keys[top] = !isKey
		}
		if delim, ok := token.(json.Delim); ok {
			objects, keys = append(objects, delim == '{'), append(keys, delim == '{')
			continue
		}
		name, _ := token.(string)
		if !isKey {
			continue
		}
		if top == 0 {
			outer = name
		}
		if kind := kindOfKey(len(keys), outer, name); kind != Unknown {
			return kind
		}
	}
}

// kindOfKey returns the kind that a key stands for: at depth 1 the document's own, at depth 2 that of a value below outer.
func kindOfKey(depth int, outer, name string) Kind {
	switch {
	case depth == 1 && (name == "openapi" || name == "swagger"):
		return OpenAPI
	case depth == 2 && outer == "log" && (name == "entries" || name == "creator" || name == "pages" || name == "browser"):
		return HAR
	case depth == 2 && outer == "info" && (name == "_postman_id" || name == "schema"):
		return Postman
	}
	return Unknown
}
