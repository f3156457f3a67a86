package database

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

func TestParseQuery(t *testing.T) {
	for _, tt := range []struct {
		text   string
		reads  bool
		params int
		arrays []int
	}{
		{text: "select 1", reads: true, params: 0, arrays: nil},
		{text: "  -- look\n/* a /* b */ $7 */ SELECT $1, $2;; ", reads: true, params: 2, arrays: nil},
		{text: "((select 1) union select 2)", reads: true, params: 0, arrays: nil},
		{text: "values (1.5e3, 0x1f, 1)", reads: true, params: 0, arrays: nil},
		{text: "table users", reads: true, params: 0, arrays: nil},
		{text: "show timezone", reads: true, params: 0, arrays: nil},
		{text: "with x as (select 1) select * from x", reads: true, params: 0, arrays: nil},
		{text: "with x as (delete from y returning *) select * from x", reads: false, params: 0, arrays: nil},
		{text: "explain analyze insert into x values (1)", reads: false, params: 0, arrays: nil},
		{text: "select * into y from x", reads: false, params: 0, arrays: nil},
		{text: "select * from x for update", reads: false, params: 0, arrays: nil},
		{text: "select nextval('s')", reads: false, params: 0, arrays: nil},
		{text: `select 'insert', "update", $$delete from x; $9$$, $q$ $$ ; $q$, e'\'; merge', 'it''s; into'`, reads: true, params: 0, arrays: nil},
		{text: "select a$1 from b where c = $1", reads: true, params: 1, arrays: nil},
		{text: "select 1 -- insert", reads: true, params: 0, arrays: nil},
		{text: "insert into x values ($3, $1)", reads: false, params: 3, arrays: nil},
		{text: "update x set a = $1", reads: false, params: 1, arrays: nil},
		{text: "call p($1)", reads: false, params: 1, arrays: nil},
		{text: "select $1::text[], $2::int, $3::double precision[], $4::numeric(10, 2)[], $5::public.kind[], cast($6 as int[]), $7", reads: true, params: 7, arrays: []int{0, 2, 3, 4, 5}},
		{text: "select $1 :: timestamp with time zone [], $2::int array", reads: true, params: 2, arrays: []int{0, 1}},
		{text: "select * from x where a = any($1) or b <> all ( $2 ) or c = some($3::int[]) or d in ($4)", reads: true, params: 4, arrays: []int{0, 1, 2}},
		{text: "select $1::jsonb, x[1], ($2)[1]", reads: true, params: 2, arrays: nil},
		{text: "sélect", reads: false, params: 0, arrays: nil},
	} {
		q, err := ParseQuery(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		var arrays []int
		for i := range q.Params() {
			if q.Array(i) {
				arrays = append(arrays, i)
			}
		}
		if q.Reads() != tt.reads || q.Params() != tt.params || !slices.Equal(arrays, tt.arrays) {
			t.Errorf("%s: reads %t, %d parameters, arrays %v; want %t, %d, %v", tt.text, q.Reads(), q.Params(), arrays, tt.reads, tt.params, tt.arrays)
		}
	}
}

func TestQueriesWithMistakes(t *testing.T) {
	for _, tt := range []struct{ text, says string }{
		{text: "", says: "no statement"},
		{text: " -- nothing\n ;", says: "no statement"},
		{text: "select 1; drop table users", says: "more than one statement"},
		{text: "begin", says: "cannot begin"},
		{text: "SET search_path = x", says: "cannot set"},
		{text: "copy x from stdin", says: "cannot copy"},
		{text: "select 'a", says: "the quote ' is not closed"},
		{text: `select "a""`, says: `the quote " is not closed`},
		{text: "select $a$ $$ ", says: "the quote $a$ is not closed"},
		{text: "select 1 /* /* */", says: "comment /* is not closed"},
		{text: `select e'\'`, says: "the quote ' is not closed"},
		{text: "select $0", says: "$0 is not a parameter"},
		{text: "select $99999", says: "$99999 is not a parameter"},
		{text: "select $99999999999999999999", says: "is not a parameter"},
		{text: "select '${agent.id}'", says: "would let data become SQL"},
		{text: "select " + strings.Repeat("1,", maxQuery), says: "longer than 1 MB"},
	} {
		_, err := ParseQuery(tt.text)
		mistake, ok := errors.AsType[*engine.FieldError](err)
		if !ok || !strings.Contains(mistake.Problem, tt.says) {
			t.Errorf("%.40s: %v; want %s", tt.text, err, tt.says)
		}
	}
}

// FuzzQuery checks that the parser stays within any text.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"select $1::text[]", "$$a$$ 'b' \"c\" e'\\'' /*/**/*/ -- x\n;", "any($1) cast($2 as int[])", "$", "e'", "$a", "é$1$"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseQuery(text)
		if err == nil && (q.Params() > mostParams || q.Array(q.Params())) {
			t.Errorf("%q: %d parameters", text, q.Params())
		}
	})
}

// TestArraysReadBack checks that written arrays are read back unchanged.
func TestArraysReadBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := rapid.SliceOf(rapid.String()).Draw(r, "texts")
		text := []byte("{")
		for i, s := range want {
			if i > 0 {
				text = append(text, ',')
			}
			text = AppendArrayElement(text, s)
		}
		got, err := appendArray(nil, string(text)+"}", appendText)
		if err != nil {
			r.Fatal(err)
		}
		var back []string
		if err := json.Unmarshal(got, &back); err != nil || !slices.Equal(back, want) {
			r.Errorf("%q became %q, %v", want, back, err)
		}
	})
}

// FuzzArray checks that arrays always become valid JSON.
func FuzzArray(f *testing.F) {
	for _, seed := range []string{"{}", "{1,NULL}", `{"a\"b",{c}}`, "[2:3]={1,2}", "{{{{{{{1}}}}}}}", "{,}", "{1,", "[", `{"a`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := appendArray(nil, text, appendText)
		if err == nil && utf8.ValidString(text) && !json.Valid(got) {
			t.Errorf("%q became %s", text, got)
		}
	})
}

// FuzzValue checks that every value of every type becomes valid JSON.
func FuzzValue(f *testing.F) {
	for _, kind := range []uint32{16, 17, 20, 114, 700, 1007, 1114, 1184, 1700, 1231, 3802} {
		for _, text := range []string{"", "1", "-1.50", "1e-7", "nan", `{"a":1}`, "{1,2}", `\x0z`, "2026-01-02 08:00:00+00", "12.", "-", "00012", "+", "e"} {
			f.Add(kind, text)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint32, text string) {
		if got := appendValue(nil, kind, text); !json.Valid(got) {
			t.Errorf("type %d, %q became %s", kind, text, got)
		}
	})
}
