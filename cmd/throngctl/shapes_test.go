package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/view"
)

// answers are what commands give with --json.
var answers = []struct {
	commands string
	of       any
}{
	{"run, resume, fork: started", startedJSON{}},
	{"run, resume, fork: progress", progressJSON{}},
	{"run, resume, fork, cleanup: waiting", waitingJSON{}},
	{"run, resume, fork: ended", endedJSON{}},
	{"run --chain", chain.Report{}},
	{"run --chain, with the rows of a payload, each", row{}},
	{"status", view.Status{}},
	{"set", changesJSON{}},
	{"pause, continue, stop, checkpoint, retire, requeue, tell, restore, note RUN TEXT", doneJSON{}},
	{"runs, fetch", []runJSON{}},
	{"checkpoints, fetch RUN", checkpointsJSON{}},
	{"agents", agentsJSON{}},
	{"agents --where", agentsFoundJSON{}},
	{"compare", comparisonJSON{}},
	{"audit", auditJSON{}},
	{"cleanup", cleanupJSON{}},
	{"allowed", []allowedJSON{}},
	{"report", reportJSON{}},
	{"note RUN", noteJSON{}},
	{"delete", deletedJSON{}},
	{"prune", prunedJSON{}},
	{"trash", trashJSON{}},
	{"push", pushedJSON{}},
	{"push --check", []checkJSON{}},
	{"scenarios", []builtInJSON{}},
	{"validate", scenarioJSON{}},
	{"check", checksJSON{}},
	{"prove", []proofJSON{}},
	{"calibrate, calibrate --history (a list of these)", app.Calibration{}},
	{"calibrate --presets", []presetJSON{}},
	{"settings", settingsJSON{}},
	{"secret set, secret forget, secret check", secretJSON{}},
	{"mock, each", mockedJSON{}},
	{"metrics", []metricJSON{}},
	{"licences", []licenceJSON{}},
	{"guide", []pageJSON{}},
	{"what went wrong", errorJSON{}},
}

// shape writes the names of a type: {name, name?, name: […]}. A question mark is for what may be left out.
// A type within itself is only begun.
func shape(b *strings.Builder, t reflect.Type, within ...reflect.Type) {
	switch {
	case slices.Contains(within, t):
		b.WriteString("{…}")
		return
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[json.RawMessage](), t.Implements(reflect.TypeFor[json.Marshaler]()),
		reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		shape(b, t.Elem(), within...)
	case reflect.Slice, reflect.Array:
		b.WriteString("[")
		shape(b, t.Elem(), within...)
		b.WriteString("]")
	case reflect.Map:
		b.WriteString("{…")
		shape(b, t.Elem(), within...)
		b.WriteString("}")
	case reflect.Struct:
		var names []string
		namesOf(t, &names, append(within, t))
		b.WriteString("{" + strings.Join(names, ", ") + "}")
	default: // a number, a text or a switch
	}
}

func namesOf(t reflect.Type, names *[]string, within []reflect.Type) {
	for f := range t.Fields() {
		tag, has := f.Tag.Lookup("json")
		name, more, _ := strings.Cut(tag, ",")
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && !has:
			namesOf(of, names, within)
		default:
			if name == "" {
				name = f.Name
			}
			var inner strings.Builder
			shape(&inner, f.Type, within...)
			if strings.Contains(more, "omit") {
				name += "?"
			}
			if inner.Len() > 0 {
				name += ": " + inner.String()
			}
			*names = append(*names, name)
		}
	}
}

// TestNamesForProgramsAreDocumented: the guide names all that programs are given. A name that goes or changes is a program of
// somebody's that breaks.
func TestNamesForProgramsAreDocumented(t *testing.T) {
	var b strings.Builder
	for _, a := range answers {
		var names strings.Builder
		shape(&names, reflect.TypeOf(a.of))
		for i, line := range folded(a.commands+" "+names.String(), 116) {
			if i > 0 {
				line = "    " + line
			}
			fmt.Fprintln(&b, line)
		}
	}
	const path, begin, end = "../../assets/guide/11-terminal.md", "```text\nrun, resume, fork: started", "```\n"
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	was, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("the guide has no names of JSON")
	}
	was = strings.TrimPrefix(begin, "```text\n") + was
	if was == b.String() {
		return
	}
	if !*update {
		t.Fatalf("the guide does not name\n%s\nand names\n%s\n-update writes it anew; let no name go", without(b.String(), was), without(was, b.String()))
	}
	if err := os.WriteFile(path, []byte(before+"```text\n"+b.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestEveryAnswerIsNamed: each command that has --json is among those whose names the guide has.
func TestEveryAnswerIsNamed(t *testing.T) {
	var named []string
	for _, a := range answers {
		for one := range strings.SplitSeq(a.commands, ", ") {
			named = append(named, strings.TrimRight(one, ":"))
		}
	}
	for _, leaf := range model().Leaves(true) {
		name := strings.TrimPrefix(leaf.FullPath(), "throngctl ")
		if !slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == "json" }) || name == "timeline" || name == "try" { // what the window writes of an agent
			continue
		}
		if !slices.ContainsFunc(named, func(one string) bool {
			return one == name || strings.HasPrefix(one, name+" ") || strings.HasPrefix(one, name+":")
		}) {
			t.Errorf("the guide does not name what %s gives", name)
		}
	}
}

// without are the lines of a text that another does not have.
func without(text, other string) string {
	has := strings.Split(other, "\n")
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return slices.Contains(has, line) }), "\n")
}

// folded breaks a text at blanks.
func folded(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
