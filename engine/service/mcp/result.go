package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/throng-sim/throng/engine"
)

// Listing is the list of a server's tools.
type Listing struct {
	Tools []Tool `json:"tools"` // by name
}

// Tool is a tool of a server.
type Tool struct {
	Name   string          `json:"name"`
	About  string          `json:"about,omitempty"`
	Schema json.RawMessage `json:"schema"` // of its arguments
}

// mostTools limits the tools of a server.
const mostTools = 1000

// list asks for all pages of the list.
func list(ctx context.Context, with *sdk.ClientSession) (*Listing, error) {
	all := &Listing{Tools: []Tool{}}
	for t, err := range with.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		if len(all.Tools) == mostTools {
			return nil, fmt.Errorf("it has more than %d tools", mostTools)
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("the schema of the tool %s: %w", t.Name, err)
		}
		all.Tools = append(all.Tools, Tool{t.Name, cmp.Or(t.Description, t.Title, t.Name), schema})
	}
	slices.SortStableFunc(all.Tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Result is the result of a call, as a text for a model.
type Result struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"` // the text says why
}

// resultOf returns the texts of a result, or its structured content if it has none. Other content is named only.
func resultOf(got *sdk.CallToolResult) *Result {
	r := &Result{Failed: got.IsError}
	var texts []string
	for _, c := range got.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			texts = append(texts, c.Text)
		case *sdk.ImageContent:
			texts = append(texts, left("an image", c.MIMEType, len(c.Data)))
		case *sdk.AudioContent:
			texts = append(texts, left("a sound", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			texts = append(texts, strings.TrimSpace(c.Title+" "+c.URI))
		case *sdk.EmbeddedResource:
			switch {
			case c.Resource == nil:
			case c.Resource.Text != "":
				texts = append(texts, c.Resource.Text)
			default:
				texts = append(texts, left("a file", c.Resource.MIMEType, len(c.Resource.Blob)))
			}
		}
	}
	r.Text = strings.Join(texts, "\n")
	if r.Text == "" && got.StructuredContent != nil {
		if text, err := json.Marshal(got.StructuredContent); err == nil {
			r.Text = string(text)
		}
	}
	if len(got.InputRequests) > 0 {
		r.Text, r.Failed = "the tool asks its user for more, and there is no user", true
	}
	return r
}

// left describes content that a model cannot read.
func left(what, kind string, size int) string {
	return fmt.Sprintf("[%s, %s, %s, left out]", what, cmp.Or(kind, "of unknown type"), engine.FormatBytes(int64(size)))
}
