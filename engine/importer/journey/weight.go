package journey

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// weight is how likely it is that two equal values are equal by accident.
type weight int

const (
	trivial  weight = iota // true, 0, 12, "en": equal by accident
	wordy                  // a word or a sentence: somebody may have typed it
	specific               // an ID, a token, a large number
)

// common are words that occur everywhere.
var common = strings.Fields(`true false null none undefined asc desc default all any yes no on off name title id type status active open closed
	new ok json html get post put delete web app user admin test usd eur gbp en de fr es it www api index home`)

func weigh(text string) weight {
	const shortText, shortNumber = 4, 1000
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if math.Abs(n) < shortNumber && !strings.Contains(text, ".") || len(text) < shortText {
			return trivial
		}
		return specific
	}
	if len(text) < shortText || slices.Contains(common, strings.ToLower(text)) {
		return trivial
	}
	for _, r := range text {
		if unicode.IsDigit(r) {
			return specific
		}
	}
	if isRandom(text) {
		return specific
	}
	return wordy
}

var (
	uuidText   = regexp.MustCompile(`(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	objectID   = regexp.MustCompile(`(?i)^[0-9a-f]{24}$`)
	ulidText   = regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	jwtText    = regexp.MustCompile(`^[\w-]{10,}\.[\w-]{10,}\.[\w-]*$`)
	digits     = regexp.MustCompile(`^\d+$`)
	cardText   = regexp.MustCompile(`^\d(?:[ -]?\d){12,18}$`)
	emailText  = regexp.MustCompile(`^[^\s@]+@[^\s@]+\.[^\s@]+$`)
	dateText   = regexp.MustCompile(`^\d{4}-\d\d-\d\d(?:[T ].*)?$`)
	opaqueText = regexp.MustCompile(`^[\w+/=.~:%-]+$`)
	hashName   = regexp.MustCompile(`(?i)hash|sha|checksum|digest|etag|integrity|version|build|revision`)
)

// isJWT reports whether a text is a JSON Web Token.
func isJWT(text string) bool {
	if !jwtText.MatchString(text) {
		return false
	}
	first, _, _ := strings.Cut(text, ".")
	header, err := base64.RawURLEncoding.DecodeString(first)
	return err == nil && json.Valid(header)
}

// isID reports whether a text has the form of an ID, which identifies something but opens nothing.
func isID(text string) bool {
	return uuidText.MatchString(text) || objectID.MatchString(text) || ulidText.MatchString(text) || digits.MatchString(text)
}

// isRandom reports whether a text looks like a token: one long word without meaning.
func isRandom(text string) bool {
	const shortest, bits = 16, 3.0
	if isJWT(text) {
		return true
	}
	if len(text) < shortest || !opaqueText.MatchString(text) || isID(text) || dateText.MatchString(text) || emailText.MatchString(text) {
		return false
	}
	if strings.Contains(text, "/") && strings.Count(text, "/") > len(text)/10 || strings.HasPrefix(text, "http") {
		return false
	}
	letters, figures, upper, marks := 0, 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			figures++
		case unicode.IsUpper(r):
			upper++
			letters++
		case unicode.IsLower(r):
			letters++
		default:
			marks++
		}
	}
	if figures == 0 && (upper == 0 || upper == letters || marks > 1) || letters == 0 {
		return false // words, or words with hyphens
	}
	if marks > 1 && figures <= 4 && upper == 0 {
		return false // a slug with a number: red-chair-2024
	}
	return entropy(text) >= bits
}

// entropy returns the bits per character, after Shannon.
func entropy(text string) float64 {
	counts := make(map[rune]int)
	n := 0
	for _, r := range text {
		counts[r]++
		n++
	}
	sum := 0.0
	for _, c := range counts {
		p := float64(c) / float64(n)
		sum -= p * math.Log2(p)
	}
	return sum
}

// isCard reports whether a text is a card number. See ISO/IEC 7812-1 for the check digit.
func isCard(text string) bool {
	if !cardText.MatchString(text) {
		return false
	}
	sum, double := 0, false
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < '0' || text[i] > '9' {
			continue
		}
		d := int(text[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		double = !double
	}
	return sum%10 == 0 && len(text) >= 14
}

// timeOf returns the expression of the simulated time that a text is the recording's time in, or "".
func timeOf(text string, start time.Time) string {
	const near = 26 * time.Hour // clocks in other time zones
	if start.IsZero() {
		return ""
	}
	close := func(t time.Time) bool { return t.Sub(start).Abs() < near }
	if digits.MatchString(text) {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
		case len(text) == 13 && close(time.UnixMilli(n)):
			return "now.unix * 1000"
		case len(text) == 10 && close(time.Unix(n, 0)):
			return "now.unix"
		}
		return ""
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil && t.Sub(start).Abs() < time.Minute {
		return "now.iso"
	}
	return ""
}
