package scenario

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/script/value"
	"pgregory.net/rapid"
)

// crowd reads a scenario with a population of these lines and a separate file.
func crowd(t testing.TB, lines, file, content string) *Scenario {
	t.Helper()
	s, err := read(minimal("population:\n"+lines), map[string]string{file: content}, nil)
	if err != nil {
		t.Fatal(told(err))
	}
	return s
}

// told returns all problems of an error.
func told(err error) string {
	mistakes, ok := errors.AsType[*Mistakes](err)
	if !ok {
		return fmt.Sprint(err)
	}
	var b bytes.Buffer
	if err := mistakes.Print(&b); err != nil {
		return err.Error()
	}
	return b.String()
}

// shown formats an agent as JSON, or some of its fields in sequence.
func shown(t testing.TB, s *Scenario, index int, fields ...string) string {
	t.Helper()
	a := newAgent(&s.population, 7, index, nil)
	if len(fields) == 0 {
		a.asking = filtering // without its memory
		v, err := value.AppendJSON(nil, value.NewLazy("agent", a))
		if err != nil {
			t.Fatal(err)
		}
		return string(v)
	}
	var parts []string
	for _, name := range fields {
		v, err := a.Field(name)
		if err != nil {
			t.Fatal(err)
		}
		if v == nil {
			t.Fatalf("agent %d has no %s", index, name)
		}
		parts = append(parts, v.Type()+" "+v.String())
	}
	return strings.Join(parts, ", ")
}

// TestPeople checks how rows become agents, in each format.
func TestPeople(t *testing.T) {
	const from, lined = "  from: people.csv\n", "  from: people.jsonl\n"
	tests := []struct {
		name, lines, content string
		want                 []string // each agent
	}{
		{"plain", from, "id,age\nann,30\nbob,41\n", []string{
			`{"id":"ann","index":0,"age":30}`, `{"id":"bob","index":1,"age":41}`,
		}},
		{"byte order mark, Windows lines, spaces in the header", from, "\ufeffid, age\r\nann,30\r\n", []string{`{"id":"ann","index":0,"age":30}`}},
		{"quotes, commas, line breaks", from, "id,text\na,\"x, \"\"y\"\"\nz\"\n\n\nb,é\n", []string{
			`{"id":"a","index":0,"text":"x, \"y\"\nz"}`, `{"id":"b","index":1,"text":"é"}`,
		}},
		{"kinds", from, "a,b,c,d,e,f\ntrue,1,1,1.5,x,01\nFALSE,-2,.5,2.0, y,2\n", []string{
			`{"id":"agent-1","index":0,"a":true,"b":1,"c":1,"d":1.5,"e":"x","f":"01"}`,
			`{"id":"agent-2","index":1,"a":false,"b":-2,"c":0.5,"d":2,"e":" y","f":"2"}`,
		}},
		{"true is not a number", from, "a,b,c\ntrue,1,\n1,true,\n,,false\n", []string{
			`{"id":"agent-1","index":0,"a":"true","b":"1","c":null}`, `{"id":"agent-2","index":1,"a":"1","b":"true","c":null}`,
			`{"id":"agent-3","index":2,"a":null,"b":null,"c":false}`,
		}},
		{"cells that are not numbers", from, "a,b,c,d,e\n1,99999999999999999999,1e999,0x10,true\nx,1,2,3,1\n", []string{
			`{"id":"agent-1","index":0,"a":"1","b":"99999999999999999999","c":"1e999","d":"0x10","e":"true"}`,
			`{"id":"agent-2","index":1,"a":"x","b":"1","c":"2","d":"3","e":"1"}`,
		}},
		{"kinds that are said", from + "  types: {zip: string, n: float, on: bool}\n", "zip,n,on\n1,2,\n2,3.5,true\n", []string{
			`{"id":"agent-1","index":0,"zip":"1","n":2,"on":null}`, `{"id":"agent-2","index":1,"zip":"2","n":3.5,"on":true}`,
		}},
		{"empty cells", from, "id,a,b,c,d\nx,,,,\ny,1,true,t,\n", []string{
			`{"id":"x","index":0,"a":null,"b":null,"c":null,"d":null}`, `{"id":"y","index":1,"a":1,"b":true,"c":"t","d":null}`,
		}},
		{"ids are texts", from, "id,a\n007,1\n7,2\n", []string{`{"id":"007","index":0,"a":1}`, `{"id":"7","index":1,"a":2}`}},
		{"the first", from + "  count: 1\n", "id\na\nb\n", []string{`{"id":"a","index":0}`}},
		{"an id of the row's", from + "  id: ${agent.name}-${agent.index}\n", "name\nann\n", []string{`{"id":"ann-0","index":0,"name":"ann"}`}},
		{"more attributes", from + "  attributes: {twice: \"${agent.age * 2}\", more: \"${agent.twice + agent.age}\"}\n", "age\n3\n", []string{
			`{"id":"agent-1","index":0,"age":3,"twice":6,"more":9}`,
		}},
		{"lines", lined, "{\"id\": \"ann\", \"likes\": [{\"x\": 1.0}]}\n\n \r\n{\"age\": 3, \"id\": 12}", []string{
			`{"id":"ann","index":0,"likes":[{"x":1}],"age":null}`, `{"id":"12","index":1,"likes":null,"age":3}`,
		}},
		{"lines with a mark and no ids", lined, "\ufeff{\"a\": null}\r\n{\"a\": \"\"}\r\n", []string{
			`{"id":"agent-1","index":0,"a":null}`, `{"id":"agent-2","index":1,"a":""}`,
		}},
		{"an empty object", lined, "{}\n", []string{`{"id":"agent-1","index":0}`}},
		{"rows", "  rows:\n    - {id: ann, age: 30, likes: [a, {b: 1.0}]}\n    - {id: 7, name: \"8\"}\n", "", []string{
			`{"id":"ann","index":0,"age":30,"likes":["a",{"b":1}],"name":null}`, `{"id":"7","index":1,"age":null,"likes":null,"name":"8"}`,
		}},
		{"rows and more", "  rows: [{age: 3}, {age: 4}]\n  id: x${agent.age}\n  count: 1\n  attributes: {old: \"${agent.age > 3}\"}\n", "", []string{
			`{"id":"x3","index":0,"age":3,"old":false}`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := "people.csv"
			if strings.HasPrefix(tt.lines, lined) {
				file = "people.jsonl"
			}
			s := crowd(t, tt.lines, file, tt.content)
			if s.Agents != len(tt.want) {
				t.Fatalf("%d agents, want %d", s.Agents, len(tt.want))
			}
			for i, want := range tt.want {
				if got := shown(t, s, i); got != want {
					t.Errorf("agent %d\n got %s\nwant %s", i, got, want)
				}
			}
			again, err := Restore(s.Source)
			if err != nil {
				t.Fatal(told(err))
			}
			if got := shown(t, again, 0); got != tt.want[0] {
				t.Errorf("restored\n got %s\nwant %s", got, tt.want[0])
			}
		})
	}
}

// TestEmptyCellsAreMissing checks what expressions see of an empty cell.
func TestEmptyCellsAreMissing(t *testing.T) {
	s := crowd(t, "  from: people.csv\n  attributes:\n    a: ${get(agent, \"age\", 5)}\n    b: ${\"none\" if not agent.age else \"some\"}\n    c: ${agent.age}\n", "people.csv", "age\n\"\"\n1\n")
	if got, want := shown(t, s, 0, "a", "b", "c"), `int 5, string "none", NoneType None`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestColumnsWithManyValues checks that columns of all types keep their values.
func TestColumnsWithManyValues(t *testing.T) {
	const rows = 3 * manyValues
	var b strings.Builder
	b.WriteString("id,whole,part,text,few,none\n")
	for i := range rows {
		if i%10 == 3 {
			fmt.Fprintf(&b, "r%d,,,,,\n", i)
			continue
		}
		fmt.Fprintf(&b, "r%d,%d,%d.5,t%d,%d,\n", i, -i, i, i, i%7)
	}
	s := crowd(t, "  from: people.csv\n", "people.csv", b.String())
	for i := range rows {
		want := fmt.Sprintf(`string "r%d", int %d, float %d.5, string "t%d", int %d, missing missing`, i, -i, i, i, i%7)
		if i%10 == 3 {
			want = fmt.Sprintf(`string "r%d"%s`, i, strings.Repeat(", missing missing", 5))
		}
		if got := shown(t, s, i, "id", "whole", "part", "text", "few", "none"); got != want {
			t.Fatalf("row %d: got %s, want %s", i, got, want)
		}
	}
}

// TestCSVRoundTrip checks that values written as CSV are read back unchanged.
func TestCSVRoundTrip(t *testing.T) {
	write := map[string]func(t *rapid.T) (cell, want string){
		"int": func(t *rapid.T) (string, string) {
			i := rapid.Int64Min(noInt+1).Draw(t, "int")
			return strconv.FormatInt(i, 10), "int " + strconv.FormatInt(i, 10)
		},
		"float": func(t *rapid.T) (string, string) {
			f := rapid.Float64Range(-1e300, 1e300).Draw(t, "float")
			v := float(f)
			return strconv.FormatFloat(f, 'g', -1, 64), v.Type() + " " + v.String()
		},
		"bool": func(t *rapid.T) (string, string) {
			b := rapid.Bool().Draw(t, "bool")
			return strconv.FormatBool(b), map[bool]string{true: "bool True", false: "bool False"}[b]
		},
		"string": func(t *rapid.T) (string, string) {
			text := strings.ReplaceAll(rapid.String().Draw(t, "text"), "\r", "")
			if text == "" {
				return "", "missing missing"
			}
			return text, "string " + text
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom(people.KindNames), 1, 5).Draw(t, "kinds")
		header, types := []string{"id"}, []string{}
		for i, kind := range kinds {
			header = append(header, "c"+strconv.Itoa(i))
			types = append(types, header[i+1]+": "+kind)
		}
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		_ = w.Write(header)
		var want []string
		rows := rapid.IntRange(1, 20).Draw(t, "rows")
		for row := range rows {
			record := []string{strconv.Itoa(row)}
			for _, kind := range kinds {
				cell, value := "", "missing missing"
				if rapid.IntRange(0, 4).Draw(t, "empty") > 0 {
					cell, value = write[kind](t)
				}
				record, want = append(record, cell), append(want, value)
			}
			_ = w.Write(record)
		}
		w.Flush()
		s, err := read(minimal("population: {from: people.csv, types: {"+strings.Join(types, ", ")+"}}"), map[string]string{"people.csv": text.String()}, nil)
		if err != nil {
			t.Fatalf("%s\n%s", told(err), &text)
		}
		for row := range rows {
			a := newAgent(&s.population, 1, row, nil)
			for i := range kinds {
				v, err := a.Field(header[i+1])
				if err != nil {
					t.Fatal(err)
				}
				got := v.Type() + " " + v.String()
				if plain, err := value.Text(v); err == nil && v.Type() == "string" {
					got = "string " + plain
				}
				if want := want[row*len(kinds)+i]; got != want {
					t.Fatalf("row %d, column %d: got %q, want %q in\n%s", row, i, got, want, &text)
				}
			}
		}
	})
}

// TestPeopleMistakes compares the printed errors of population files in testdata/people with golden files.
func TestPeopleMistakes(t *testing.T) {
	files, err := filepath.Glob("testdata/people/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, golden := range files {
		path := strings.TrimSuffix(golden, ".txt")
		t.Run(filepath.Base(path), func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(path)
			types := ""
			if filepath.Ext(name) == ".csv" {
				types = "  types: {age: int}\n"
			}
			_, err = read(minimal("population:\n  from: "+name+"\n"+types+"  attributes: {a: \"${agent.age}\"}\n"), map[string]string{name: string(content)}, nil)
			if err == nil {
				t.Fatal("no mistakes")
			}
			got := told(err)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestSinglePeopleMistakes checks single errors and their positions.
func TestSinglePeopleMistakes(t *testing.T) {
	many := strings.Repeat("x,", maxNames) + "y\n"
	tests := []struct{ lines, content, want string }{
		{"{count: 3, from: people.csv}", "id\na\n", "test.yaml:1:21: 3 agents, and the population has 1 row (leave it out to take all)"},
		{"{count: 3, rows: [{a: 1}, {a: 2}]}", "", "3 agents, and the population has 2 rows"},
		{"{from: people.csv, rows: [{a: 1}]}", "a\n1\n", "`rows` cannot be combined with `from`"},
		{"{from: people.txt}", "", "a population cannot be read from people.txt (a .csv file"},
		{"{from: missing.csv}", "", "the population cannot be read: there is no file missing.csv (the file must be in"},
		{"{from: ../people.csv}", "", "the population cannot be read"},
		{"{from: people.csv, types: {agee: int}}", "age\n1\n", "there is no column agee (did you mean `age`?)"},
		{"{from: people.csv, types: {age: number}}", "age\n1\n", "`age` cannot be `number` (one of bool, int, float, string)"},
		{"{from: people.csv, types: {id: int}}", "id\n1\n", "an id is a string, always (remove it)"},
		{"{from: people.csv, types: {age: int}}", "age\n1\nx\n", `people.csv:3:1: "x" is not a whole number (age is int because `},
		{"{from: people.csv, types: {b: float}}", "a,b\nü,\"x, y\"\n", `people.csv:2:3: "x, y" is not a number`},
		{"{from: people.jsonl, types: {age: int}}", `{"age": 1}`, "types are for .csv files (remove it"},
		{"{count: 1, types: {age: int}}", "", "types needs a file: `from`"},
		{"{from: people.csv, id: 'x${agent.index}'}", "id\na\n", "the rows have ids already (remove it"},
		{"{from: people.csv, attributes: {age: 1}}", "age\n1\n", "age is an attribute of the rows already"},
		{"{from: people.csv, attributes: {a: '${agent.agee}'}}", "age\n1\n", "agent has no agee here (did you mean `age`?)"},
		{"{from: people.csv}", "", "people.csv:1:1: the file is empty (a header such as"},
		{"{from: people.csv}", "\ufeff", "people.csv:1:1: the file is empty (a header such as"},
		{"{from: people.csv}", "a;b\n1;2\n", `"a;b" cannot be the name of an attribute (separate the columns by commas)`},
		{"{from: people.csv}", "a,\n1,2\n", `people.csv:1:3: "" cannot be the name of an attribute`},
		{"{from: people.csv}", "id,id\na,b\n", "people.csv:1:4: there is another column id"},
		{"{from: people.csv}", many + many, "people.csv:1:1: more than 1000 columns"},
		{"{from: people.csv}", "a\n\xff\n", "people.csv:2:1: the byte 0xff is not UTF-8 text (save it as UTF-8)"},
		{"{from: people.csv}", "a\né\xe9\n", "people.csv:2:2: the byte 0xe9"},
		{"{from: people.csv}", "id,a\n,1\n", "people.csv:2:1: the row has no id"},
		{"{from: people.csv}", "a\"b\n1\n", "people.csv:1:2: a quote inside a cell that is not quoted"},
		{"{from: people.csv}", "a\n\"x\ny\n", "people.csv:2:1: a quoted cell of this row is not closed before line 3"},
		{"{from: people.jsonl}", " \n\n", "people.jsonl:1:1: the file is empty"},
		{"{from: people.jsonl}", "\"é\" x\n", "people.jsonl:1:5: unexpected 'x' after the value (an object a line"},
		{"{from: people.jsonl}", strings.Repeat("[", 300), "people.jsonl:1:1: JSON at offset 200: nested deeper"},
		{"{from: people.jsonl}", "{\"a\": 1}\n{\"id\": 1}\n", "people.jsonl:2:1: the 1 row above have no id"},
		{"{from: people.jsonl}", "{\"id\": 1.5}\n", `an id cannot be "1.5" (a text or a whole number)`},
		{"{from: people.jsonl}", "{\"id\": \"\"}\n", "the row has no id"},
		{"{rows: []}", "", "test.yaml:1:20: there are no rows"},
		{"{rows: }", "", "there are no rows"},
		{"{rows: [1]}", "", "must be a map of keys"},
		{"{rows: [{index: 1}]}", "", "index is what every agent has already"},
		{"{rows: [{a b: 1}]}", "", `"a b" cannot be the name of an attribute`},
		{"{rows: [{a: '${1}'}]}", "", "rows are data and hold no expressions"},
		{"{rows: [{a: [{b: '${1}'}]}]}", "", "rows are data and hold no expressions"},
		{"{rows: [{id: a}, {b: 1}]}", "", "test.yaml:1:30: the row has no id"},
		{"{rows: [{b: 1}, {id: a}]}", "", "the first row has no id"},
		{"{rows: [{id: ''}]}", "", "the id is empty"},
		{"{rows: [{id: [1]}]}", "", "`id` must be text, found a list"},
		{"{rows: [{id: a}, {id: a}]}", "", `"a" is called so on line 1 already (ids are unique)`},
		{"{rows: [{a: 99999999999999999999}]}", "", "is too large"},
		{"{write: x, count: 1}", "", "`write` must be a map of keys, found `x`"},
		{"{count: 1, filter: agent.memory.x}", "", "values that change between cycles cannot be used here"},
		{"{count: 1, filter: agent.x}", "", "test.yaml:1:38: agent has no x here"},
		{"{count: 1, filter: '${True}'}", "", "write it without ${ }"},
		{"{count: 1, filter: steps.a}", "", "undefined: steps"},
		{"{count: 1, filter: 'agent.index < \"a\"'}", "", "the first agent: test.yaml:1:45: int < string"},
	}
	for _, tt := range tests {
		t.Run(tt.lines+tt.content[:min(len(tt.content), 20)], func(t *testing.T) {
			files := map[string]string{"people.csv": tt.content, "people.jsonl": tt.content}
			_, err := read(minimal("population: "+tt.lines), files, nil)
			if mistakes, ok := errors.AsType[*Mistakes](err); !ok || mistakes.Count() != 1 || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got\n%v\nwant %s", told(err), tt.want)
			}
		})
	}
}

// TestLargeFilesArePeople checks that only population files may be large.
func TestLargeFilesArePeople(t *testing.T) {
	dir := t.TempDir()
	for name, fine := range map[string]bool{"a.csv": true, "a.jsonl": true, "a.star": false, "a.yaml": false} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, maxFile+1), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Folder(dir)(name); (err == nil) != fine {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "a.csv"), maxSheet+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(dir)("a.csv"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a file that is too large: %v", err)
	}
}

// TestIDs checks that IDs are found even if their hashes are adjacent.
func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, first := newIDList(), map[string]int{}
		all := rapid.SliceOf(rapid.StringMatching(`[a-c]{0,3}`)).Draw(t, "ids")
		for i, id := range all {
			if got := l.add(id, i+1); got != first[id] {
				t.Fatalf("%q on line %d: got %d, want %d", id, i+1, got, first[id])
			}
			if first[id] == 0 {
				first[id] = i + 1
			}
		}
		if c := l.column(); c != nil {
			for i, id := range all {
				if c.at(i) != id {
					t.Fatalf("row %d is %q, want %q", i, c.at(i), id)
				}
			}
		}
	})
}

// TestManyIDs checks that IDs are found even after their list has grown many times.
func TestManyIDs(t *testing.T) {
	l := newIDList()
	const many = 20_000
	for i := range many {
		if got := l.add(fmt.Sprint("p", i), i+1); got != 0 {
			t.Fatalf("the new id on line %d is on line %d already", i+1, got)
		}
	}
	for i := range many {
		if got := l.add(fmt.Sprint("p", i), many+i+1); got != i+1 {
			t.Fatalf("the ID in line %d is reported in line %d", i+1, got)
		}
	}
}
