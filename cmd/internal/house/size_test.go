package house

import (
	"fmt"
	"strings"
	"testing"
)

func TestPackageSize(t *testing.T) {
	found := map[string]string{}
	for folder, p := range read(t) {
		if p.lines > maxLines || p.files > maxFiles {
			found[folder] = fmt.Sprintf("has %d lines in %d files; split it: at most %d lines and %d files", p.lines, p.files, maxLines, maxFiles)
		}
	}
	known(t, nil, found)
}

func TestTypeSize(t *testing.T) {
	found := map[string]string{}
	for folder, p := range read(t) {
		for name, n := range p.methods {
			if n > maxMethods {
				found[folder+"."+name] = fmt.Sprintf("has %d methods, at most %d", n, maxMethods)
			}
		}
		for _, s := range p.structs {
			if s.count > maxFields {
				found[s.name] = strings.TrimPrefix(found[s.name]+", "+fmt.Sprintf("has %d fields, at most %d", s.count, maxFields), ", ")
			}
		}
	}
	known(t, largeTypes, found)
}

func TestStructClones(t *testing.T) {
	var all []*structType
	for _, p := range read(t) {
		for _, s := range p.structs {
			if len(s.fields) >= minFields {
				all = append(all, s)
			}
		}
	}
	found, allowed := map[string]string{}, map[string]bool{}
	for i, a := range all {
		for _, b := range all[:i] {
			if !clones(a, b) {
				continue
			}
			pair := min(a.name, b.name) + " = " + max(a.name, b.name)
			if allowedClones[pair] == "" {
				found[pair] = "share most of their fields: use one of them, or embed what they share"
			} else {
				allowed[pair] = true
			}
		}
	}
	known(t, nil, found)
	for pair := range allowedClones {
		if !allowed[pair] {
			t.Errorf("%s are no longer clones: remove the pair from allowedClones", pair)
		}
	}
}

// TestClonesAreFound checks that a copied struct is found even if its types are spelled as in another package and it has
// additional fields.
func TestClonesAreFound(t *testing.T) {
	of := func(fields ...string) *structType {
		s := &structType{fields: map[string]string{}}
		for _, f := range fields {
			s.fields[f] = "int"
		}
		return s
	}
	a := of("a", "b", "c", "d", "e", "f")
	for _, c := range []struct {
		other *structType
		want  bool
	}{
		{of("a", "b", "c", "d", "e"), true},
		{of("a", "b", "c", "d", "e", "x"), true},
		{of("a", "b", "c", "d", "x", "y"), false},
		{of("a", "b", "c", "d"), false},
	} {
		if got := clones(a, c.other); got != c.want {
			t.Errorf("%v and %v: %v", a.fields, c.other.fields, got)
		}
	}
}
