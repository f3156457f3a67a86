// Package prompt reads and makes the messages of a chat.
package prompt

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/llm"
)

// Roles are the roles of messages.
var Roles = []string{"system", "developer", "user", "assistant"}

// Stable returns how many bytes at the beginning of a template's text are the same for all agents. Services can cache them.
func Stable(t *script.Template, text string) int {
	if _, ok := t.Const(); ok {
		return len(text)
	}
	if first := t.First(); strings.HasPrefix(text, first) {
		return len(first)
	}
	return 0
}

// maxMessages is the maximum number of messages of a chat.
const maxMessages = 10_000

// Messages reads the value of messages: a list of records with a role and a content.
func Messages(v value.Value) (all []llm.Message, err error) {
	if v, err = value.Data(v); err != nil {
		return nil, err
	}
	list, ok := v.(*starlark.List)
	if !ok || list.Len() == 0 || list.Len() > maxMessages {
		return nil, engine.Fail(engine.Script, "messages are a list of 1 to %d records {role, content}, not %s", maxMessages, v.Type())
	}
	for item := range list.Elements() {
		r, ok := item.(*value.Record)
		if !ok {
			return nil, engine.Fail(engine.Script, "a message is a record {role, content}, not a %s", item.Type())
		}
		role, _ := r.Field("role")
		content, ok := r.Field("content")
		if !ok {
			return nil, engine.Fail(engine.Script, "a message without content")
		}
		name, _ := starlark.AsString(role)
		if role == nil || !slices.Contains(Roles, name) {
			return nil, engine.Fail(engine.Script, "the role of a message is one of %s, not %s", strings.Join(Roles, ", "), value.Shown(starlark.String(name)))
		}
		text, err := value.Text(content)
		if err != nil {
			return nil, err
		}
		all = append(all, llm.Message{Role: name, Text: text})
	}
	return all, nil
}
