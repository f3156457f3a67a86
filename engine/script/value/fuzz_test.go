package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/script/meter"
	"go.starlark.net/starlark"
)

// FuzzDecodeJSON compares with encoding/json: both accept the same texts and read the same values.
func FuzzDecodeJSON(f *testing.F) {
	for _, doc := range benchDocuments[:1] {
		f.Add(doc.text)
	}
	for _, s := range []string{
		`{"a": [1, 2.5, {"b": null}], "a": "\u00e4\ud83d\ude00"}`, `[{"a": 1}, {"a": 2}, {"b": 3, "a": 4}]`, `-0.0e+1`, "\"\xff\"",
		`[1e400]`, `{"":{"":{}}}`, `123456789012345678901234567890`,
		`[{` + strings.Repeat(" ", shortObject) + `}, {"a": {` + strings.Repeat("\n", shortObject) + `}}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := DecodeJSON(text)
		sameLater(t, text, v, err)
		var want any
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		theirs := dec.Decode(&want)
		if theirs == nil && !json.Valid(text) {
			theirs = errors.New("more than one value")
		}
		if err != nil {
			if theirs == nil && !errors.Is(err, meter.ErrTooBig) && !strings.Contains(err.Error(), "out of range") {
				t.Fatalf("%q: %v, encoding/json reads %v", text, err, want)
			}
			return
		}
		if theirs != nil {
			t.Fatalf("%q: read as %s, encoding/json says %v", text, v, theirs)
		}
		if !sameAsAny(v, want) {
			t.Fatalf("%q: read as %s, encoding/json reads %v", text, v, want)
		}
		out, err := AppendJSON(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeJSON(out)
		if err != nil || !identical(v, again) {
			t.Fatalf("%q: read as %s, then as %s, %v", text, v, again, err)
		}
		if data, err := Data(v); err != nil || !identical(v, data) {
			t.Fatalf("%q: read as %s, converted to %s, %v", text, v, data, err)
		}
	})
}

// sameLater checks that a document whose fields are read later is the same, with the same weight and the same mistakes.
func sameLater(t *testing.T, text []byte, v Value, err error) {
	t.Helper()
	for _, use := range []func(later Value) bool{
		func(later Value) bool { return identical(v, later) },
		func(later Value) bool {
			data, err := Data(later)
			return err == nil && identical(v, data) && identical(v, later)
		},
		func(later Value) bool {
			a, err := AppendJSON(nil, v)
			b, other := AppendJSON(nil, later)
			return bytes.Equal(a, b) && (err == nil) == (other == nil)
		},
	} {
		later, mistake := DecodeJSONLater(text)
		switch {
		case fmt.Sprint(err) != fmt.Sprint(mistake):
			t.Fatalf("%q: got error %v, read later %v", text, err, mistake)
		case err == nil && Weight(v) != Weight(later):
			t.Fatalf("%q: weight %d, read later %d", text, Weight(v), Weight(later))
		case err == nil && !use(later):
			t.Fatalf("%q: read as %s, later %s", text, v, later)
		}
	}
}

// sameAsAny compares a value with the one that encoding/json read.
func sameAsAny(v Value, want any) bool {
	switch want := want.(type) {
	case nil:
		return v == starlark.None
	case bool:
		return v == starlark.Bool(want)
	case string:
		return v == starlark.String(want)
	case json.Number:
		if !strings.ContainsAny(want.String(), ".eE") {
			n, _ := new(big.Int).SetString(want.String(), 10)
			return v.String() == n.String()
		}
		f, err := want.Float64()
		g, ok := starlark.AsFloat(v)
		return err == nil && ok && f == g
	case []any:
		list, ok := v.(*starlark.List)
		if !ok || list.Len() != len(want) {
			return false
		}
		for i, x := range want {
			if !sameAsAny(list.Index(i), x) {
				return false
			}
		}
		return true
	case map[string]any:
		r, ok := v.(*Record)
		if !ok || r.Len() != len(want) {
			return false
		}
		for name, x := range want {
			if field, ok := r.Field(name); !ok || !sameAsAny(field, x) {
				return false
			}
		}
		return true
	}
	return false
}
