package assets

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promise is a sentence of a document, and the tests that hold it.
type promise struct {
	document, sentence string
	tests              int
}

// readPromises reads promises.md, and calls missing for each test that does not exist.
func readPromises(t *testing.T, missing func(p promise, pkg, test string)) (all []promise) {
	t.Helper()
	text, err := os.ReadFile("promises.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]map[string]bool{}
	held := regexp.MustCompile("^  - `([^`]+)` (Test\\w+(?:, Test\\w+)*)$")
	document := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "## "):
			document = line[len("## "):]
		case strings.HasPrefix(line, "- "):
			all = append(all, promise{document: document, sentence: line[len("- "):]})
		case strings.HasPrefix(line, "  - "):
			parts := held.FindStringSubmatch(line)
			if parts == nil || len(all) == 0 {
				t.Errorf("not a package and its tests: %s", line)
				continue
			}
			p := &all[len(all)-1]
			if known[parts[1]] == nil {
				known[parts[1]] = testsOf(t, parts[1])
			}
			for test := range strings.SplitSeq(parts[2], ", ") {
				p.tests++
				if !known[parts[1]][test] {
					missing(*p, parts[1], test)
				}
			}
		}
	}
	return all
}

// testsOf are the tests of a package, by its folder in the repository.
func testsOf(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range declared.FindAllStringSubmatch(string(text), -1) {
			all[match[1]] = true
		}
	}
	return all
}

// flow is a text in one line, whichever way it is broken and marked as bold.
func flow(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "**", "")), " ")
}

// document is one of the repository in one line.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return flow(string(text))
}

// TestPromises checks that every listed sentence stands in its document word for word, and that the tests which hold it exist.
func TestPromises(t *testing.T) {
	texts := map[string]string{}
	all := readPromises(t, func(p promise, pkg, test string) {
		t.Errorf("%s: %s: there is no %s in %s", p.document, p.sentence, test, pkg)
	})
	for _, p := range all {
		if texts[p.document] == "" {
			texts[p.document] = document(t, p.document)
		}
		if !strings.Contains(texts[p.document], flow(p.sentence)) {
			t.Errorf("%s no longer says: %s", p.document, p.sentence)
		}
		if p.tests == 0 {
			t.Errorf("%s: no test holds: %s", p.document, p.sentence)
		}
	}
	if len(all) < 50 {
		t.Errorf("only %d promises are listed", len(all))
	}
}

// TestPromisesOfTheReadme checks that the list is whole where the README says what Throng can do and where its limits are, but
// for rows and items that promise nothing which a test could hold.
func TestPromisesOfTheReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := ""
	for _, p := range readPromises(t, func(promise, string, string) {}) {
		if p.document == "README.md" {
			listed += flow(p.sentence) + "\n"
		}
	}
	_, rest, found := strings.Cut(string(text), "\n## What it can\n")
	table, rest, also := strings.Cut(rest, "\n## Limits\n")
	limits, _, ended := strings.Cut(rest, "\n## ")
	if !found || !also || !ended {
		t.Fatal("the README has no parts What it can and Limits")
	}
	facts := []string{"Kinds of services:", "A result is exact on one kind of processor", "Tests run on", "What was measured last"}
	check := func(text string) {
		t.Helper()
		for _, fact := range facts {
			if strings.HasPrefix(text, fact) {
				return
			}
		}
		if !strings.Contains(listed, text) {
			t.Errorf("promises.md does not have: %s", text)
		}
	}
	for row := range strings.SplitSeq(table, "\n") {
		if cells := strings.Split(row, "|"); len(cells) == 4 && strings.TrimSpace(cells[1]) != "" && !strings.HasPrefix(row, "|---") {
			check(flow(cells[2]))
		}
	}
	for item := range strings.SplitSeq("\n"+limits, "\n- ") {
		if text := flow(item); text != "" {
			check(text)
		}
	}
}
