// Package tokenpath finds the token in the answer to a login.
package tokenpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

// Path is the position of a token in a response: body.access_token, headers.x-token, or body for the whole body.
type Path struct {
	names  []string // of fields of the body
	header string   // or of a header
	body   bool     // the token is in the body
}

// IsSet reports whether there is a token to find.
func (p Path) IsSet() bool { return p.body || p.header != "" }

// Parse parses a path with dots.
func Parse(text string) (Path, error) {
	first, rest, more := strings.Cut(text, ".")
	switch {
	case first == "headers" && rest != "":
		return Path{header: rest}, nil
	case first == "body" && !more:
		return Path{body: true}, nil
	case first == "body":
		if names := strings.Split(rest, "."); !strings.Contains("."+rest+".", "..") {
			return Path{names: names, body: true}, nil
		}
	}
	return Path{}, errors.New("it names neither the body of the answer nor a header of it")
}

func (p Path) String() string {
	if p.header != "" {
		return "headers." + p.header
	}
	return strings.Join(append([]string{"body"}, p.names...), ".")
}

// Find returns the token of a response. Its errors do not repeat the response.
func (p Path) Find(header http.Header, body []byte) (text string, err error) {
	switch {
	case p.header != "":
		text = header.Get(p.header)
	case len(p.names) == 0:
		text = string(body)
	default:
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			return "", errors.New("its answer is not JSON")
		}
		for _, name := range p.names {
			fields, _ := v.(map[string]any)
			v = fields[name]
		}
		text, _ = v.(string)
	}
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("its answer has no token at %s", p)
	}
	return text, nil
}

// Expiry returns when the token of a response expires, a little early; zero if it does not say.
func Expiry(body []byte, now time.Time) time.Time {
	var of struct {
		In json.Number `json:"expires_in"`
	}
	if json.Unmarshal(body, &of) != nil {
		return time.Time{}
	}
	seconds, err := of.In.Float64()
	if err != nil || seconds <= 0 || seconds > math.MaxInt32 {
		return time.Time{}
	}
	in := time.Duration(seconds * float64(time.Second))
	return now.Add(in - min(in/10, 30*time.Second))
}
