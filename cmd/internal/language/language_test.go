package language

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// root is the repository's folder, relative to this one.
const root = "../../.."

var room = flag.String("room", "", "list the hits of one folder, with those below it, or of one file")

// TestPlainEnglish fails on the phrases and metaphors in rules, in comments, strings and names of Go files, and in
// Markdown and YAML. To list the hits of one folder or file:
//
//	go test ./cmd/internal/language -run TestPlainEnglish -room engine/script
func TestPlainEnglish(t *testing.T) {
	rules := compile(rules)
	for _, name := range files(t) {
		if *room != "" && name != *room && !strings.HasPrefix(name, strings.TrimSuffix(*room, "/")+"/") {
			continue
		}
		for _, hit := range check(t, rules, name) {
			t.Error(hit)
		}
	}
}

// TestRules checks that every rule finds its phrase and spares its exception.
func TestRules(t *testing.T) {
	rules := compile(rules)
	for text, want := range map[string]string{
		"It goes on\nwith the next row.":              "goes on",
		"The counter goes on the wire.":               "",
		"a run that is no fork":                       "is no",
		"There is no fork.":                           "",
		"It is no longer used.":                       "",
		"Sorted. What is left is dropped. Done.":      "What is left is dropped.",
		"It keeps what is left.":                      "",
		"What is left?":                               "",
		"waits at the gate":                           "gate",
		"investigate":                                 "",
		"it was put into the bin":                     "into the bin",
		"/usr/bin/env":                                "",
		"Nobody's turn":                               "Nobody's",
		"the desktop's system tray":                   "",
		"It gives up after 3 attempts.":               "",
		"agents take part in the next cycle":          "take part",
		words("takeUpLease") + "; " + words("HTTPGo"): "take up",
	} {
		var got string
		for _, f := range find(rules, piece{text: text}) {
			got = f.phrase
		}
		if got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}

// files lists the files to check, relative to root, without test data, generated files and this package.
func files(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") && name != "." && name != ".github" && name != ".ci"
			if hidden || d.Name() == "testdata" || slices.Contains([]string{"bin", "dist", "out", "cmd/internal/language"}, name) {
				return filepath.SkipDir
			}
			return nil
		}
		if slices.Contains([]string{".go", ".md", ".yaml", ".yml"}, filepath.Ext(name)) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// piece is a text and its position. names is set for an identifier, written as words.
type piece struct {
	text  string
	line  int
	names bool
}

// found is a phrase that a rule bans.
type found struct {
	rule   rule
	phrase string
	line   int
}

// check returns one line for each hit in a file.
func check(t *testing.T, rules []compiled, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	pieces := []piece{{text: words(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))), line: 1, names: true}}
	if filepath.Ext(name) == ".go" {
		pieces = append(pieces, goPieces(t, name, text)...)
	} else {
		pieces = append(pieces, paragraphs(string(text))...)
	}
	var hits []string
	for _, p := range pieces {
		for _, f := range find(rules, p) {
			hits = append(hits, fmt.Sprintf("%s:%d: %q: write: %s", name, f.line, f.phrase, f.rule.write))
		}
	}
	return hits
}

// find returns what the rules ban in a piece.
func find(rules []compiled, p piece) []found {
	const around = 40 // bytes on each side that an exception sees
	var all []found
	lower := strings.ToLower(p.text)
	for _, r := range rules {
		if p.names && !r.names || !strings.Contains(lower, r.has) {
			continue
		}
		for _, at := range r.match.FindAllStringIndex(p.text, -1) {
			if r.except != nil && r.except.MatchString(p.text[max(0, at[0]-around):min(len(p.text), at[1]+around)]) {
				continue
			}
			phrase := strings.Join(strings.Fields(strings.TrimLeft(p.text[at[0]:at[1]], ".!? \n")), " ")
			all = append(all, found{r.rule, phrase, p.line + strings.Count(p.text[:at[0]], "\n")})
		}
	}
	return all
}

// paragraphs splits Markdown and YAML at blank lines.
func paragraphs(text string) []piece {
	var all []piece
	line := 1
	for p := range strings.SplitSeq(text, "\n\n") {
		all = append(all, piece{text: commentSigns.ReplaceAllString(p, ""), line: line})
		line += strings.Count(p, "\n") + 2
	}
	return all
}

var commentSigns = regexp.MustCompile(`(?m)^[ \t]*#+ `)

// goPieces returns the comments, strings and declared names of a Go file. Each name is returned once.
func goPieces(t *testing.T, name string, text []byte) []piece {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var all []piece
	for _, group := range file.Comments {
		var lines []string
		for _, c := range group.List {
			lines = append(lines, strings.Trim(c.Text, "/* \t"))
		}
		all = append(all, piece{text: strings.Join(lines, "\n"), line: set.Position(group.Pos()).Line})
	}
	seen := make(map[string]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				all = append(all, piece{text: s, line: set.Position(n.Pos()).Line})
			}
		case *ast.Ident:
			if !seen[n.Name] {
				seen[n.Name] = true
				all = append(all, piece{text: words(n.Name), line: set.Position(n.Pos()).Line, names: true})
			}
		}
		return true
	})
	return all
}

// words splits an identifier or file name at underscores, dashes and capitals: "takeUp" is "take up".
func words(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.':
			r = ' '
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
