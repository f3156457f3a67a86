package assets

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Page is a page of the guide, as plain Markdown: headings, lists, code, links, emphasis, tables and images.
type Page struct {
	Topic string // file name without number and extension
	Title string // its first heading
	File  string // path in links from other pages
	Text  string // whole text, including the first heading
}

// Passage is a paragraph of a page, an item of a list, a row of a table or a block of code.
type Passage struct {
	Page    *Page
	Heading string // the heading above it
	Text    string
	Line    int // first line, from 0
}

// The page about the scenario language is in another folder. It follows the first page that links to it.
const (
	language      = "../scenarios/README.md"
	languageTopic = "language"
	languageAfter = "scenario"
)

// Guide returns the folder with the pages and their pictures.
func Guide() fs.FS {
	sub, err := fs.Sub(files, "guide")
	if err != nil { // the folder is embedded
		panic(err)
	}
	return sub
}

// Pages returns the pages of the guide, in reading order.
func Pages() (pages []Page) {
	names, err := fs.Glob(Guide(), "*.md") // sorted by number
	if err != nil {
		panic(err) // the pattern is malformed
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
	if err != nil { // the file is embedded
		panic(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return Page{Topic: topic, Title: strings.TrimLeft(first, "# "), File: name, Text: string(text)}
}

// Linked reads a file that pages of the guide link to, such as a picture, by its path from them.
func Linked(name string) ([]byte, error) { return fs.ReadFile(files, path.Join("guide", name)) }

// Search returns the passages that match a query, in page order. Case is ignored. A passage matches if its text and
// heading together contain every word and its text contains at least one. The first passage under a heading may match
// by heading alone. An empty query matches nothing.
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

// item matches the start of a list item or a table row.
var item = regexp.MustCompile(`^(-|\d+\.|\|) `)

// passages returns the passages of a page. Each heading is a passage without text.
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

// holds reports whether the passage and its heading together contain all words, and the passage at least one of them.
// The first passage under a heading may match by heading alone.
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
