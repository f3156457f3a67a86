package value

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
	"pgregory.net/rapid"
)

func TestRecord(t *testing.T) {
	list := starlark.NewList([]Value{starlark.MakeInt(1)})
	r := NewRecord(
		Field{"a", starlark.MakeInt(1)}, Field{"b", list}, Field{"a", starlark.MakeInt(2)},
	)
	if got, want := r.String(), `{"a": 2, "b": [1]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := list.Append(starlark.None); err == nil {
		t.Error("the contents of a record can be changed")
	}
	if v, ok := r.Field("a"); !ok || v != starlark.MakeInt(2) {
		t.Errorf("a is %v, %v", v, ok)
	}
	if v, ok := r.Field("c"); ok {
		t.Errorf("c is %v", v)
	}
	if got := r.Names(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("names are %v", got)
	}
	var all []string
	for name, v := range r.All() {
		all = append(all, name+"="+v.String())
		if name == "b" {
			break
		}
	}
	if !slices.Equal(all, []string{"a=2", "b=[1]"}) {
		t.Errorf("all are %v", all)
	}
	if f := r.At(1); f.Name != "b" || f.Value != Value(list) {
		t.Errorf("the second field is %v", f)
	}
	if _, err := r.Hash(); err == nil {
		t.Error("a record can be a key")
	}
	if r.Truth() != true || new(Record).Truth() != false || new(Record).Len() != 0 {
		t.Error("a record is true if it has fields")
	}
	if v, ok := new(Record).Field("a"); ok {
		t.Errorf("a of an empty record is %v", v)
	}
	if got := new(Record).String(); got != "{}" {
		t.Errorf("an empty record is %s", got)
	}
	// dir sorts the names it receives, so it must get a copy.
	if _, err := starlark.Universe["dir"].(*starlark.Builtin).CallInternal(nil,
		starlark.Tuple{NewRecord(Field{"z", list}, Field{"a", list})}, nil); err != nil {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a shape takes the wrong number of values")
		}
	}()
	NewShape("a", "b").Record(starlark.None)
}

func TestRecordsCompare(t *testing.T) {
	one, two := starlark.MakeInt(1), starlark.MakeInt(2)
	x := NewRecord(Field{"a", one}, Field{"b", two})
	for _, test := range []struct {
		y    Value
		want bool
	}{
		{NewRecord(Field{"b", two}, Field{"a", starlark.Float(1)}), true},
		{NewRecord(Field{"b", two}, Field{"a", two}), false},
		{NewRecord(Field{"a", one}), false},
		{NewRecord(Field{"a", one}, Field{"c", two}), false},
		{NewLazy("record", testFields{}), false},
		{starlark.None, false},
	} {
		if same, err := starlark.Equal(x, test.y); err != nil || same != test.want {
			t.Errorf("%s == %s is %v, %v", x, test.y, same, err)
		}
	}
	if _, err := starlark.Compare(syntax.LT, x, x); err == nil {
		t.Error("records have an order")
	}
}

// TestRecordIsAnOrderedMap compares records of all widths with the obvious implementation.
func TestRecordIsAnOrderedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,2}`), 0, 40).Draw(t, "names")
		var fields []Field
		var order []string
		values := map[string]Value{}
		for i, name := range names {
			if _, ok := values[name]; !ok {
				order = append(order, name)
			}
			values[name] = starlark.MakeInt(i)
			fields = append(fields, Field{name, starlark.MakeInt(i)})
		}
		r := NewRecord(fields...)
		if !slices.Equal(r.Names(), order) {
			t.Fatalf("names are %v, want %v", r.Names(), order)
		}
		for _, name := range append(names, "nothing", "") {
			v, ok := r.Field(name)
			if want, has := values[name]; ok != has || v != want {
				t.Fatalf("%s is %v, %v, want %v", name, v, ok, want)
			}
		}
	})
}

func TestLazyAsData(t *testing.T) {
	data, err := Data(NewLazy("agent", testFields{}))
	if err != nil || !identical(data, mustDecode(t, `{"id": "a-1", "index": 1}`)) {
		t.Errorf("got %v, %v", data, err)
	}
}

func TestLongTextsOfObjectsAreCutOff(t *testing.T) {
	v := Value(starlark.String(strings.Repeat("x", 1000)))
	for range 20 {
		v = NewRecord(Field{"a", v}, Field{"b", v})
	}
	if n := len(v.String()); n < 1<<19 || n > 2<<20 {
		t.Errorf("the text has %d bytes", n)
	}
}

func TestTime(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	at := func(hour int, loc *time.Location) Value {
		return NewTime(time.Date(2026, 3, 1, hour, 30, 15, 5e8, loc))
	}
	if got, want := at(8, zone).String(), "2026-03-01T08:30:15.5+02:00"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// The same time in two zones is equal, and the same key.
	if same, err := starlark.Equal(at(8, zone), at(6, time.UTC)); !same || err != nil {
		t.Errorf("the same time compares as %v, %v", same, err)
	}
	d := starlark.NewDict(1)
	if err := d.SetKey(at(8, zone), starlark.True); err != nil {
		t.Fatal(err)
	}
	if _, found, err := d.Get(at(6, time.UTC)); !found || err != nil {
		t.Errorf("the same time is found: %v, %v", found, err)
	}
	for day, want := range []int{6, 0, 1, 2, 3, 4, 5, 6} { // 1 March 2026 is a Sunday
		v, err := NewTime(time.Date(2026, 3, 1+day, 0, 0, 0, 0, time.UTC)).Attr("weekday")
		if err != nil || v != starlark.MakeInt(want) {
			t.Errorf("weekday %d is %v, %v", day, v, err)
		}
	}
}

// TestRooms makes more records than there is room for, twice.
func TestRooms(t *testing.T) {
	shape, wide := NewShape("a", "b"), NewShape("a", "b", "c", "d")
	var rooms Rooms
	for pass := range 2 {
		var all []*Record
		for i := range 2 * len(rooms.rooms) {
			of := starlark.MakeInt(pass*100 + i)
			all = append(all, rooms.Of(shape, of, starlark.String("x")), rooms.Of(wide, of, of, of, of))
		}
		for i, r := range all {
			if v, ok := r.Field("a"); !ok || v.String() != starlark.MakeInt(pass*100+i/2).String() {
				t.Errorf("pass %d: record %d has %v", pass, i, v)
			}
			if i%2 == 0 && r.Len() != 2 || i%2 == 1 && r.Len() != 4 {
				t.Errorf("pass %d: record %d has %d fields", pass, i, r.Len())
			}
		}
		first := all[0]
		if rooms.Clear(); pass == 0 && first.Len() != 0 {
			t.Errorf("a record has %d fields after its room was cleared", first.Len())
		}
	}
	if r := (*Rooms)(nil).Of(shape, starlark.None, starlark.None); r.Len() != 2 {
		t.Errorf("a record without room has %d fields", r.Len())
	}
}
