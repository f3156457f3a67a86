package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
)

// shape writes the names of a type: {name, name?, name: […]}. A question mark is for names that may be missing. A type
// within itself is not expanded again.
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
	default: // number, string or boolean
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

// answersFile has all names that --json prints.
const answersFile = "testdata/answers.txt"

// TestNamesForPrograms compares the names that --json prints with those in testdata/answers.txt. Other programs rely on
// these names.
func TestNamesForPrograms(t *testing.T) {
	var b strings.Builder
	for _, a := range answer.All {
		var names strings.Builder
		shape(&names, reflect.TypeOf(a.Of))
		title := a.Command
		if a.When != "" {
			title += " (" + a.When + ")"
		}
		for i, line := range folded(title+" "+names.String(), 116) {
			if i > 0 {
				line = "    " + line
			}
			fmt.Fprintln(&b, line)
		}
	}
	if *update {
		if err := os.WriteFile(answersFile, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("added\n%s\nremoved\n%s\n-update rewrites %s", without(got, string(want)), without(string(want), got), answersFile)
	}
}

// TestEveryAnswerHasASchema checks that each command with --json has a schema.
func TestEveryAnswerHasASchema(t *testing.T) {
	for _, leaf := range model().Leaves(true) {
		name := strings.TrimPrefix(leaf.FullPath(), "throngctl ")
		if !slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == "json" }) || name == "timeline" || name == "try" {
			continue // those two print the engine's view of an agent
		}
		if !slices.ContainsFunc(answer.All, func(a answer.Printed) bool { return a.Command == name || strings.HasPrefix(a.Command, name+" --") }) {
			t.Errorf("there is no schema for the output of %s", name)
		}
	}
}

// without returns the lines of a text that are not in another.
func without(text, other string) string {
	has := strings.Split(other, "\n")
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return slices.Contains(has, line) }), "\n")
}

// folded wraps a text at spaces.
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
