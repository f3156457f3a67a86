package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/throng-sim/throng/engine/script/meter"
	"go.starlark.net/starlark"
	"pgregory.net/rapid"
)

// clock is the value of a time in these tests: a Friday.
var clock = time.Date(2026, 1, 2, 8, 4, 5, 0, time.UTC)

func TestDecodeJSON(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`null`, `None`},
		{` true `, `True`},
		{"\t[ false , 1 ]\r\n", `[False, 1]`},
		{`0`, `0`},
		{`-0`, `0`},
		{`-17`, `-17`},
		{`123456789012345678`, `123456789012345678`},
		{`1234567890123456789012345678901234567890`, `1234567890123456789012345678901234567890`},
		{`-9223372036854775809`, `-9223372036854775809`},
		{`2.5`, `2.5`},
		{`-2.5e-3`, `-0.0025`},
		{`1.0`, `1`},
		{`1e3`, `1000`},
		{`-0.0`, `0`},
		{`9007199254740992.0`, `9007199254740992`},
		{`1e300`, `1e+300`},
		{`1e17`, `1e+17`},
		{`5e-324`, `5e-324`},
		{`""`, `""`},
		{`"a\"\\\/\b\f\n\r\t\u00e4\u20ac\ud83d\ude00"`, `"a\"\\/\b\f\n\r\tä€😀"`},
		{`"\ud83d"`, `"�"`},
		{`"\ud83dx\ude00"`, `"�x�"`},
		{`"\ud83d\u0041"`, `"�A"`},
		{"\"a\xffb\xc3\"", `"a�b�"`},
		{`{}`, `{}`},
		{`{"b": 1, "a": {"c": []}}`, `{"b": 1, "a": {"c": []}}`},
		{`{"a": 1, "b": 2, "a": 3}`, `{"a": 3, "b": 2}`},
		{`{"\u0061": 1, "a": 2}`, `{"a": 2}`},
		{
			`[{"a": 1, "b": 2}, {"a": 3, "b": 4}, {"a": 5}, {"a": 6, "b": 7, "c": 8}, {"b": 9, "a": 10}, {"a": 11, "a": 12}]`,
			`[{"a": 1, "b": 2}, {"a": 3, "b": 4}, {"a": 5}, {"a": 6, "b": 7, "c": 8}, {"b": 9, "a": 10}, {"a": 12}]`,
		},
		{`[{"a": {"x": 1}}, {"a": {"y": 1}}, {"a": {"y": 2}}]`, `[{"a": {"x": 1}}, {"a": {"y": 1}}, {"a": {"y": 2}}]`},
		{`{"": 1, "ä": 2, "a\"b": 3, "a b": 4}`, `{"": 1, "ä": 2, "a\"b": 3, "a b": 4}`},
	} {
		v, err := DecodeJSON([]byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
		} else if v.String() != test.want {
			t.Errorf("%s = %s, want %s", test.text, v, test.want)
		}
	}
}

func TestDecodeJSONErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{``, `JSON at offset 0: unexpected end where a value should be`},
		{`  `, `JSON at offset 2: unexpected end where a value should be`},
		{`nul`, `JSON at offset 0: want null`},
		{`truth`, `JSON at offset 0: want true`},
		{`1 2`, `JSON at offset 2: unexpected '2' after the value`},
		{`[1 2]`, `JSON at offset 3: unexpected '2' in a list, want , or ]`},
		{`[1,`, `JSON at offset 3: unexpected end where a value should be`},
		{`[1`, `JSON at offset 2: unexpected end in a list`},
		{`{"a"}`, `JSON at offset 4: unexpected '}' after a name, want :`},
		{`{"a": 1,}`, `JSON at offset 8: unexpected '}' where a name should be`},
		{`{"a": 1`, `JSON at offset 7: unexpected end in an object`},
		{`{"a": 1 "b"}`, `JSON at offset 8: unexpected '"' in an object, want , or }`},
		{`{a: 1}`, `JSON at offset 1: unexpected 'a' where a name should be`},
		{`"abc`, `JSON at offset 4: unexpected end in a string`},
		{`"a\`, `JSON at offset 2: unknown escape in a string`},
		{`"a\x"`, `JSON at offset 2: unknown escape in a string`},
		{`"\u12"`, `JSON at offset 1: \u wants four hexadecimal digits`},
		{"\"a\nb\"", `JSON at offset 2: control character '\n' in a string`},
		{`01`, `JSON at offset 0: malformed number`},
		{`-`, `JSON at offset 0: malformed number`},
		{`1.`, `JSON at offset 0: malformed number`},
		{`1e+`, `JSON at offset 0: malformed number`},
		{`1e999`, `JSON at offset 0: number 1e999 is out of range`},
		{`.5`, `JSON at offset 0: unexpected '.' where a value should be`},
		{`ä`, `JSON at offset 0: unexpected 'ä' where a value should be`},
		{strings.Repeat("[", 201), `JSON at offset 200: nested deeper than 200 levels`},
		{strings.Repeat("1", 10000), `JSON at offset 0: a number of 10000 digits`},
	} {
		_, err := DecodeJSON([]byte(test.text))
		if err == nil || err.Error() != test.want {
			t.Errorf("%.40s: got error %v, want %s", test.text, err, test.want)
		}
	}
	deep := strings.Repeat("[", meter.MaxDepth) + strings.Repeat("]", meter.MaxDepth)
	if _, err := DecodeJSON([]byte(deep)); err != nil {
		t.Errorf("%d levels: %v", meter.MaxDepth, err)
	}
	if _, err := DecodeJSON([]byte("[" + strings.Repeat("1,", 2_000_000) + "1]")); !errors.Is(err, meter.ErrTooBig) {
		t.Errorf("too many values: got error %v", err)
	}
	if _, err := DecodeJSON(bytes.Repeat([]byte(" "), maxWeight+1)); !errors.Is(err, meter.ErrTooBig) {
		t.Errorf("too long: got error %v", err)
	}
}

func TestSimilarRecordsShareTheirShape(t *testing.T) {
	list := mustDecode(t, products(3)).(*starlark.List)
	if a, b := list.Index(0).(*Record), list.Index(2).(*Record); a.shape != b.shape {
		t.Error("each has its own shape")
	}
}

// TestDecodeJSONOfManyParts decodes documents whose braces and commas predict far too little or far too much memory.
func TestDecodeJSONOfManyParts(t *testing.T) {
	for name, text := range map[string]string{
		"many":   "[" + strings.Repeat(`{"a":[1,{"b":2}],"c":{}},`, 2*maxSpare) + `{"a":[1],"c":{}}]`,
		"wide":   "[" + strings.Repeat("[0],", 8*maxSpare) + `{"x":{"y":1}}]`,
		"quoted": `{"t":"{,[` + strings.Repeat("{,", maxSpare) + `","u":{"v":[1,2,3]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if len(text) > maxPreallocated {
				t.Fatalf("no memory is reserved for %d bytes", len(text))
			}
			v, err := DecodeJSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := AppendJSON(nil, v); err != nil || string(got) != text {
				t.Errorf("got %s, error %v", got, err)
			}
		})
	}
}

// TestDecodeJSONReleasesOtherRecords checks that keeping one record of a long document does not keep the others in memory.
func TestDecodeJSONReleasesOtherRecords(t *testing.T) {
	list := mustDecode(t, `[{"text":"`+strings.Repeat("x", maxPreallocated)+`"},{"id":1}]`).(*starlark.List)
	kept, other := list.Index(1), weak.Make(list.Index(0).(*Record))
	runtime.GC()
	if other.Value() != nil {
		t.Error("it is kept together with the other")
	}
	runtime.KeepAlive(kept)
}

func TestAppendJSON(t *testing.T) {
	dict := starlark.NewDict(2)
	_ = dict.SetKey(starlark.String("z"), starlark.Tuple{starlark.MakeInt(1)})
	_ = dict.SetKey(starlark.String("a"), starlark.Float(0.1))
	set := starlark.NewSet(1)
	_ = set.Insert(starlark.MakeInt(3))
	for _, test := range []struct {
		v    Value
		want string
	}{
		{starlark.None, `null`},
		{Missing, `null`},
		{starlark.False, `false`},
		{starlark.MakeInt(-5), `-5`},
		{starlark.MakeBigInt(new(big.Int).Lsh(big.NewInt(1), 100)), `1267650600228229401496703205376`},
		{starlark.Float(2), `2`},
		{starlark.Float(math.Copysign(0, -1)), `0`},
		{starlark.Float(0.1), `0.1`},
		{starlark.Float(1e-6), `0.000001`},
		{starlark.Float(1e-7), `1e-7`},
		{starlark.Float(1e-10), `1e-10`},
		{starlark.Float(1.5e-107), `1.5e-107`},
		{starlark.Float(1 << 53), `9007199254740992`},
		{starlark.Float(1e16), `1e+16`},
		{starlark.Float(-1e21), `-1e+21`},
		{starlark.String("a\"\\\n\r\t\x01<>&\u2028ä\xff"), `"a\"\\\n\r\t\u0001<>&` + "\u2028" + `ä�"`},
		{dict, `{"z":[1],"a":0.1}`},
		{set, `[3]`},
		{NewTime(clock), `"2026-01-02T08:04:05Z"`},
		{NewRecord(Field{"b", Missing}, Field{"a", NewList(nil)}), `{"b":null,"a":[]}`},
		{NewLazy("agent", testFields{}), `{"id":"a-1","index":1}`},
	} {
		b, err := AppendJSON([]byte("x"), test.v)
		if err != nil {
			t.Errorf("%s: %v", test.v, err)
		} else if string(b) != "x"+test.want {
			t.Errorf("%s = %s, want x%s", test.v, b, test.want)
		}
	}
}

func TestWhatIsNotData(t *testing.T) {
	bad := starlark.NewDict(1)
	_ = bad.SetKey(starlark.MakeInt(1), starlark.None)
	self := starlark.NewList(nil)
	_ = self.Append(self)
	shared := Value(starlark.NewList(nil))
	for range 60 {
		shared = starlark.NewList([]Value{shared, shared})
	}
	for _, test := range []struct {
		v    Value
		want string
	}{
		{starlark.Float(math.NaN()), `NaN is not a number that data can hold`},
		{starlark.Tuple{starlark.Float(math.Inf(-1))}, `in 0: -Inf is not a number that data can hold`},
		{bad, `a dict with the key 1 is not data (the keys must be strings)`},
		{starlark.Bytes("x"), `bytes is not data`},
		{starlark.Universe["len"], `builtin_function_or_method is not data`},
		{self, `nested deeper than 200 levels, or contains itself`},
		{shared, ``},
		{starlark.MakeBigInt(new(big.Int).Lsh(big.NewInt(1), maxDataBits)), `an int of 32769 bits`},
		{NewLazy("agent", testFields{err: errors.New("gone")}), `in id: gone`},
	} {
		if _, err := AppendJSON(nil, test.v); err == nil || test.want != "" && err.Error() != test.want {
			t.Errorf("AppendJSON(%.40s): got error %v, want %s", test.v.Type(), err, test.want)
		}
		if _, err := Data(test.v); err == nil || test.want != "" && err.Error() != test.want {
			t.Errorf("Data(%.40s): got error %v, want %s", test.v.Type(), err, test.want)
		}
	}
}

func TestSharedDataCannotGrowWithoutBound(t *testing.T) {
	v := mustDecode(t, `{"text": "0123456789"}`)
	for i := range 60 {
		next, err := Data(NewRecord(Field{"a", v}, Field{"b", v}))
		if errors.Is(err, meter.ErrTooBig) {
			if i < 10 {
				t.Errorf("refused after %d doublings", i)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		v = next
	}
	t.Error("60 doublings were accepted")
}

func TestText(t *testing.T) {
	for _, test := range []struct {
		v    Value
		want string
	}{
		{starlark.String("a\"b"), `a"b`},
		{starlark.True, `true`},
		{starlark.MakeInt(3), `3`},
		{starlark.Float(100), `100`},
		{starlark.Float(2.50), `2.5`},
		{starlark.None, ``},
		{Missing, ``},
		{NewTime(clock), `2026-01-02T08:04:05Z`},
		{starlark.Tuple{starlark.String("x"), starlark.None}, `["x",null]`},
		{NewRecord(Field{"a", starlark.Float(1)}), `{"a":1}`},
	} {
		if got, err := Text(test.v); err != nil || got != test.want {
			t.Errorf("Text(%s) = %q, %v, want %q", test.v, got, err, test.want)
		}
	}
	if _, err := Text(starlark.Universe["len"]); err == nil {
		t.Error("a function has a text")
	}
}

// values generates values that a script can return.
func values(depth int) *rapid.Generator[Value] {
	scalar := rapid.OneOf(
		rapid.Just(Value(starlark.None)),
		rapid.Just(Missing),
		rapid.Map(rapid.Bool(), func(b bool) Value { return starlark.Bool(b) }),
		rapid.Map(rapid.Int64(), func(n int64) Value { return starlark.MakeInt64(n) }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 30), func(b []byte) Value {
			return starlark.MakeBigInt(new(big.Int).SetBytes(b))
		}),
		rapid.Map(rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }),
			func(f float64) Value { return starlark.Float(f) }),
		rapid.Map(rapid.IntRange(-1e6, 1e6), func(n int) Value { return starlark.Float(n) }),
		rapid.Map(rapid.String(), func(s string) Value { return starlark.String(s) }),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) Value { return starlark.String(b) }),
		rapid.Map(rapid.Int64Range(0, 4e9), func(n int64) Value { return NewTime(time.Unix(n, n%1e9).UTC()) }),
	)
	if depth == 0 {
		return scalar
	}
	inner := rapid.Deferred(func() *rapid.Generator[Value] { return values(depth - 1) })
	names := rapid.OneOf(rapid.StringMatching(`[a-c]`), rapid.String())
	list := rapid.SliceOfN(inner, 0, 5)
	return rapid.OneOf(scalar,
		rapid.Map(list, func(l []Value) Value { return starlark.NewList(l) }),
		rapid.Map(list, func(l []Value) Value { return starlark.Tuple(l) }),
		rapid.Custom(func(t *rapid.T) Value {
			d := new(starlark.Dict)
			for _, v := range list.Draw(t, "values") {
				if err := d.SetKey(starlark.String(names.Draw(t, "key")), v); err != nil {
					t.Fatal(err)
				}
			}
			return d
		}),
		rapid.Custom(func(t *rapid.T) Value {
			var fields []Field
			for _, v := range rapid.SliceOfN(inner, 0, 20).Draw(t, "values") {
				fields = append(fields, Field{names.Draw(t, "name"), v})
			}
			return NewRecord(fields...)
		}),
	)
}

// TestDataRoundTrips checks the rule that resuming relies on: data converted in memory and data written to the
// journal and read back are the same, types included, and stay the same from then on.
func TestDataRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		text, err := AppendJSON(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(text) {
			t.Fatalf("encoding/json does not read %s", text)
		}
		read, err := DecodeJSON(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		data, err := Data(v)
		if err != nil {
			t.Fatal(err)
		}
		if !identical(read, data) {
			t.Fatalf("read back %s, converted %s", read, data)
		}
		again, err := AppendJSON(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, again) {
			t.Fatalf("written again: %s, first %s", again, text)
		}
		twice, err := Data(data)
		if err != nil || !identical(twice, data) {
			t.Fatalf("converted twice: %s, %v, once %s", twice, err, data)
		}
	})
}

// identical compares values including number types and the order of names, and requires frozen data.
func identical(x, y Value) bool {
	switch x := x.(type) {
	case *starlark.List:
		y, ok := y.(*starlark.List)
		if !ok || x.Len() != y.Len() {
			return false
		}
		for i := range x.Len() {
			if !identical(x.Index(i), y.Index(i)) {
				return false
			}
		}
		return true
	case *Record:
		y, ok := y.(*Record)
		if !ok || x.Len() != y.Len() {
			return false
		}
		for i := range x.Len() {
			if x.At(i).Name != y.At(i).Name || !identical(x.At(i).Value, y.At(i).Value) {
				return false
			}
		}
		return true
	}
	return fmt.Sprintf("%T", x) == fmt.Sprintf("%T", y) && x.String() == y.String()
}

type testFields struct{ err error }

func (f testFields) Names() []string { return []string{"id", "index"} }

func (f testFields) Field(name string) (Value, error) {
	switch name {
	case "id":
		return starlark.String("a-1"), f.err
	case "index":
		return starlark.MakeInt(1), f.err
	}
	return nil, nil
}
