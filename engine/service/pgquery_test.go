package service

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
		{"select 1", true, 0, nil},
		{"  -- look\n/* a /* b */ $7 */ SELECT $1, $2;; ", true, 2, nil},
		{"((select 1) union select 2)", true, 0, nil},
		{"values (1.5e3, 0x1f, 1)", true, 0, nil},
		{"table users", true, 0, nil},
		{"show timezone", true, 0, nil},
		{"with x as (select 1) select * from x", true, 0, nil},
		{"with x as (delete from y returning *) select * from x", false, 0, nil},
		{"explain analyze insert into x values (1)", false, 0, nil},
		{"select * into y from x", false, 0, nil},
		{"select * from x for update", false, 0, nil},
		{"select nextval('s')", false, 0, nil},
		{`select 'insert', "update", $$delete from x; $9$$, $q$ $$ ; $q$, e'\'; merge', 'it''s; into'`, true, 0, nil},
		{"select a$1 from b where c = $1", true, 1, nil},
		{"select 1 -- insert", true, 0, nil},
		{"insert into x values ($3, $1)", false, 3, nil},
		{"update x set a = $1", false, 1, nil},
		{"call p($1)", false, 1, nil},
		{"select $1::text[], $2::int, $3::double precision[], $4::numeric(10, 2)[], $5::public.kind[], cast($6 as int[]), $7", true, 7, []int{0, 2, 3, 4, 5}},
		{"select $1 :: timestamp with time zone [], $2::int array", true, 2, []int{0, 1}},
		{"select * from x where a = any($1) or b <> all ( $2 ) or c = some($3::int[]) or d in ($4)", true, 4, []int{0, 1, 2}},
		{"select $1::jsonb, x[1], ($2)[1]", true, 2, nil},
		{"sélect", false, 0, nil},
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
		{"", "no statement"},
		{" -- nothing\n ;", "no statement"},
		{"select 1; drop table users", "more than one statement"},
		{"begin", "cannot begin"},
		{"SET search_path = x", "cannot set"},
		{"copy x from stdin", "cannot copy"},
		{"select 'a", "the quote ' is not closed"},
		{`select "a""`, `the quote " is not closed`},
		{"select $a$ $$ ", "the quote $a$ is not closed"},
		{"select 1 /* /* */", "comment /* is not closed"},
		{`select e'\'`, "the quote ' is not closed"},
		{"select $0", "$0 is no parameter"},
		{"select $99999", "$99999 is no parameter"},
		{"select $99999999999999999999", "is no parameter"},
		{"select '${agent.id}'", "would let data become SQL"},
		{"select " + strings.Repeat("1,", maxQuery), "longer than 1 MB"},
	} {
		_, err := ParseQuery(tt.text)
		mistake, ok := errors.AsType[*engine.FieldError](err)
		if !ok || !strings.Contains(mistake.Problem, tt.says) {
			t.Errorf("%.40s: %v; want %s", tt.text, err, tt.says)
		}
	}
}

// FuzzQuery is that no text takes the reader too far.
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

// TestArraysReadBack is that what is written as an array is read as what it was.
func TestArraysReadBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := rapid.SliceOf(rapid.String()).Draw(r, "texts")
		text := []byte("{")
		for i, s := range want {
			if i > 0 {
				text = append(text, ',')
			}
			text = AppendElement(text, s)
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

// FuzzArray is that what is read of an array is always JSON.
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

// FuzzValue is that every value of every type becomes JSON.
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
