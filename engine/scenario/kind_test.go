package scenario

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/script/value"
	"pgregory.net/rapid"
)

// TestKindOfAColumn checks that a column's type is the narrowest that fits all its cells, in any order.
func TestKindOfAColumn(t *testing.T) {
	samples := []string{"true", "False", "1", "-20", "1.5", "2e3", "x", "007", "99999999999999999999", ""}
	rapid.Check(t, func(t *rapid.T) {
		column := rapid.SliceOfN(rapid.SampledFrom(samples), 1, 12).Draw(t, "cells")
		want := people.Bool
		for !fitsAll(want, column) {
			want++
		}
		seed := rapid.Uint64().Draw(t, "order")
		for range 3 {
			c := &cells{found: map[string]uint16{}}
			for _, cell := range column {
				if cell != "" && !c.see(cell) {
					t.Fatal("a cell is rejected although the kind is not set")
				}
			}
			if got := c.kind; got != want {
				t.Fatalf("%q: got %s, want %s", column, people.KindNames[got], people.KindNames[want])
			}
			rand.New(rand.NewPCG(seed, 0)).Shuffle(len(column), func(i, j int) { column[i], column[j] = column[j], column[i] })
		}
	})
}

func fitsAll(k people.Kind, column []string) bool {
	return !slices.ContainsFunc(column, func(cell string) bool { return cell != "" && !k.Fits(cell) })
}

// TestMistakesStandWhereTheyAre puts one wrong cell anywhere into a file and checks the reported position.
func TestMistakesStandWhereTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(1, 8).Draw(t, "rows"), rapid.IntRange(1, 4).Draw(t, "columns")
		badRow, badColumn := rapid.IntRange(0, rows-1).Draw(t, "row"), rapid.IntRange(0, columns-1).Draw(t, "column")
		var text bytes.Buffer
		text.WriteString(rapid.SampledFrom([]string{"", byteOrderMark}).Draw(t, "mark"))
		w := csv.NewWriter(&text)
		w.UseCRLF = rapid.Bool().Draw(t, "crlf")
		header, types := []string{"note"}, []string{}
		for i := range columns {
			header = append(header, fmt.Sprintf("c%d", i))
			types = append(types, fmt.Sprintf("c%d: int", i))
		}
		_ = w.Write(header)
		for row := range rows {
			record := []string{rapid.SampledFrom([]string{"é", "two\nlines", "a, \"b\"", "x"}).Draw(t, "note")}
			for column := range columns {
				cell := "12"
				if row == badRow && column == badColumn {
					cell = "wrong"
				}
				record = append(record, cell)
			}
			_ = w.Write(record)
		}
		w.Flush()
		before, _, _ := strings.Cut(strings.TrimPrefix(text.String(), byteOrderMark), "wrong")
		line := 1 + strings.Count(before, "\n")
		col := 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
		_, err := read(minimal("population: {from: p.csv, types: {"+strings.Join(types, ", ")+"}}"), map[string]string{"p.csv": text.String()}, nil)
		if want := fmt.Sprintf("p.csv:%d:%d: \"wrong\" is not a whole number", line, col); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Fatalf("got %v, want %s in\n%s", err, want, &text)
		}
	})
}

// TestJSONLRoundTrip checks that values written as JSON lines are read back unchanged.
func TestJSONLRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text bytes.Buffer
		var want []map[string]string
		for range rapid.IntRange(1, 10).Draw(t, "rows") {
			row := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.OneOf(
				rapid.String().AsAny(), rapid.Int().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.Bool().AsAny(),
				rapid.SliceOf(rapid.Int8()).AsAny(), rapid.MapOf(rapid.String(), rapid.Bool()).AsAny(),
			)).Draw(t, "row")
			line, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(line)
			text.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", "\n \t\n"}).Draw(t, "end"))
			shown := map[string]string{}
			for name, x := range row {
				text, err := json.Marshal(x)
				if err != nil {
					t.Fatal(err)
				}
				v, err := value.DecodeJSON(text)
				if err != nil {
					t.Fatal(err)
				}
				shown[name] = v.String()
			}
			want = append(want, shown)
		}
		s, err := read(minimal("population: {from: p.jsonl}"), map[string]string{"p.jsonl": text.String()}, nil)
		if err != nil {
			t.Fatal(told(err))
		}
		if s.Agents != len(want) {
			t.Fatalf("%d agents, want %d in\n%s", s.Agents, len(want), &text)
		}
		for i, row := range want {
			a := newAgent(&s.population, 1, i, nil)
			for _, name := range s.population.table.names {
				v, err := a.Field(name)
				if err != nil {
					t.Fatal(err)
				}
				if shown, ok := row[name]; v.String() != shown && ok || (v == value.Missing) == ok {
					t.Fatalf("row %d, %s: got %s, want %s", i, name, v, shown)
				}
			}
		}
	})
}
