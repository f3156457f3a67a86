package database

import (
	"errors"
	"strings"
)

// maxArrayDepth is the most dimensions of a Postgres array.
const maxArrayDepth = 6

var errArray = errors.New("an array that cannot be read")

// appendArray appends an array in the server's text format to dst as JSON. element appends one element.
func appendArray(dst []byte, text string, element func(dst []byte, text string) []byte) ([]byte, error) {
	if strings.HasPrefix(text, "[") { // [2:3]={a,b} has explicit bounds
		_, after, ok := strings.Cut(text, "={")
		if !ok {
			return dst, errArray
		}
		text = "{" + after
	}
	a := &arrayText{rest: text, element: element}
	dst, err := a.append(dst, 1)
	if err == nil && a.rest != "" {
		err = errArray
	}
	return dst, err
}

type arrayText struct {
	rest    string
	element func(dst []byte, text string) []byte
}

func (a *arrayText) skip(c byte) bool {
	if a.rest == "" || a.rest[0] != c {
		return false
	}
	a.rest = a.rest[1:]
	return true
}

func (a *arrayText) append(dst []byte, depth int) ([]byte, error) {
	if depth > maxArrayDepth || !a.skip('{') {
		return dst, errArray
	}
	dst = append(dst, '[')
	for first := true; !a.skip('}'); first = false {
		if !first {
			if !a.skip(',') {
				return dst, errArray
			}
			dst = append(dst, ',')
		}
		var err error
		switch {
		case strings.HasPrefix(a.rest, "{"):
			dst, err = a.append(dst, depth+1)
		case strings.HasPrefix(a.rest, `"`):
			dst, err = a.quoted(dst)
		default:
			dst, err = a.plain(dst)
		}
		if err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func (a *arrayText) quoted(dst []byte) ([]byte, error) {
	var text strings.Builder
	for i := 1; i < len(a.rest); i++ {
		switch c := a.rest[i]; c {
		case '"':
			a.rest = a.rest[i+1:]
			return a.element(dst, text.String()), nil
		case '\\':
			if i++; i < len(a.rest) {
				text.WriteByte(a.rest[i])
			}
		default:
			text.WriteByte(c)
		}
	}
	return dst, errArray
}

func (a *arrayText) plain(dst []byte) ([]byte, error) {
	end := strings.IndexAny(a.rest, ",{}\"")
	if end <= 0 {
		return dst, errArray
	}
	text := a.rest[:end]
	a.rest = a.rest[end:]
	if text == "NULL" {
		return append(dst, "null"...), nil
	}
	return a.element(dst, text), nil
}

// AppendArrayElement appends an element, quoted, to an array in the format that the server reads.
func AppendArrayElement(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for i := range len(text) {
		if c := text[i]; c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, text[i])
	}
	return append(dst, '"')
}
