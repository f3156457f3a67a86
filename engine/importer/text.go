package importer

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escaped writes a text so that an expression in it is not evaluated.
func escaped(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// quote returns a text as a string of an expression.
func quote(text string) string { return strconv.Quote(strings.ToValidUTF8(text, "\uFFFD")) }

// scalar returns a text as a YAML scalar in a block: plain where every reader of YAML agrees that it is this text.
func scalar(text string) string {
	if isPlain(text, "") {
		return text
	}
	return quoted(text)
}

// flow is scalar inside of braces and brackets.
func flow(text string) string {
	if isPlain(text, ",[]{}") {
		return text
	}
	return quoted(text)
}

func quoted(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(text) {
		return yamlQuote(text)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// yamlQuote returns a text in double quotes. The escapes of Go's \x and \u are YAML's as well; \a, \v and others too.
func yamlQuote(text string) string { return strconv.QuoteToASCII(strings.ToValidUTF8(text, "\uFFFD")) }

// isPlain reports whether a text needs no quotes; none of the characters in more may occur.
func isPlain(text, more string) bool {
	if text == "" || strings.TrimSpace(text) != text || !utf8.ValidString(text) {
		return false
	}
	if strings.ContainsAny(text[:1], "!&*?|>@`\"'%#,[]{}:=~<-") || strings.ContainsAny(text, more) {
		return false
	}
	if strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.HasSuffix(text, ":") {
		return false
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return false
	}
	return !looksTyped(text)
}

// looksTyped reports whether YAML may read a plain text as something else: a number, a boolean, null or a time.
func looksTyped(text string) bool {
	switch strings.ToLower(text) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", ".nan", ".inf", "inf":
		return true
	}
	first := text[0]
	return first >= '0' && first <= '9' || first == '.' || first == '+'
}

// printable returns a text in one line without characters that cannot be seen.
func printable(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }), " ")
}

// wrap breaks a text into lines of about width characters, at spaces.
func wrap(text string, width int) (lines []string) {
	for utf8.RuneCountInString(text) > width {
		at := strings.LastIndexByte(text[:min(width, len(text))], ' ')
		if at <= 0 {
			break
		}
		lines, text = append(lines, text[:at]), text[at+1:]
	}
	return append(lines, text)
}

// Identifier returns a text as the name of a step: lower case words joined by underscores. It is "" if nothing is left.
func Identifier(text string) string {
	var b strings.Builder
	var last rune
	for _, r := range text {
		lower := unicode.IsUpper(r)
		switch {
		case r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = '_'
			if last == '_' || b.Len() == 0 {
				continue
			}
		case lower && (unicode.IsLower(last) || unicode.IsDigit(last)):
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	name := strings.TrimRight(b.String(), "_")
	if name != "" && unicode.IsDigit(rune(name[0])) {
		name = "n" + name
	}
	return name
}
