package assets

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Page is a page of the guide, as plain Markdown: headings, lists, code, links, emphasis and images, no tables.
type Page struct {
	Topic string // what it is called by: its file's name without number and extension
	Title string // its first heading
	File  string // in [Guide]
	Text  string // all of it, its first heading too
}

// Passage is a paragraph of a page, an item of a list or a block of code.
type Passage struct {
	Page    *Page
	Heading string // the one that it stands under
	Text    string
}

// Guide are the pages of the guide, their pictures, and nothing else.
func Guide() fs.FS {
	sub, err := fs.Sub(files, "guide")
	if err != nil { // the folder is embedded
		panic(err)
	}
	return sub
}

// Pages are the pages of the guide, in the order in which they are read.
func Pages() []Page {
	names, err := fs.Glob(Guide(), "*.md") // sorted, and so by their numbers
	if err != nil {
		panic(err) // the pattern is wrong
	}
	pages := make([]Page, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(Guide(), name)
		if err != nil { // it is embedded
			panic(err)
		}
		_, topic, _ := strings.Cut(strings.TrimSuffix(name, path.Ext(name)), "-")
		first, _, _ := strings.Cut(string(text), "\n")
		pages[i] = Page{Topic: topic, Title: strings.TrimLeft(first, "# "), File: name, Text: string(text)}
	}
	return pages
}

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

// item is how an item of a list begins.
var item = regexp.MustCompile(`^(-|\d+\.) `)

// passages are those of a page; each heading comes as one without text.
func (p *Page) passages() (all []Passage) {
	heading, fenced := "", false
	var lines []string
	end := func() {
		if len(lines) > 0 {
			all = append(all, Passage{p, heading, strings.Join(lines, "\n")})
		}
		lines = nil
	}
	for line := range strings.Lines(p.Text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			lines = append(lines, line)
		case !fenced && strings.HasPrefix(line, "#"):
			end()
			heading = strings.TrimLeft(line, "# ")
			all = append(all, Passage{p, heading, ""})
		case !fenced && line == "":
			end()
		case !fenced && item.MatchString(line):
			end()
			lines = append(lines, line)
		default:
			lines = append(lines, line)
		}
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
