package outcomes

import (
	"bytes"
	"encoding/json"
	"slices"
)

// BareValue is the name of the field of an event whose data is not an object.
const BareValue = "value"

var null = []byte("null")

// Fields are the fields of an event's data, in order. They share memory with the data.
type Fields struct{ Keys, Values [][]byte }

// Split reads the fields of an object. Other data is the one field [BareValue]; null has none. It reuses the lists.
func (f *Fields) Split(data []byte) {
	f.Keys, f.Values = f.Keys[:0], f.Values[:0]
	if len(data) == 0 || bytes.Equal(data, null) {
		return
	}
	if data[0] == '{' && f.object(data) {
		return
	}
	f.Keys, f.Values = append(f.Keys[:0], []byte(BareValue)), append(f.Values[:0], data)
}

// object reads the fields of an object; false if it is not one.
func (f *Fields) object(data []byte) bool {
	if !json.Valid(data) {
		return false
	}
	for i := 1; ; i++ { // after the brace or a comma
		if i = skipSpace(data, i); data[i] == '}' {
			return true
		}
		end := skipValue(data, i)
		key := data[i+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			var text string
			if json.Unmarshal(data[i:end], &text) != nil {
				return false
			}
			key = []byte(text)
		}
		i = skipSpace(data, skipSpace(data, end)+1)
		end = skipValue(data, i)
		if at := slices.IndexFunc(f.Keys, func(k []byte) bool { return bytes.Equal(k, key) }); at >= 0 { // the last one counts
			f.Values[at] = data[i:end]
		} else {
			f.Keys, f.Values = append(f.Keys, key), append(f.Values, data[i:end])
		}
		if i = skipSpace(data, end); data[i] == '}' {
			return true
		}
	}
}

// skipSpace returns the index of the next byte of valid JSON that is not white space.
func skipSpace(data []byte, i int) int {
	for data[i] == ' ' || data[i] == '\t' || data[i] == '\n' || data[i] == '\r' {
		i++
	}
	return i
}

// skipValue returns the index after the value of valid JSON that starts at i.
func skipValue(data []byte, i int) int {
	depth := 0
	for ; ; i++ {
		switch data[i] {
		case '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1 + min(depth, 0)
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
}
