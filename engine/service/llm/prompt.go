package llm

import "encoding/json"

// ReadPrompt returns the instructions and the last message in the body of a request, or the last messages if they are results of tools, a
// line each. Both are "" if the body is not one, or is cut.
func ReadPrompt(body []byte) (instructions, last string) {
	var r struct {
		System   Content `json:"system"`
		Messages []struct {
			Role    string  `json:"role"`
			Content Content `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(body, &r) != nil {
		return "", ""
	}
	instructions = r.System.Text
	for i, m := range r.Messages {
		switch {
		case m.Role == "system" || m.Role == "developer":
			if instructions == "" {
				instructions = m.Content.Text
			}
		case m.Role == RoleTool && last != "" && r.Messages[i-1].Role == RoleTool:
			last += "\n" + m.Content.Text
		case m.Role == RoleTool || i == len(r.Messages)-1:
			last = m.Content.Text
		}
	}
	return instructions, last
}
