package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/throng-sim/throng/engine/service/llm"
)

type (
	tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	}
	message struct {
		Role    string `json:"role"`
		Content any    `json:"content"` // a text, or blocks
	}
	use struct {
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	useBlock struct {
		Type string `json:"type"`
		use
	}
	resultBlock struct {
		Type    string `json:"type"`
		ID      string `json:"tool_use_id"`
		Content string `json:"content"`
		Failed  bool   `json:"is_error,omitempty"`
	}
)

func toolsOf(tools []llm.Tool) []tool {
	all := make([]tool, len(tools))
	for i, t := range tools {
		all[i] = tool{t.Name, t.About, t.Schema}
	}
	return all
}

// appended appends a message of the chat. All results of the tools that one answer asks for belong to one message of the user.
func appended(messages []message, m *llm.Message) []message {
	switch {
	case m.Answers != nil:
		result := resultBlock{"tool_result", m.Answers.ID, m.Text, m.Failed}
		if last := len(messages) - 1; last >= 0 {
			if blocks, ok := messages[last].Content.([]any); ok && messages[last].Role == "user" {
				messages[last].Content = append(blocks, result)
				return messages
			}
		}
		return append(messages, message{"user", []any{result}})
	case len(m.Calls) > 0:
		var blocks []any
		if strings.TrimSpace(m.Text) != "" { // the API refuses empty blocks
			blocks = append(blocks, block{Type: "text", Text: m.Text})
		}
		for _, c := range m.Calls {
			blocks = append(blocks, useBlock{"tool_use", use{c.ID, c.Name, c.Object()}})
		}
		return append(messages, message{m.Role, blocks})
	}
	role := m.Role
	if instructs(role) {
		role = "user"
	}
	return append(messages, message{role, m.Text})
}
