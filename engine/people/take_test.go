package people

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// opened opens a file with a content.
func opened(t testing.TB, name, content string) File {
	t.Helper()
	f, err := Open(t.Context(), name, strings.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// taken takes rows and returns the lines of the result.
func taken(t testing.TB, f File, p *Plan) ([]string, *Drawn) {
	t.Helper()
	d, err := Take(t.Context(), f, p)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(d.Rows), "\n"), "\n"), d
}

// TestInclusion compares how often rows are drawn with the theory of successive weighted draws, which the keys are
// equivalent to (Efraimidis and Spirakis, 2006).
func TestInclusion(t *testing.T) {
	weights := []float64{1, 2, 3, 4, 10}
	const draws = 40_000
	firsts, seconds := make([]int, len(weights)), make([]int, len(weights))
	for seed := range uint64(draws) {
		r := &reservoir{most: 2}
		for row, w := range weights {
			r.offer(keyed{int64(row), rowKey(seed, int64(row), w)})
		}
		rows := r.drawn()
		firsts[rows[0]]++
		seconds[rows[1]]++
	}
	total := 0.0
	for _, w := range weights {
		total += w
	}
	for i, w := range weights {
		first := w / total
		second := 0.0 // after each other row
		for j, v := range weights {
			if j != i {
				second += v / total * w / (total - v)
			}
		}
		for n, want := range map[string]float64{"first": first, "second": second} {
			got := float64(map[string][]int{"first": firsts, "second": seconds}[n][i]) / draws
			if limit := 4.5 * math.Sqrt(want*(1-want)/draws); math.Abs(got-want) > limit {
				t.Errorf("row %d is drawn %s in %.4f of the draws, want %.4f ± %.4f", i, n, got, want, limit)
			}
		}
	}
}

// TestReservoir checks that a reservoir returns the smallest keys in order, whatever order the rows come in.
func TestReservoir(t *testing.T) {
	const rows = 500
	var all []keyed
	for row := range int64(rows) {
		all = append(all, keyed{row, rowKey(3, row/2*2, 1)}) // in pairs of the same key
	}
	var want []int64
	for _, most := range []int{0, 1, 7, rows, rows + 1} {
		r := &reservoir{most: most}
		for i := range all {
			r.offer(all[i*7%rows])
		}
		got := r.drawn()
		if len(got) != min(most, rows) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%d of them: %v does not begin with %v", most, got, want)
		}
		want = got
	}
	for i := 1; i < len(want); i++ {
		if a, b := rowKey(3, want[i-1]/2*2, 1), rowKey(3, want[i]/2*2, 1); a > b || a == b && want[i-1] > want[i] {
			t.Errorf("row %d is before row %d", want[i-1], want[i])
		}
	}
}

// census returns a file of people whose shares are known: two thirds are women, and half of the women but a quarter of the
// men live in the north.
func census(rows int) string {
	var b strings.Builder
	b.WriteString("person,sex,area,age,weight\n")
	for i := range rows {
		sex, north := "female", i/3%2 == 0
		if i%3 == 0 {
			sex, north = "male", i/3%4 == 0
		}
		area := "south"
		if north {
			area = "north"
		}
		fmt.Fprintf(&b, "p%d,%s,%s,%d,%d\n", i, sex, area, 18+i%60, 1+i/12%2)
	}
	return b.String()
}

// TestDrawIsRepeatable checks that a draw depends on nothing but the file and the plan, and that a larger draw extends a
// smaller one.
func TestDrawIsRepeatable(t *testing.T) {
	text := census(3000)
	plan := func(seed uint64, count int) *Plan {
		return &Plan{Count: count, Columns: []Choice{{"id", "person"}, {"age", "age"}}, Sample: &Sample{Seed: seed, Weight: "weight"}}
	}
	ten, d := taken(t, opened(t, "a.csv", text), plan(5, 10))
	again, _ := taken(t, opened(t, "a.csv", text), plan(5, 10))
	twenty, _ := taken(t, opened(t, "a.csv", text), plan(5, 20))
	other, _ := taken(t, opened(t, "a.csv", text), plan(6, 10))
	if !slices.Equal(ten, again) || !slices.Equal(ten, twenty[:11]) || slices.Equal(ten, other) {
		t.Errorf("got %v, again %v, 20 of them %v, with another seed %v", ten, again, twenty, other)
	}
	if want := "10 of 3000 rows of , weighted by weight, seed 5"; d.Report.String() != want {
		t.Errorf("got %q, want %q", d.Report.String(), want)
	}
	lines := strings.Split(text, "\n")
	_, d = taken(t, opened(t, "a.csv", text), &Plan{Count: 7})
	if want := "7 rows of , in its order"; d.Report.String() != want {
		t.Errorf("got %q, want %q", d.Report.String(), want)
	}
	for i := 1; i < len(lines)-1; i++ {
		cells := strings.Split(lines[i], ",")
		lines[i] = fmt.Sprintf(`{"person": %q, "sex": %q, "area": %q, "age": %s, "weight": %s}`, cells[0], cells[1], cells[2], cells[3], cells[4])
	}
	if as, _ := taken(t, opened(t, "a.jsonl", strings.Join(lines[1:], "\n")), plan(5, 10)); !slices.Equal(as, ten) {
		t.Errorf("from JSONL %v, want %v", as, ten)
	}
}

// TestRakedDraw checks that a raked draw has the shares of its targets, within the margin, and that the report says what was
// drawn.
func TestRakedDraw(t *testing.T) {
	plan := &Plan{Count: 2000, Columns: []Choice{{"gender", "sex"}}, Values: map[string]map[string]string{"gender": {"female": "f", "male": "m"}}, Sample: &Sample{
		Seed: 1, Weight: "weight", Targets: []Target{{"gender", []Share{{"m", 490}, {"f", 510}}}, {"area", []Share{{"south", 0.9}, {"north", 0.1}}}},
	}}
	lines, d := taken(t, opened(t, "a.csv", census(120_000)), plan)
	men := 0
	for _, line := range lines[1:] {
		if line == "m" {
			men++
		}
	}
	r := d.Report
	if len(lines) != 2001 || r.Taken != 2000 || r.Eligible != 120_000 || r.Raking == nil || r.Raking.Gap > DefaultTolerance || r.Raking.Lowest >= 1 || r.Raking.Most <= 1 {
		t.Errorf("%d lines, %+v %+v", len(lines), r, r.Raking)
	}
	file := map[string]float64{"m": 1.0 / 3, "f": 2.0 / 3, "north": 2.0/3*0.5 + 1.0/3*0.25, "south": 1 - 2.0/3*0.5 - 1.0/3*0.25}
	want := map[string]float64{"m": 0.49, "f": 0.51, "north": 0.1, "south": 0.9}
	for _, m := range r.Marginals {
		for _, c := range m.Categories {
			if math.Abs(c.File-file[c.Name]) > 0.01 || math.Abs(c.Target-want[c.Name]) > 1e-12 || c.Off() || c.Drawn != float64(c.Count)/2000 {
				t.Errorf("%s %+v", m.Attribute, c)
			}
		}
	}
	if c := r.Marginals[0].Categories[0]; c.Count != men {
		t.Errorf("%d men are reported, and %d were drawn", c.Count, men)
	}
}

// TestRakingIsUnbiased checks over many small draws that the mean of the drawn shares is the target.
func TestRakingIsUnbiased(t *testing.T) {
	f, sum := opened(t, "a.csv", census(6000)), 0.0
	const draws, each = 40, 50
	for seed := range uint64(draws) {
		_, d := taken(t, f, &Plan{Count: each, Columns: []Choice{{"sex", "sex"}}, Sample: &Sample{Seed: seed, Targets: []Target{{"sex", []Share{{"male", 0.6}, {"female", 0.4}}}}}})
		sum += d.Report.Marginals[0].Categories[0].Drawn
	}
	if mean, limit := sum/draws, 4*math.Sqrt(0.6*0.4/(draws*each)); math.Abs(mean-0.6) > limit {
		t.Errorf("%.4f of those drawn are men, want 0.6 ± %.4f", mean, limit)
	}
}

// TestTake checks mapping, conversion, recoding, conditions and counts.
func TestTake(t *testing.T) {
	const people = "id,sex,age,zip,note\na,1,30,01,\"x, \"\"y\"\"\nz\"\nb,2,40.0,02,\nc,,50,03, n\n"
	older := &Condition{[]string{"age"}, func(_ int64, cells []Cell) (bool, error) {
		x, _ := cells[0].Number()
		return x > 35, nil
	}}
	const lined = "\ufeff{\"a\": 1, \"b\": true, \"x\": [1]}\n\n{\"b\": false, \"a\": 1.5, \"c\": \"é\"}\r\n{\"c\": null}\n"
	tests := []struct {
		name, file, content string
		plan                Plan
		want                []string
		types               map[string]Kind
	}{
		{"all", "a.csv", "\ufeff" + people, Plan{Count: -1}, []string{"id,sex,age,zip,note", `a,1,30,01,"x, ""y""`, `z"`, "b,2,40,02,", `c,,50,03," n"`}, map[string]Kind{"sex": Int, "age": Float, "zip": String, "note": String}},
		{"the first", "a.csv", people, Plan{Count: 1, Columns: []Choice{{"zip", "zip"}}}, []string{"zip", "01"}, map[string]Kind{"zip": String}},
		{"none", "a.csv", people, Plan{Columns: []Choice{{"zip", "zip"}}}, []string{"zip"}, map[string]Kind{"zip": String}},
		{
			"renamed, converted, recoded, some of them", "a.csv", people,
			Plan{
				Count: -1, Columns: []Choice{{"id", "zip"}, {"years", "age"}, {"gender", "sex"}}, Types: map[string]Kind{"years": Int},
				Values: map[string]map[string]string{"gender": {"1": "male", "2": "female", "": "unknown"}}, Where: older,
			},
			[]string{"id,years,gender", "02,40,female", "03,50,unknown"},
			map[string]Kind{"years": Int, "gender": String},
		},
		{"recoded to numbers", "a.csv", "a\nlow\nhigh\n", Plan{Count: -1, Types: map[string]Kind{"a": Int}, Values: map[string]map[string]string{"a": {"low": "1", "high": "10"}}}, []string{"a", "1", "10"}, map[string]Kind{"a": Int}},
		{"0 and 1 as bools", "a.csv", "a\n0\n1\n", Plan{Count: -1, Types: map[string]Kind{"a": Bool}}, []string{"a", "false", "true"}, map[string]Kind{"a": Bool}},
		{"an empty cell alone", "a.csv", "a,b\n,1\n2,3\n", Plan{Count: -1, Columns: []Choice{{"a", "a"}}}, []string{"a", `""`, "2"}, map[string]Kind{"a": Int}},
		{"lines", "a.jsonl", lined, Plan{Count: -1, Columns: []Choice{{"a", "a"}, {"b", "b"}, {"c", "c"}}}, []string{"a,b,c", "1,true,", "1.5,false,é", ",,"}, map[string]Kind{"a": Float, "b": Bool, "c": String}},
		{"mixed lines", "a.jsonl", "{\"a\": 1}\n{\"a\": \"01\"}\n{\"a\": true}\n", Plan{Count: -1}, []string{"a", "1", "01", "true"}, map[string]Kind{"a": String}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines, d := taken(t, opened(t, tt.file, tt.content), &tt.plan)
			if !slices.Equal(lines, tt.want) {
				t.Errorf("got %q, want %q", lines, tt.want)
			}
			if fmt.Sprint(d.Types) != fmt.Sprint(tt.types) {
				t.Errorf("types %v, want %v", d.Types, tt.types)
			}
			if rows, err := csv.NewReader(bytes.NewReader(d.Rows)).ReadAll(); err != nil || len(rows) != d.Report.Taken+1 {
				t.Errorf("%d rows, %v; %d were taken", len(rows), err, d.Report.Taken)
			}
		})
	}
}

// TestMistakes checks the errors of bad files and plans, and where they are.
func TestMistakes(t *testing.T) {
	const small = "id,sex,w\na,m,1\nb,f,0\nc,f,2\n"
	target := func(name string, shares ...Share) *Sample { return &Sample{Targets: []Target{{name, shares}}} }
	weighted := &Sample{Weight: "w"}
	all := Plan{Count: -1}
	never := &Condition{nil, func(int64, []Cell) (bool, error) { return false, nil }}
	tests := []struct {
		name, file, content string
		plan                Plan
		want                string
	}{
		{"no rows", "a.csv", "a\n", all, "count: no row can be taken (the file has 0 rows)"},
		{"an empty file", "a.csv", "", all, "the file is empty"},
		{"an empty list", "a.jsonl", "\n \n", all, "the file is empty"},
		{"two columns of a name", "a.csv", "a,a\n1,2\n", all, `there are two columns "a"`},
		{"a short row", "a.csv", "a,b\n1,2\n3\n", all, "line 3: 1 cell, and the header has 2"},
		{"an open quote", "a.csv", "a\n\"x\n", all, "line 2: extraneous or missing \" in quoted-field"},
		{"an endless row", "a.csv", "a\n\"" + strings.Repeat("x", 2*maxRow), all, "a row of more than 1 MB"},
		{"an endless line", "a.jsonl", "{\"a\": 1}\n{\"a\": \"" + strings.Repeat("x", 2*maxRow), all, "line 2 has more than 1 MB"},
		{"not UTF-8", "a.csv", "a\n\xff\n", all, "line 2: the cell a is not UTF-8 text"},
		{"a header that is not UTF-8", "a.csv", "\xff\n1\n", all, "the header is not UTF-8 text"},
		{"a line that is not UTF-8", "a.jsonl", "{\"a\": \"\xff\"}\n", all, "line 1 is not UTF-8 text"},
		{"not an object", "a.jsonl", "{}\n[1]\n", all, "line 2 is not a JSON object"},
		{"half an object", "a.jsonl", "{\"a\": \n", all, "line 1 is not a JSON object"},
		{"a nested column", "a.jsonl", "{\"a\": 1}\n{\"b\": {\"c\": 1}}\n", all, "the column b is nested on line 2 (choose flat columns"},
		{"a nested column that is chosen", "a.jsonl", "{\"b\": [1]}\n", Plan{Count: 1, Columns: []Choice{{"c", "b"}}}, "columns.c: the column b is nested on line 1"},
		{"a missing column", "a.csv", small, Plan{Count: 1, Columns: []Choice{{"gender", "sexx"}}}, "columns.gender: there is no column sexx (did you mean `sex`?)"},
		{"a missing weight", "a.csv", small, Plan{Count: 1, Sample: &Sample{Weight: "weight"}}, "sample.weight: there is no column weight (there are id, sex, w)"},
		{"a missing column of the condition", "a.csv", small, Plan{Count: 1, Where: &Condition{Names: []string{"x"}}}, "where: there is no column x"},
		{"a missing attribute", "a.csv", small, Plan{Count: 1, Types: map[string]Kind{"sx": Int}}, "types.sx: there is no attribute sx (did you mean `sex`?)"},
		{"values of none", "a.csv", small, Plan{Count: 1, Values: map[string]map[string]string{"x": {}}}, "values.x: there is no attribute x"},
		{"a missing target", "a.csv", small, Plan{Count: 1, Sample: target("x", Share{"a", 1})}, "sample.targets.x: there is no column x"},
		{"no columns", "a.csv", small, Plan{Count: 1, Columns: []Choice{}}, "no columns are chosen"},
		{"a conversion", "a.csv", small, Plan{Count: 1, Types: map[string]Kind{"sex": Int}}, `types.sex: row 1: "m" is not a whole number`},
		{"too few rows", "a.csv", small, Plan{Count: 4}, "count: 4 agents, and 3 rows can be taken (the file has 3 rows)"},
		{"too few with a weight", "a.csv", small, Plan{Count: 3, Sample: weighted}, "count: 3 agents, and 2 rows can be taken (the file has 3 rows; 1 row cannot be drawn because a weight or a target is 0)"},
		{"none pass", "a.csv", small, Plan{Count: 1, Sample: target("sex", Share{"m", 1}), Where: never}, "count: 1 agent, and 0 rows can be taken (the file has 3 rows; `where` leaves some out)"},
		{"a negative weight", "a.csv", "w\n1\n-2\n", Plan{Count: 1, Sample: weighted}, "sample.weight: row 2 has the negative weight -2"},
		{"NaN", "a.csv", "w\n1\nNaN\n", Plan{Count: 1, Sample: weighted}, `sample.weight: row 2 has the weight "NaN", not a number`},
		{"infinity", "a.csv", "w\n1\nInf\n", Plan{Count: 1, Sample: weighted}, `sample.weight: row 2 has the weight "Inf", not a number`},
		{"a text as weight", "a.csv", "w\nheavy\n", Plan{Count: 1, Sample: weighted}, `sample.weight: row 1 has the weight "heavy", not a number`},
		{"a bool as weight", "a.jsonl", `{"w": true}`, Plan{Count: 1, Sample: weighted}, `sample.weight: row 1 has the weight "true", not a number`},
		{"no weight", "a.csv", "a,w\n1,\n", Plan{Count: 1, Sample: weighted}, "sample.weight: row 1 has no weight"},
		{"all weights 0", "a.csv", "w\n0\n0\n", Plan{Count: 1, Sample: weighted}, "count: 1 agent, and 0 rows can be taken"},
		{"a negative share", "a.csv", small, Plan{Count: 1, Sample: target("sex", Share{"m", 1}, Share{"f", -1})}, "sample.targets.sex.f: f cannot be -1"},
		{"a share that is not a number", "a.csv", small, Plan{Count: 1, Sample: target("sex", Share{"m", math.NaN()})}, "sample.targets.sex.m: m cannot be NaN"},
		{"shares of 0", "a.csv", small, Plan{Count: 1, Sample: target("sex", Share{"m", 0}, Share{"f", 0})}, "sample.targets.sex: the shares of sex have the sum 0"},
		{"a category without a target", "a.csv", small, Plan{Count: 1, Sample: target("sex", Share{"m", 1})}, `sample.targets.sex: the file has values of sex without a target: "f" (2 rows) (add a share`},
		{"a row without a category", "a.csv", "a,b\n1,\n2,x\n", Plan{Count: 1, Sample: target("b", Share{"x", 1})}, "sample.targets.b: the file has values of b without a target: no value (1 row)"},
		{"a category that no row has", "a.csv", small, Plan{Count: 1, Sample: target("sex", Share{"m", 1}, Share{"f", 1}, Share{"d", 1})}, `sample.targets.sex.d: no row that can be drawn has the sex "d"`},
		{"contradictory targets", "a.csv", "a,b\n1,x\n2,y\n", Plan{Count: 1, Sample: &Sample{Rounds: 20, Targets: []Target{{"a", []Share{{"1", 1}, {"2", 1}}}, {"b", []Share{{"x", 1}, {"y", 4}}}}}}, "sample.targets: the targets cannot all be met: after 20 rounds, a 2 has 80% of the weight, not 50% (some combinations"},
		{"two people of an id", "a.csv", "id\na\nb\na\n", all, `columns.id: the rows 1 and 3 have the id "a"`},
		{"a person without an id", "a.csv", "id,a\na,1\n,2\n", all, "columns.id: row 2 has no id"},
		{"a condition that fails", "a.csv", small, Plan{Count: 1, Where: &Condition{nil, func(int64, []Cell) (bool, error) { return false, errors.New("oh") }}}, "where: row 1: oh"},
		{"not a Parquet file", "a.parquet", "PAR1 nothing", all, "the Parquet file cannot be read"},
		{"another file", "a.txt", "a\n1\n", all, "a.txt is not a file of people"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Open(t.Context(), tt.file, strings.NewReader(tt.content), int64(len(tt.content)))
			if err == nil {
				_, err = Take(t.Context(), f, &tt.plan)
			}
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if len(Mistakes(err)) != 1 {
				t.Errorf("%d mistakes: %v", len(Mistakes(err)), Mistakes(err))
			}
		})
	}
}

// TestAllMistakes checks that the mistakes of a plan are reported together.
func TestAllMistakes(t *testing.T) {
	_, err := Take(t.Context(), opened(t, "a.csv", "a\n1\n"), &Plan{Count: 1, Columns: []Choice{{"a", "x"}, {"b", "y"}}, Sample: &Sample{Weight: "z"}})
	if all := Mistakes(err); len(all) != 3 {
		t.Errorf("got %v", all)
	}
	if all := Mistakes(nil); len(all) != 0 {
		t.Errorf("mistakes of no error: %v", all)
	}
}

// TestTakeIsCanceled checks that the context ends a draw.
func TestTakeIsCanceled(t *testing.T) {
	f := opened(t, "a.csv", census(3*checkEvery))
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	p := &Plan{Count: 1, Columns: []Choice{{"age", "age"}}, Sample: &Sample{}, Where: &Condition{nil, func(row int64, _ []Cell) (bool, error) {
		if row == 10 {
			cancel(stop)
		}
		if row > checkEvery {
			t.Errorf("row %d is looked at", row)
		}
		return true, nil
	}}}
	if _, err := Take(ctx, f, p); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
