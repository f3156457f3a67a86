package mock

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// textRule is a schema's rule for a string.
type textRule struct {
	least, most int // runes
	format      string
	match       *regexp.Regexp // compiled from tree; strings must match it
	tree        *syntax.Regexp
}

// textTries is the number of strings drawn before giving up.
const textTries = 64

// draw returns a string that follows the rule.
func (t *textRule) draw(s *draw.Source, talk *talk) (string, error) {
	make, known := formats[t.format]
	if !known && t.tree == nil {
		return t.prose(s, talk), nil
	}
	for range textTries {
		var text string
		if t.tree != nil {
			g := grower{source: s, many: max(3, t.least)}
			g.grow(t.tree)
			text = string(g.b)
		} else {
			text = make(s, talk)
		}
		if n := utf8.RuneCountInString(text); n >= t.least && n <= t.most && (t.match == nil || t.match.MatchString(text)) {
			return text, nil
		}
	}
	if t.tree != nil {
		return "", fmt.Errorf("the mock found no string of these lengths that matches %q", t.match)
	}
	return "", fmt.Errorf("the mock found no %s of these lengths", t.format)
}

// prose returns one or more sentences, or a word if there is no room for a sentence.
func (t *textRule) prose(s *draw.Source, talk *talk) string {
	const roomy = 60
	text := talk.topic(s)
	if t.most >= roomy {
		text = talk.sentence(s)
	}
	for utf8.RuneCountInString(text) < t.least {
		text += " " + talk.sentence(s)
	}
	runes := []rune(text)
	return string(runes[:min(len(runes), t.most)])
}

var firstNames = strings.Fields("ann bela carla dmitri elif farid grace hiro ines jonas kim lea milan nora omar priya quinn rosa sven tara")

// formats draw the strings of the named formats.
var formats = map[string]func(*draw.Source, *talk) string{
	"date":      func(s *draw.Source, _ *talk) string { return moment(s).Format(time.DateOnly) },
	"date-time": func(s *draw.Source, _ *talk) string { return moment(s).Format(time.RFC3339) },
	"time":      func(s *draw.Source, _ *talk) string { return moment(s).Format("15:04:05Z07:00") },
	"duration":  func(s *draw.Source, _ *talk) string { return fmt.Sprintf("PT%dM", 1+s.IntN(600)) },
	"email": func(s *draw.Source, _ *talk) string {
		return fmt.Sprintf("%s%d@example.com", firstNames[s.IntN(len(firstNames))], s.IntN(1000))
	},
	"hostname": func(s *draw.Source, _ *talk) string { return firstNames[s.IntN(len(firstNames))] + ".example.com" },
	"uri":      func(s *draw.Source, _ *talk) string { return fmt.Sprintf("https://example.com/%d", s.IntN(100_000)) },
	"ipv4":     func(s *draw.Source, _ *talk) string { return fmt.Sprintf("192.0.2.%d", s.IntN(256)) },
	"ipv6":     func(s *draw.Source, _ *talk) string { return fmt.Sprintf("2001:db8::%x", 1+s.IntN(0xfffe)) },
	"uuid":     drawUUID,
}

// moment draws a second of 2026.
func moment(s *draw.Source) time.Time {
	return time.Unix(born+int64(s.IntN(365*24*60*60)), 0).UTC()
}

// drawUUID draws a UUID of version 4.
func drawUUID(s *draw.Source, _ *talk) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(s.IntN(256))
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// grower writes a string for a pattern. It ignores the pattern's conditions (word boundaries, inner anchors); the match afterwards checks
// them.
type grower struct {
	source *draw.Source
	many   int // repetitions without an upper bound
	steps  int
	b      []byte
}

// mostSteps is the number of steps after which a string is abandoned.
const mostSteps = 4 * schemaSize

func (g *grower) grow(re *syntax.Regexp) {
	g.steps++
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			g.b = utf8.AppendRune(g.b, r)
		}
	case syntax.OpCharClass:
		g.class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		g.b = append(g.b, byte('a'+g.source.IntN(26)))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			g.grow(sub)
		}
	case syntax.OpAlternate:
		g.grow(re.Sub[g.source.IntN(len(re.Sub))])
	case syntax.OpQuest:
		g.repeat(re.Sub[0], 0, 1)
	case syntax.OpStar:
		g.repeat(re.Sub[0], 0, g.many)
	case syntax.OpPlus:
		g.repeat(re.Sub[0], 1, 1+g.many)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + g.many
		}
		g.repeat(re.Sub[0], re.Min, most)
	default: // writes nothing
	}
}

func (g *grower) repeat(re *syntax.Regexp, least, most int) {
	for n := least + g.source.IntN(most-least+1); n > 0 && g.steps < mostSteps; n-- {
		g.grow(re)
	}
}

// class writes a rune of a class, a printable ASCII one if there is one.
func (g *grower) class(ranges []rune) {
	var plain []rune
	for i := 0; i < len(ranges); i += 2 {
		for r := max(ranges[i], ' '); r <= min(ranges[i+1], '~'); r++ {
			plain = append(plain, r)
		}
	}
	switch {
	case len(plain) > 0:
		g.b = utf8.AppendRune(g.b, plain[g.source.IntN(len(plain))])
	case len(ranges) > 0:
		g.b = utf8.AppendRune(g.b, ranges[0])
	}
}
