package assets

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Page is a page of the guide, as plain Markdown: headings, lists, code, links, emphasis, tables and images.
type Page struct {
	Topic string // what it is called by: its file's name without number and extension
	Title string // its first heading
	File  string // path in links of other pages
	Text  string // all of it, its first heading too
}

// Passage is a paragraph of a page, an item of a list, a row of a table or a block of code.
type Passage struct {
	Page    *Page
	Heading string // the heading above it
	Text    string
	Line    int // first line, from 0
}

// language is the page about the scenario language, in another folder. It follows the page that links to it first.
const (
	language      = "../scenarios/README.md"
	languageTopic = "language"
	languageAfter = "scenario"
)

// Guide returns the folder of the pages and their pictures.
func Guide() fs.FS {
	sub, err := fs.Sub(files, "guide")
	if err != nil { // the folder is embedded
		panic(err)
	}
	return sub
}

// Pages returns the pages of the guide, in reading order.
func Pages() (pages []Page) {
	names, err := fs.Glob(Guide(), "*.md") // sorted, and so by their numbers
	if err != nil {
		panic(err) // the pattern is wrong
	}
	for _, name := range names {
		_, topic, _ := strings.Cut(strings.TrimSuffix(name, path.Ext(name)), "-")
		pages = append(pages, page(name, topic))
		if topic == languageAfter {
			pages = append(pages, page(language, languageTopic))
		}
	}
	return pages
}

func page(name, topic string) Page {
	text, err := Linked(name)
	if err != nil { // it is embedded
		panic(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return Page{Topic: topic, Title: strings.TrimLeft(first, "# "), File: name, Text: string(text)}
}

// Linked reads a file that pages of the guide link to, such as a picture, by its path from them.
func Linked(name string) ([]byte, error) { return fs.ReadFile(files, path.Join("guide", name)) }

// Search returns the passages of pages that hold all words of a text, in upper or lower case, in the order of the pages.
// The heading counts with what stands under it, as long as the passage has one of the words itself; the passage right
// below a heading need not. No words are in no passage.
func Search(pages []Page, text string) (found []Passage) {
	words := strings.Fields(strings.ToLower(text))
	for i := range pages {
		below := false
		for _, p := range pages[i].passages() {
			if p.Text == "" {
				below = true
				continue
			}
			if p.holds(words, below) {
				found = append(found, p)
			}
			below = false
		}
	}
	return found
}

// item is how an item of a list or a row of a table begins.
var item = regexp.MustCompile(`^(-|\d+\.|\|) `)

// passages are those of a page; each heading comes as one without text.
func (p *Page) passages() (all []Passage) {
	heading, fenced, begun := "", false, 0
	var lines []string
	end := func() {
		if len(lines) > 0 {
			all = append(all, Passage{p, heading, strings.Join(lines, "\n"), begun})
		}
		lines = nil
	}
	for i, line := range strings.Split(p.Text, "\n") {
		line = strings.TrimRight(line, "\r")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced:
		case strings.HasPrefix(line, "#"):
			end()
			heading = strings.TrimLeft(line, "# ")
			all = append(all, Passage{p, heading, "", i})
			continue
		case line == "", strings.HasPrefix(line, "|-"):
			end()
			continue
		case item.MatchString(line):
			end()
		}
		if len(lines) == 0 {
			begun = i
		}
		lines = append(lines, line)
	}
	end()
	return all
}

// holds reports whether all words are in a passage or its heading, and one at least in the passage, unless it is the
// first below the heading.
func (p *Passage) holds(words []string, first bool) bool {
	text, heading := strings.ToLower(p.Text), strings.ToLower(p.Heading)
	own := first
	for _, word := range words {
		here := strings.Contains(text, word)
		if !here && !strings.Contains(heading, word) {
			return false
		}
		own = own || here
	}
	return own && len(words) > 0
}
