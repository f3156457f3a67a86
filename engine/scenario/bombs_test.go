package scenario

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/chain/memory"
)

// allocated returns how many MB f allocates, including memory that is freed meanwhile.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// Oversized rows are mistakes, and take little more memory than their text.
func TestPopulationBombs(t *testing.T) {
	const size = 12 << 20
	for name, c := range map[string]struct{ file, text, says string }{
		"a row of commas":            {"p.csv", "a,b\n" + strings.Repeat(",", size), "p.csv:2:1: a row of more than 1 MB"},
		"a header of commas":         {"p.csv", strings.Repeat(",", size) + "\n", "p.csv:1:1: a row of more than 1 MB"},
		"a header of many columns":   {"p.csv", strings.Repeat("a,", 300_000) + "\n", "more than 1000 columns"},
		"a cell":                     {"p.csv", "a\n1\n" + strings.Repeat("x", size), "p.csv:3:1: a row of more than 1 MB"},
		"a quote that is not closed": {"p.csv", "a\n\"" + strings.Repeat("x\n", size/2), "p.csv:2:1: a row of more than 1 MB"},
		"commas behind bare quotes":  {"p.csv", "a\nx\"y\n" + strings.Repeat("\"\n\",,,,", size/8), "a row of more than 1 MB"},
		"a long id":                  {"p.csv", "id\n" + strings.Repeat("x", 5000), "an id of 5000 bytes"},
		"a line of brackets":         {"p.jsonl", strings.Repeat("[", size), "nested"},
		"a line of values":           {"p.jsonl", `{"a":[` + strings.Repeat("0,", size/2) + "0]}", "more than 32 MB"},
		"a line of fields":           {"p.jsonl", "{" + strings.Repeat(`"a":1,`, size/6) + `"b":1}`, "more than 32 MB"},
		"a line that is too long":    {"p.jsonl", `{"a":"` + strings.Repeat("x", 3*size) + `"}`, "JSON of more than 32 MB"},
		"a long id in JSON":          {"p.jsonl", `{"id":"` + strings.Repeat("x", 5000) + `"}`, "an id of 5000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			mb := allocated(func() {
				_, err = read(minimal("population: {from: "+c.file+"}"), map[string]string{c.file: c.text}, nil)
			})
			if err == nil || !strings.Contains(all(err), c.says) {
				t.Errorf("got %.300s, want %q", all(err), c.says)
			}
			if mb > 256 {
				t.Errorf("allocated %d MB", mb)
			}
		})
	}
}

// all returns all mistakes of an error, one per line.
func all(err error) string {
	mistakes, ok := errors.AsType[*Mistakes](err)
	if !ok {
		return "no mistakes, but " + errText(err)
	}
	var text strings.Builder
	for _, p := range mistakes.report.Problems() {
		text.WriteString(p.Error() + "\n")
	}
	return text.String()
}

func errText(err error) string {
	if err == nil {
		return "nothing"
	}
	return err.Error()
}

// An agent whose attributes are too large cannot be read; the others can.
func TestAttributeBombs(t *testing.T) {
	const functions = "functions: |\n  def big(agent, n): return 'x' * n if agent.index == 1 else 'x'\n"
	for name, c := range map[string]struct{ population, says string }{
		"one":     {"{count: 3, attributes: {a: '${big(agent, 2 << 20)}'}}", "the attribute a is more than 1024 kB"},
		"an id":   {"{count: 3, id: '${agent.index}${big(agent, 2000)}'}", "more than 1000"},
		"a list":  {"{count: 3, attributes: {a: '${[big(agent, 1)] * 40000 if agent.index == 1 else 0}'}}", "the attribute a is more than 1024 kB"},
		"of many": {"{count: 3, attributes: {" + many("a%d: '${big(agent, 200000)}'", 160) + "}}", "the attribute a1 is more than 102 kB"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := read(minimal(functions+"population: "+c.population), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				a := newAgent(&s.population, 1, i, memory.New(nil))
				_, err := a.id()
				if err == nil && len(s.population.attributes) > 0 {
					_, err = a.Field(s.population.attributes[0].name)
				}
				if (err != nil) != (i == 1) || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Errorf("agent %d: got %v, want %q", i, err, c.says)
				}
			}
		})
	}
}

// many repeats an entry of a flow map with the numbers 1 to n.
func many(entry string, n int) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = strings.Replace(entry, "%d", itoa(i+1), 1)
	}
	return strings.Join(entries, ", ")
}

// File names with a special meaning, or files that never end, are rejected.
func TestOddFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "scenario")
	for _, folder := range []string{dir, dir + "2", filepath.Join(dir, "sub")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "people.csv"), []byte("a\n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"out": dir + "2", "up": "..", "loop.csv": "loop.csv", "zero.csv": "/dev/zero", "chain.csv": "out/people.csv", "sub/back.csv": "../people.csv",
	} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	open := Folder(dir)
	for _, path := range []string{"people.csv", "sub/people.csv", "sub/back.csv"} {
		if _, err := open(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{
		"../scenario2/people.csv", "sub/../../scenario2/people.csv", dir + "2/people.csv", "out/people.csv", "up/scenario2/people.csv", "chain.csv",
		"loop.csv", "zero.csv", "/dev/zero", "people.csv\x00.txt", "", ".", "sub", `..\scenario2\people.csv`, `C:\people.csv`, "file:///etc/passwd",
		"people.csv/", "~/people.csv", "$HOME/people.csv", "//server/share/people.csv",
	} {
		if text, err := open(path); err == nil {
			t.Errorf("%q returned %d bytes", path, len(text))
		}
	}
	if _, err := open("PEOPLE.CSV"); err != nil && !errors.Is(err, fs.ErrNotExist) { // some file systems ignore case
		t.Errorf("another case: %v", err)
	}
}
