package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/suggest"
)

// guideCmd prints the built-in guide.
type guideCmd struct {
	Topic string `arg:"" optional:"" help:"Page name or its beginning (default: list all pages)."`
	jsonFlag
	Search string `placeholder:"WORDS" help:"Print passages that contain all of these words, such as --search 'disk full'."`
}

// Run is called by kong.
func (c *guideCmd) Run(t *terminal) error {
	pages := assets.Pages()
	if c.Topic != "" {
		page, err := findPage(pages, c.Topic)
		if err != nil {
			return err
		}
		pages = []assets.Page{page}
	}
	switch {
	case c.Search != "":
		return c.search(t, pages)
	case t.json:
		all := []answer.Page{}
		for _, p := range pages {
			one := answer.Page{Topic: p.Topic, Title: p.Title}
			if c.Topic != "" {
				one.Text = p.Text
			}
			all = append(all, one)
		}
		return t.print(all)
	case c.Topic != "":
		fmt.Fprint(t.out, pages[0].Text)
		return nil
	}
	w := show.NewTable(t.out)
	for _, p := range pages {
		show.Row(w, "%s\t%s\n", p.Topic, p.Title)
	}
	return w.Flush()
}

// findPage finds a page by its topic or the start of it.
func findPage(pages []assets.Page, topic string) (assets.Page, error) {
	var found []assets.Page
	var topics []string
	for _, p := range pages {
		if p.Topic == topic {
			return p, nil
		}
		if strings.HasPrefix(p.Topic, strings.ToLower(topic)) {
			found = append(found, p)
		}
		topics = append(topics, p.Topic)
	}
	if len(found) != 1 {
		return assets.Page{}, &engine.FieldError{
			Field: "topic", Problem: fmt.Sprintf("the guide has no page %s", topic), Hint: strings.TrimSpace(suggest.Hint(topic, topics) + " choose " + strings.Join(topics, ", ") + "; --search finds words"),
		}
	}
	return found[0], nil
}

// search prints passages that contain the words, with their page and heading.
func (c *guideCmd) search(t *terminal, pages []assets.Page) error {
	found := assets.Search(pages, c.Search)
	if len(found) == 0 {
		fmt.Fprintf(t.err, "No passage contains all of: %s\n", strings.Join(slices.Collect(strings.FieldsSeq(c.Search)), ", "))
		return exitError(exitFailed)
	}
	if t.json {
		all := []answer.Page{}
		for _, p := range found {
			all = append(all, answer.Page{Topic: p.Page.Topic, Title: p.Page.Title, Heading: p.Heading, Text: p.Text})
		}
		return t.print(all)
	}
	for i, p := range found {
		if i > 0 {
			fmt.Fprintln(t.out)
		}
		fmt.Fprintf(t.out, "%s: %s\n", p.Page.Topic, p.Heading)
		for line := range strings.SplitSeq(p.Text, "\n") {
			fmt.Fprintf(t.out, "  %s\n", line)
		}
	}
	return nil
}
