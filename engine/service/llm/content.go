package llm

import (
	"encoding/json"
	"errors"
	"strings"
)

// Content is a text, or a list of parts: texts, refusals and reasoning, which is left out.
type Content struct{ Text, Refusal string }

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Content) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, &c.Text) // null changes nothing
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var text, refusal strings.Builder
	for _, raw := range parts {
		part, err := readPart(raw)
		if err != nil {
			return err
		}
		text.WriteString(part.Text)
		refusal.WriteString(part.Refusal)
	}
	c.Text, c.Refusal = text.String(), refusal.String()
	return nil
}

var errPart = errors.New("a part of the content is neither a text nor an object")

// readPart reads a part of a content. Types other than text, such as reasoning and images, are ignored.
func readPart(raw json.RawMessage) (c Content, err error) {
	if len(raw) > 0 && raw[0] == '"' {
		return c, json.Unmarshal(raw, &c.Text)
	}
	var part struct {
		Type    string          `json:"type"`
		Text    json.RawMessage `json:"text"`
		Result  json.RawMessage `json:"content"` // of a tool
		Refusal string          `json:"refusal"`
	}
	if json.Unmarshal(raw, &part) != nil {
		return c, errPart
	}
	switch part.Type {
	case "tool_result":
		var result Content
		err = json.Unmarshal(part.Result, &result)
		return Content{Text: result.Text + "\n"}, err
	case "refusal":
		c.Refusal = part.Refusal
	case "text", "output_text", "":
		var long struct {
			Value string `json:"value"`
		}
		if len(part.Text) > 0 && part.Text[0] == '{' {
			err = json.Unmarshal(part.Text, &long)
			return Content{Text: long.Value}, err
		}
		if len(part.Text) > 0 {
			err = json.Unmarshal(part.Text, &c.Text)
		}
	}
	return c, err
}
