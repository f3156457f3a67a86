package value

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

func products(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `%s{"id": %d, "name": "Product number %d", "price": %d.5, "stock": %d, "category": "books"}`,
			map[bool]string{true: "[", false: ", "}[i == 0], i, i, i*3+1, i%4)
	}
	return b.String() + "]"
}

func mustDecode(tb testing.TB, text string) Value {
	tb.Helper()
	v, err := DecodeJSON([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

var benchDocuments = []struct {
	name string
	text []byte
}{
	{"one product", []byte(`{"id": 17, "name": "A product", "price": 17.5, "stock": 3, "category": "books"}`)},
	{"products", []byte(products(1000))},
	{"texts", bytes.ReplaceAll([]byte(products(1000)), []byte("Product number"), []byte("Ein schönes \\\"Produkt\\\" "))},
}

func BenchmarkDecodeJSON(b *testing.B) {
	for _, doc := range benchDocuments {
		b.Run(doc.name, func(b *testing.B) {
			b.SetBytes(int64(len(doc.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeJSON(doc.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	for _, doc := range benchDocuments {
		b.Run(doc.name, func(b *testing.B) {
			v := mustDecode(b, string(doc.text))
			var buf []byte
			b.SetBytes(int64(len(doc.text)))
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if buf, err = AppendJSON(buf[:0], v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecodeJSONLater reads one field of one object of a list, as most steps do.
func BenchmarkDecodeJSONLater(b *testing.B) {
	text := products(8)
	for _, read := range []struct {
		name string
		f    func([]byte) (Value, error)
	}{{"all", DecodeJSON}, {"used", DecodeJSONLater}} {
		b.Run(read.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				v, err := read.f([]byte(text))
				if err != nil {
					b.Fatal(err)
				}
				if _, ok := v.(*starlark.List).Index(0).(*Record).Field("id"); !ok {
					b.Fatal("no id")
				}
			}
		})
	}
}
