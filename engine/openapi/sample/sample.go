// Package sample makes values that fit the schemas of an OpenAPI document. They are a function of the schema and a key.
package sample

import (
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/openapi"
)

// deepest bounds the depth of values, because schemas may contain themselves.
const deepest = 6

// Value makes a value of maps, lists, texts, numbers and booleans. name is what the value is called; it may be "".
func Value(s *openapi.Schema, name string, key draw.Key) any { return make1(s, name, key, 0) }

func make1(s *openapi.Schema, name string, key draw.Key, depth int) any {
	if s == nil {
		return map[string]any{}
	}
	if values := s.Enum(); len(values) > 0 {
		return values[key.Source().IntN(len(values))]
	}
	switch s.Type() {
	case "object":
		return object(s, key, depth)
	case "array":
		return list(s, name, key, depth)
	case "integer":
		return integer(s, key)
	case "number":
		least, most := bounds(s)
		f := least + key.Source().Float64()*(most-least)
		if _, _, step := s.Range(); step != nil && *step > 0 {
			return math.Ceil(least/(*step)) * *step
		}
		return min(max(math.Round(f*100)/100, least), most)
	case "boolean":
		return key.Source().IntN(2) == 1
	case "null":
		return nil
	case "":
		if all := s.Examples(); len(all) > 0 {
			return all[0]
		}
		return map[string]any{}
	}
	return Text(s, name, key)
}

func object(s *openapi.Schema, key draw.Key, depth int) any {
	m := map[string]any{}
	for _, p := range s.Properties() {
		if p.Schema == nil || p.Schema.WriteOnly() || !p.Required && depth >= deepest/2 && (p.Schema.Type() == "object" || p.Schema.Type() == "array") || depth >= deepest && !p.Required || depth > 3*deepest {
			continue
		}
		m[p.Name] = make1(p.Schema, p.Name, key.Text(p.Name), depth+1)
	}
	return m
}

func list(s *openapi.Schema, name string, key draw.Key, depth int) any {
	least, most := s.Count()
	count := max(least, 1)
	if depth >= deepest || most == 0 {
		count = least
	}
	all := []any{}
	for i := range min(count, 100) {
		all = append(all, make1(s.Items(), strings.TrimSuffix(name, "s"), key.Int(uint64(i)), depth+1)) //nolint:gosec // i is small
	}
	return all
}

func bounds(s *openapi.Schema) (least, most float64) {
	low, high, _ := s.Range()
	least, most = 1, 100
	switch {
	case low != nil && high != nil:
		least, most = *low, *high
	case low != nil:
		least, most = *low, *low+100
	case high != nil:
		least, most = math.Min(1, *high), *high
	}
	return least, math.Max(least, most)
}

func integer(s *openapi.Schema, key draw.Key) any {
	least, most := bounds(s)
	_, _, step := s.Range()
	if step != nil && *step >= 1 {
		return int64(math.Ceil(least/(*step)) * *step)
	}
	from := int64(math.Ceil(least))
	span := int64(math.Floor(most)) - from + 1
	if span <= 0 || span > math.MaxInt32 {
		span = min(max(span, 1), math.MaxInt32)
	}
	return from + int64(key.Source().IntN(int(span)))
}

// ID makes an identifier of a schema's type.
func ID(s *openapi.Schema, key draw.Key) any {
	hi, lo := key.Sum()
	switch s.Type() {
	case "integer", "number":
		least, most := bounds(s)
		if low, high, _ := s.Range(); low == nil && high == nil || most-least > math.MaxInt32 {
			return int64(1000 + hi%(1<<31-1000)) //nolint:gosec // below 2^31
		}
		return integer(s, key)
	}
	if s.Format() == "uuid" || s.Format() == "" && s.Pattern() == "" {
		if s.Format() == "uuid" {
			return newUUID(hi, lo)
		}
		return cut(fmt.Sprintf("%08x%08x", uint32(hi), uint32(lo)), s) //nolint:gosec // the lower half is wanted
	}
	return Text(s, "id", key)
}

func newUUID(hi, lo uint64) string {
	var id uuid.UUID
	for i := range 8 {
		id[i], id[8+i] = byte(hi>>(8*i)), byte(lo>>(8*i)) //nolint:gosec // the lowest byte is wanted
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

var words = []string{"Quiet harbor", "Bright lamp", "Little garden", "Northern river", "Simple table", "Golden window", "Early market", "Wide bridge"}

// epoch is the time that times are counted from.
var epoch = time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)

// Text makes a text.
func Text(s *openapi.Schema, name string, key draw.Key) string {
	hi, lo := key.Sum()
	at := epoch.Add(time.Duration(hi%(30*86400)) * time.Second) //nolint:gosec // a month
	switch s.Format() {
	case "uuid", "guid":
		return newUUID(hi, lo)
	case "date":
		return at.Format(time.DateOnly)
	case "date-time":
		return at.Format(time.RFC3339)
	case "time":
		return at.Format("15:04:05Z")
	case "duration":
		return "PT1H"
	case "email", "idn-email":
		return fmt.Sprintf("user-%06x@example.com", hi%(1<<24))
	case "uri", "url", "iri", "uri-reference":
		return fmt.Sprintf("https://example.com/%06x", hi%(1<<24))
	case "hostname", "idn-hostname":
		return "example.com"
	case "ipv4":
		return fmt.Sprintf("192.0.2.%d", 1+hi%254)
	case "ipv6":
		return fmt.Sprintf("2001:db8::%x", 1+hi%65535)
	case "byte":
		return base64.StdEncoding.EncodeToString([]byte(words[hi%uint64(len(words))]))
	}
	least, _ := s.Length()
	if p := s.Pattern(); p != "" {
		if text, ok := matching(p, least, key); ok {
			return text
		}
	}
	for _, e := range s.Examples() {
		if text, ok := e.(string); ok && len(text) >= least {
			return cut(text, s)
		}
	}
	if name = strings.ToLower(name); strings.HasSuffix(name, "email") {
		return fmt.Sprintf("user-%06x@example.com", hi%(1<<24))
	}
	if name == "currency" {
		return "EUR"
	}
	return cut(words[hi%uint64(len(words))], s)
}

// cut makes a text as long as it must and may be.
func cut(text string, s *openapi.Schema) string {
	least, most := s.Length()
	const longest = 1 << 16
	for len(text) < min(least, longest) {
		text += text
	}
	if most >= 0 && len(text) > most {
		text = text[:most]
	}
	return text
}

// matching makes a text that matches a regular expression; false if it cannot.
func matching(pattern string, least int, key draw.Key) (string, bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	w := &matcher{source: key.Text("pattern").Source(), least: least}
	w.write(re.Simplify(), 0)
	check, err := regexp.Compile(pattern)
	text := w.text.String()
	return text, err == nil && check.MatchString(text) && len(text) >= least
}

type matcher struct {
	source *draw.Source
	text   strings.Builder
	least  int
}

const longestMatch = 200

func (w *matcher) write(re *syntax.Regexp, depth int) {
	if depth > 50 || w.text.Len() > longestMatch {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		w.text.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		w.class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.class([]rune{'a', 'z'})
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			w.write(sub, depth+1)
		}
	case syntax.OpAlternate:
		w.write(re.Sub[w.source.IntN(len(re.Sub))], depth+1)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		low, high := 0, 1
		switch re.Op {
		case syntax.OpPlus:
			low, high = 3, 50
		case syntax.OpStar:
			high = 50
		case syntax.OpRepeat:
			low, high = re.Min, re.Max
			if high < 0 {
				high = low + 50
			}
		default:
		}
		for n := 0; n < low || n < high && w.text.Len() < w.least; n++ {
			w.write(re.Sub[0], depth+1)
		}
	default: // what matches an empty text
	}
}

func (w *matcher) class(pairs []rune) {
	for _, usual := range [][2]rune{{'a', 'z'}, {'A', 'Z'}, {'0', '9'}} {
		for i := 0; i+1 < len(pairs); i += 2 {
			if low, high := max(pairs[i], usual[0]), min(pairs[i+1], usual[1]); low <= high {
				w.text.WriteRune(low + rune(w.source.IntN(int(high-low)+1))) //nolint:gosec // a letter or digit
				return
			}
		}
	}
	if len(pairs) > 0 {
		w.text.WriteRune(pairs[0])
	}
}
