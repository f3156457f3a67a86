package storage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// emitting is a run whose session emitted events; each text is a name and data.
func emitting(events ...string) *reader {
	s := engine.SessionRow{}
	for _, e := range events {
		name, data, _ := strings.Cut(e, " ")
		s.Events = append(s.Events, engine.Event{Name: name, Data: []byte(data)})
	}
	return &reader{sessions: []engine.SessionRow{s}}
}

// TestEventFields checks the columns, their types and the cells of events.
func TestEventFields(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		want   string // the fields of the file, as JSON Lines
	}{
		"types": {
			[]string{`a {"i":1,"f":1,"b":true,"s":"x\"y","n":null}`, `a {"i":-2,"f":1.5,"b":false,"s":"","n":null}`},
			`{"i":1,"f":1,"b":true,"s":"x\"y","n":""} {"i":-2,"f":1.5,"b":false,"s":"","n":""}`,
		},
		"mixed types": {[]string{`a {"x":1}`, `a {"x":"one"}`, `a {"x":null}`}, `{"x":1} {"x":"one"} {"x":null}`},
		"nested":      {[]string{`a {"x":{"y":[1, {"z":"]}"}]}}`}, `{"x":{"y":[1, {"z":"]}"}]}}`},
		"no objects":  {[]string{`a 3`, `a`, `a null`, `a 4.5`}, `{"value":3} {"value":null} {"value":null} {"value":4.5}`},
		"white space": {[]string{"a { \"x\" : 1 ,\n\"y\":\"b\" }", `a { }`}, `{"x":1,"y":"b"} {"x":null,"y":""}`},
		"names taken": {[]string{`a {"step":1,"Step":2,"a b":3,"a-b":4,"7":5,"":6}`}, `{"data_step":1,"data_Step_2":2,"a_b":3,"data_a_b":4,"_7":5,"_":6}`},
		"escaped":     {[]string{`a {"\u0061":1,"a":2}`}, `{"a":2}`},
		"damaged":     {[]string{`a {"x":1`}, `{"value":"{\"x\":1"}`},
		"large":       {[]string{`a {"x":12345678901234567890,"y":1e999}`}, `{"x":12345678901234567890,"y":1e999}`},
	} {
		var got []string
		for line := range strings.Lines(string(written(t, JSONL, "events", emitting(c.events...)))) {
			_, fields, ok := strings.Cut(line, `T00:00:00.000000Z",`)
			if !ok {
				t.Fatalf("%s: %s", name, line)
			}
			got = append(got, "{"+strings.TrimSuffix(fields, "\n"))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, text, c.want)
		}
		for _, f := range []Format{CSV, Parquet} {
			if len(written(t, f, "events", emitting(c.events...))) == 0 {
				t.Errorf("%s: %s is empty", name, f)
			}
		}
	}
}

// TestManyFields checks that fields past the limit are in the last column.
func TestManyFields(t *testing.T) {
	data := map[string]int{}
	for i := range mostFields + 3 {
		data[fmt.Sprintf("f%03d", i)] = i
	}
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	line := string(written(t, JSONL, "events", emitting("a "+string(text))))
	if want := `"f199":199,"more":{"f200":200,"f201":201,"f202":202}}`; !strings.Contains(line, want) {
		t.Errorf("got %s, want %s at the end", line, want)
	}
}

// TestFieldsOfARunInProgress checks that a field that appears during an export is not lost.
func TestFieldsOfARunInProgress(t *testing.T) {
	r := emitting(`a {"x":1}`)
	r.record.InProgress = true
	found, err := surveyed(t.Context(), r, "r")
	if err != nil {
		t.Fatal(err)
	}
	r = emitting(`a {"x":1}`, `a {"x":"text","y":2}`)
	var out bytes.Buffer
	o := openTable{sessionTable: sessionTables[1], fields: found.all}
	if err := o.open(Parquet, &out, &names); err != nil {
		t.Fatal(err)
	}
	if err := exportSessions(t.Context(), r, "r", names, []openTable{o}); err != nil {
		t.Fatal(err)
	}
	rows := parquetCells(t, out.Bytes())
	if got := rows[2][len(rows[2])-1]; got != `{"x":"text","y":2}` {
		t.Errorf("got %q in %v", got, rows)
	}
}

// TestEventFiles checks when events have files of their own.
func TestEventFiles(t *testing.T) {
	for _, c := range []struct {
		events []string
		want   string
	}{
		{[]string{`a {"x":1}`, `b {"x":2}`}, ""},
		{[]string{`a {"x":1}`, `a {"y":2}`}, ""},
		{[]string{`a/b {"x":1}`, `A-b {"y":2}`}, "events_a_b events_a_b_2"},
	} {
		found, err := surveyed(t.Context(), emitting(c.events...), "r")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(fileNames(found.apart()), " "); got != c.want {
			t.Errorf("%v: got %q, want %q", c.events, got, c.want)
		}
	}
}
