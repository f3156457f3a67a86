package house

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The limits for code outside of tests.
const (
	maxLines   = 6500 // of a package
	maxFiles   = 50   // of a package
	maxMethods = 30   // of a type
	maxFields  = 25   // of a struct

	// Structs are clones if each has at least minFields fields, and they share minShare of the fields of the smaller one, by
	// name and type.
	minFields = 5
	minShare  = 0.75
)

// pkg holds the measurements of a package.
type pkg struct {
	lines, files int
	methods      map[string]int
	structs      map[string]*structType
}

// structType is a struct with the types of its named fields. Types are written without their package, pointers and slices
// without their marks: a copy often differs in these.
type structType struct {
	name   string // engine/chain.Step
	fields map[string]string
	count  int // embedded fields included
}

// read parses the module outside tests.
func read(t *testing.T) map[string]*pkg {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	all := map[string]*pkg{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "examples") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		if all[folder] == nil {
			all[folder] = &pkg{methods: map[string]int{}, structs: map[string]*structType{}}
		}
		return all[folder].add(folder, path)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 40 {
		t.Fatalf("found only %d packages", len(all))
	}
	return all
}

// add measures a file.
func (p *pkg) add(folder, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p.files++
	p.lines += bytes.Count(text, []byte("\n"))
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				p.methods[receiver(d.Recv.List[0].Type)]++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					if of, ok := s.Type.(*ast.StructType); ok {
						p.structs[s.Name.Name] = newStruct(folder+"."+s.Name.Name, of)
					}
				}
			}
		}
	}
	return nil
}

// receiver returns the name of a method's type.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}

func newStruct(name string, of *ast.StructType) *structType {
	s := &structType{name: name, fields: map[string]string{}}
	for _, f := range of.Fields.List {
		s.count += max(len(f.Names), 1)
		text := strings.TrimLeft(types.ExprString(f.Type), "*[]")
		text = text[strings.LastIndex(text, ".")+1:]
		for _, n := range f.Names {
			s.fields[strings.ToLower(n.Name)] = text
		}
	}
	return s
}

// clones reports whether two structs have most of their fields in common.
func clones(a, b *structType) bool {
	same := 0
	for name, of := range a.fields {
		if b.fields[name] == of {
			same++
		}
	}
	return same >= minFields && float64(same) >= minShare*float64(min(len(a.fields), len(b.fields)))
}

// known compares findings with a list of known offenders, which may only become shorter.
func known(t *testing.T, list []string, found map[string]string) {
	t.Helper()
	for name, what := range found {
		if !slices.Contains(list, name) {
			t.Errorf("%s %s", name, what)
		}
	}
	for _, name := range list {
		if found[name] == "" {
			t.Errorf("%s is within the limits now: remove it from known_test.go", name)
		}
	}
	if !slices.IsSortedFunc(list, cmp.Compare[string]) {
		t.Error("sort the list in known_test.go")
	}
}
