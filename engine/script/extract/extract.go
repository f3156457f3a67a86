// Package extract finds values in texts: the group of a pattern, or the field of an HTML form.
package extract

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

const (
	// MaxText limits the text that is searched, in bytes.
	MaxText = 4 << 20
	// maxPattern limits a pattern, in bytes, and maxCompiled how many compiled ones are kept.
	maxPattern  = 1000
	maxCompiled = 1000
)

// compiled are the patterns used before.
var compiled struct {
	sync.RWMutex
	by map[string]*regexp.Regexp
}

// pattern compiles a pattern, or returns it compiled earlier.
func pattern(text string) (*regexp.Regexp, error) {
	compiled.RLock()
	re := compiled.by[text]
	compiled.RUnlock()
	if re != nil {
		return re, nil
	}
	if len(text) > maxPattern {
		return nil, fmt.Errorf("a pattern of %d bytes, more than %d", len(text), maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	compiled.Lock()
	defer compiled.Unlock()
	if compiled.by == nil || len(compiled.by) >= maxCompiled {
		compiled.by = map[string]*regexp.Regexp{}
	}
	compiled.by[text] = re
	return re, nil
}

// First returns the first group of a pattern (RE2 syntax) at its first match in a text, or the whole match if the pattern has no
// groups. found is false if there is no match, or the group is not part of it.
func First(text, of string) (value string, found bool, err error) {
	re, err := pattern(of)
	if err != nil {
		return "", false, err
	}
	at := re.FindStringSubmatchIndex(text)
	group := 2 * min(1, re.NumSubexp())
	if at == nil || at[group] < 0 {
		return "", false, nil
	}
	return text[at[group]:at[group+1]], true, nil
}

// FormField returns the value of the first field with a name in an HTML page: an input, a select, a textarea or a button, or else
// the content of a meta element. Boxes that are not checked do not count. Entities are decoded.
func FormField(page, name string) (value string, found bool) {
	z := html.NewTokenizer(strings.NewReader(page))
	meta, hasMeta := "", false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return meta, hasMeta
		case html.StartTagToken, html.SelfClosingTagToken:
		default:
			continue
		}
		t := z.Token()
		switch {
		case t.Data == "meta" && !hasMeta && name != "" && (attribute(t, "name") == name || attribute(t, "property") == name):
			meta, hasMeta = attribute(t, "content"), true
		case attribute(t, "name") != name || !has(t, "name"):
		case t.Data == "input" && isBox(t) && !has(t, "checked"):
		case t.Data == "input" && isBox(t) && !has(t, "value"):
			return "on", true
		case t.Data == "input", t.Data == "button":
			return attribute(t, "value"), true
		case t.Data == "textarea":
			return textarea(z), true
		case t.Data == "select":
			if value, found = selected(z); found {
				return value, true
			}
		}
	}
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(t html.Token, name string) bool {
	for _, a := range t.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func isBox(t html.Token) bool {
	kind := strings.ToLower(attribute(t, "type"))
	return kind == "checkbox" || kind == "radio"
}

// textarea returns the text of the textarea whose start was just read, without the line break at its beginning.
func textarea(z *html.Tokenizer) string {
	if z.Next() != html.TextToken {
		return ""
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(z.Token().Data)
	return strings.TrimPrefix(text, "\n")
}

// selected returns the value of the selected option of the select whose start was just read, or of its first one.
func selected(z *html.Tokenizer) (value string, found bool) {
	var option *html.Token
	var text strings.Builder
	end := func() bool { // reports whether the option that ends is the selected one
		if option == nil {
			return false
		}
		t := *option
		option = nil
		is := strings.Join(strings.Fields(text.String()), " ")
		if has(t, "value") {
			is = attribute(t, "value")
		}
		if !found || has(t, "selected") {
			value, found = is, true
		}
		return has(t, "selected")
	}
	for {
		switch z.Next() {
		case html.ErrorToken:
			end()
			return value, found
		case html.TextToken:
			text.Write(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			if t := z.Token(); t.Data == "option" {
				if end() {
					return value, true
				}
				option = &t
				text.Reset()
			}
		case html.EndTagToken:
			t := z.Token()
			if t.Data == "option" || t.Data == "select" {
				if end() || t.Data == "select" {
					return value, found
				}
			}
		case html.CommentToken, html.DoctypeToken:
		}
	}
}
