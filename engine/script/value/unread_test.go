package value

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.starlark.net/starlark"
)

// TestFieldsAreReadOnce has several goroutines use the same records, as the steps of a group do. All see the same values.
func TestFieldsAreReadOnce(t *testing.T) {
	const users = 8
	for range 20 {
		v, err := DecodeJSONLater([]byte(products(50)))
		if err != nil {
			t.Fatal(err)
		}
		list := v.(*starlark.List)
		var (
			all  sync.WaitGroup
			seen [users][]Value
		)
		for u := range users {
			all.Go(func() {
				for i := range list.Len() {
					name, _ := list.Index(i).(*Record).Field("name")
					seen[u] = append(seen[u], name)
				}
			})
		}
		all.Wait()
		for u := range users {
			for i, name := range seen[u] {
				if name == nil || name != seen[0][i] {
					t.Fatalf("user %d sees %v as name %d, the first %v", u, name, i, seen[0][i])
				}
			}
		}
	}
}

// TestUnusedFieldsAreNotRead checks that a document of many objects allocates for those that are used only.
func TestUnusedFieldsAreNotRead(t *testing.T) {
	text := []byte(products(1000))
	read := func(decode func([]byte) (Value, error)) float64 {
		return testing.AllocsPerRun(20, func() {
			v, err := decode(text)
			if err != nil {
				t.Fatal(err)
			}
			if id, _ := v.(*starlark.List).Index(999).(*Record).Field("id"); id != starlark.MakeInt(999) {
				t.Fatalf("the last id is %v", id)
			}
		})
	}
	if all, used := read(DecodeJSON), read(DecodeJSONLater); used > all/4 {
		t.Errorf("%v allocations for all fields, %v for one", all, used)
	}
}

// TestAnEmptyObjectOfManySpaces checks that an object without fields may be of any length.
func TestAnEmptyObjectOfManySpaces(t *testing.T) {
	v, err := DecodeJSONLater([]byte("[{" + strings.Repeat(" ", 2*shortObject) + "}]"))
	if err != nil {
		t.Fatal(err)
	}
	if r := v.(*starlark.List).Index(0).(*Record); r.Len() != 0 || len(r.Names()) != 0 || r.Truth() {
		t.Errorf("it has %v", r)
	}
}

// TestLongNamesAreNotKept checks that a decoder keeps a small part of a document only.
func TestLongNamesAreNotKept(t *testing.T) {
	d := new(decoder)
	for i := range 1000 {
		d.data, d.at, d.left = fmt.Appendf(nil, `{"%d": 0, "%s": 0}`, i, strings.Repeat("x", 1<<16)), 0, maxWeight
		if _, err := d.value(0, 0); err != nil {
			t.Fatal(err)
		}
	}
	size := 0
	for _, shape := range d.shapes {
		if shape != nil {
			size += len(strings.Join(shape.names, ""))
		}
	}
	if size > 1<<20 {
		t.Errorf("a decoder keeps %d bytes", size)
	}
}
