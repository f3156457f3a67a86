package expr

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/service/database"
)

// SQLArg converts a value for the server: None and missing are NULL, a record is JSON, and so is a list unless the
// query expects an array.
func SQLArg(v script.Value, array bool) ([]byte, error) {
	if isNull(v) {
		return nil, nil
	}
	if list, ok := v.(starlark.Sequence); ok && array {
		if _, isRecord := v.(*script.Record); !isRecord {
			return appendArray(nil, list, 1)
		}
	}
	return script.AppendText([]byte{}, v)
}

func isNull(v script.Value) bool { return v == starlark.None || v == script.Missing }

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
		text, err := script.Text(v)
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
func AppendTexts(dst []string, v script.Value) []string {
	switch v := v.(type) {
	case starlark.String, starlark.Int, starlark.Float:
		if text, err := script.Text(v); err == nil {
			dst = append(dst, text)
		}
	case *script.Record:
		for _, field := range v.All() {
			dst = AppendTexts(dst, field)
		}
	case *starlark.List:
		for item := range v.Elements() {
			dst = AppendTexts(dst, item)
		}
	case starlark.NoneType, starlark.Bool:
	default: // times, dicts and the agent, as data
		if text, err := script.AppendJSON(nil, v); err == nil {
			if plain, err := script.DecodeJSON(text); err == nil {
				dst = AppendTexts(dst, plain)
			}
		}
	}
	return dst
}
