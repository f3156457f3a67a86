package expr

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/database"
)

// SQLArg converts a value for the server: None and missing are NULL, a record is JSON, and so is a list unless the
// query expects an array.
func SQLArg(v value.Value, array bool) ([]byte, error) {
	if isNull(v) {
		return nil, nil
	}
	if list, ok := v.(starlark.Sequence); ok && array {
		if _, isRecord := v.(*value.Record); !isRecord {
			return appendArray(nil, list, 1)
		}
	}
	return value.AppendText([]byte{}, v)
}

func isNull(v value.Value) bool { return v == starlark.None || v == value.Missing }

// appendArray appends a list as a Postgres array at nesting level depth.
func appendArray(dst []byte, list starlark.Iterable, depth int) ([]byte, error) {
	const most = 6
	if depth > most {
		return nil, fmt.Errorf("an array of more than %d dimensions", most)
	}
	dst = append(dst, '{')
	first := true
	for v := range starlark.Elements(list) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if inner, ok := v.(*starlark.List); ok {
			var err error
			if dst, err = appendArray(dst, inner, depth+1); err != nil {
				return nil, err
			}
			continue
		}
		if isNull(v) {
			dst = append(dst, "NULL"...)
			continue
		}
		text, err := value.Text(v)
		if err != nil {
			return nil, err
		}
		if dst = database.AppendArrayElement(dst, text); len(dst) > MaxSent {
			return nil, TooMuchSent("args")
		}
	}
	return append(dst, '}'), nil
}

// AppendTexts appends the strings and numbers in a value, which must not appear in errors.
func AppendTexts(dst []string, v value.Value) []string {
	switch v := v.(type) {
	case starlark.String, starlark.Int, starlark.Float:
		if text, err := value.Text(v); err == nil {
			dst = append(dst, text)
		}
	case *value.Record:
		for _, field := range v.All() {
			dst = AppendTexts(dst, field)
		}
	case *starlark.List:
		for item := range v.Elements() {
			dst = AppendTexts(dst, item)
		}
	case starlark.NoneType, starlark.Bool:
	default: // times, dicts and the agent, as data
		if text, err := value.AppendJSON(nil, v); err == nil {
			if plain, err := value.DecodeJSON(text); err == nil {
				dst = AppendTexts(dst, plain)
			}
		}
	}
	return dst
}
