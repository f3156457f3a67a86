package prose

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// markdown reads what the guide is written in: CommonMark with tables.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table))

// Parse reads a text. HTML and quotes are left out: the guide has none.
func Parse(source string) *Document {
	p := parser{source: []byte(source)}
	p.blocks(markdown.Parser().Parse(text.NewReader(p.source)), 0, "")
	return &p.found
}

type parser struct {
	source []byte
	found  Document
}

// blocks reads what stands below a node; bullet is for the first of it.
func (p *parser) blocks(parent ast.Node, depth int, bullet string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		b := block{depth: depth, bullet: bullet, line: p.line(n)}
		switch n := n.(type) {
		case *ast.List:
			p.items(n, depth+1)
			continue
		case *ast.Heading:
			b.kind, b.level, b.spans = heading, n.Level, p.spans(n, span{})
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.kind, b.text = code, strings.TrimRight(string(n.Lines().Value(p.source)), "\n")
		case *tables.Table:
			b.kind, b.rows = table, p.rows(n)
			if len(b.rows) > 0 && len(b.rows[0]) > 0 {
				b.line = b.rows[0][0].line
			}
		case *ast.Paragraph, *ast.TextBlock:
			if image, ok := n.FirstChild().(*ast.Image); ok && n.ChildCount() == 1 {
				b.kind, b.source, b.text = picture, string(image.Destination), plain(p.spans(image, span{}))
				break
			}
			b.spans = p.spans(n, span{})
		default:
			continue
		}
		p.found.blocks, bullet = append(p.found.blocks, b), ""
	}
}

func (p *parser) items(list *ast.List, depth int) {
	number := list.Start
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		bullet := "•"
		if list.IsOrdered() {
			bullet = fmt.Sprintf("%d.", number)
			number++
		}
		p.blocks(item, depth, bullet)
	}
}

func (p *parser) rows(t *tables.Table) (all [][]cell) {
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []cell
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, cell{p.spans(c, span{bold: len(all) == 0}), p.line(c)})
		}
		all = append(all, cells)
	}
	return all
}

// spans reads the text below a node, in a style.
func (p *parser) spans(parent ast.Node, style span) (all []span) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		s := style
		switch n := n.(type) {
		case *ast.Text:
			s.text = string(n.Value(p.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				s.text += " "
			}
			all = append(all, s)
		case *ast.String:
			s.text = string(n.Value)
			all = append(all, s)
		case *ast.CodeSpan:
			s.mono = true
			all = append(all, p.spans(n, s)...)
		case *ast.Emphasis:
			s.italic, s.bold = s.italic || n.Level == 1, s.bold || n.Level == 2
			all = append(all, p.spans(n, s)...)
		case *ast.Link:
			s.link = string(n.Destination)
			all = append(all, p.spans(n, s)...)
		case *ast.AutoLink:
			s.text, s.link = string(n.Label(p.source)), string(n.URL(p.source))
			all = append(all, s)
		default:
			all = append(all, p.spans(n, s)...)
		}
	}
	return all
}

// line returns the line where a block begins, or 0 if it is unknown.
func (p *parser) line(n ast.Node) int {
	for n != nil && (n.Type() == ast.TypeInline || n.Lines() == nil || n.Lines().Len() == 0) {
		n = n.FirstChild()
	}
	if n == nil {
		return 0
	}
	line := bytes.Count(p.source[:n.Lines().At(0).Start], []byte("\n"))
	if n.Kind() == ast.KindFencedCodeBlock {
		line-- // its fence
	}
	return line
}
