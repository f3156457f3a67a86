// Package prose shows Markdown: [Parse] reads a [Document], and a [View] lays it out in its width. Text can be selected, copied and
// marked, and the caller follows links.
package prose

import (
	"strings"
	"unicode"
)

// Document is a text in Markdown, in pieces. The zero value is empty.
type Document struct {
	blocks []block
}

// Heading is a title within a document.
type Heading struct {
	Text   string
	Level  int    // from 1
	Anchor string // see [Anchor]
}

// kind is what a block is.
type kind uint8

const (
	paragraph kind = iota
	heading
	code
	picture
	table
)

// block is a piece of a document that begins on a line of its own.
type block struct {
	kind   kind
	level  int    // of a heading, from 1
	depth  int    // how many lists it stands in
	bullet string // in front of it; may be empty
	spans  []span
	text   string   // of code; what a picture shows
	source string   // of a picture: its name
	rows   [][]cell // of a table; the first is its head
	line   int      // of the text that it is read from, from 0
}

// cell is one of a table.
type cell struct {
	spans []span
	line  int
}

// span is text in one style.
type span struct {
	text               string
	bold, italic, mono bool
	link               string // where it leads; "" is nowhere
}

// Headings are the titles in a document, in their order.
func (d *Document) Headings() (all []Heading) {
	for i := range d.blocks {
		if b := &d.blocks[i]; b.kind == heading {
			all = append(all, Heading{plain(b.spans), b.level, b.anchor()})
		}
	}
	return all
}

// Links are where a document leads.
func (d *Document) Links() (all []string) {
	d.Lead(func(link string) string {
		if len(all) == 0 || all[len(all)-1] != link {
			all = append(all, link)
		}
		return link
	})
	return all
}

// Lead has the links of a document lead elsewhere.
func (d *Document) Lead(to func(link string) string) {
	each := func(spans []span) {
		for i := range spans {
			if spans[i].link != "" {
				spans[i].link = to(spans[i].link)
			}
		}
	}
	for i := range d.blocks {
		each(d.blocks[i].spans)
		for _, row := range d.blocks[i].rows {
			for _, c := range row {
				each(c.spans)
			}
		}
	}
}

// Pictures are the names of the pictures that a document shows.
func (d *Document) Pictures() (all []string) {
	for i := range d.blocks {
		if d.blocks[i].kind == picture {
			all = append(all, d.blocks[i].source)
		}
	}
	return all
}

// Add puts another document below.
func (d *Document) Add(other *Document) { d.blocks = append(d.blocks, other.blocks...) }

// Title puts a line below that leads somewhere.
func (d *Document) Title(text, link string) {
	d.blocks = append(d.blocks, block{kind: heading, level: lesser, spans: []span{{text: text, link: link}}})
}

// Line puts a line of plain text below.
func (d *Document) Line(text string) { d.blocks = append(d.blocks, block{spans: []span{{text: text}}}) }

// lesser is the level of headings that are as large as text.
const lesser = 3

func plain(spans []span) string {
	var text strings.Builder
	for _, s := range spans {
		text.WriteString(s.text)
	}
	return text.String()
}

// anchor is what links to a heading are called.
func (b *block) anchor() string { return Anchor(plain(b.spans)) }

// Anchor is what links to a heading of a text are called, as Git hosts call them.
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, heading)
}
