package prompt

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/extra"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/llm"
)

// Request is a chat as a step describes it, without the model.
type Request struct {
	MaxTokens int // 0 is the model's default

	system          *script.Template
	prompt          *script.Template
	messages        expr.Value // a list of {role, content}, instead of prompt
	temperature     expr.Value // nil is the model's default
	countsReasoning bool       // MaxTokens includes reasoning tokens: max_completion_tokens
	effort          *script.Template
	extra           *extra.Fields
	stream          bool
}

// Read reads the keys of a request. Its texts are compiled by in, its temperature by all.
func Read(in, all *expr.Compiler, n *doc.Node) (q Request) {
	q.system = in.Text(n.Get("system"))
	switch which := n.Only("prompt", "messages"); {
	case which.Key == nil:
		n.Errorf("`prompt: …`, or `messages: [{role: user, content: …}]`", "an llm step without a prompt")
	case which.Key.Text() == "prompt":
		q.prompt = in.Text(which.Value)
	default:
		q.messages = readMessages(in, which.Value)
	}
	q.temperature = ReadNumber(all, n.Get("temperature"), "temperature", 2)
	if which := n.Only("max_tokens", "max_completion_tokens"); which.Key != nil {
		q.MaxTokens, q.countsReasoning = which.Value.Int(1, 1_000_000), which.Key.Text() == "max_completion_tokens"
	}
	q.effort = readEffort(in, n.Get("reasoning_effort"))
	q.extra = extra.Read(in, n.Get("extra"))
	q.stream = n.Get("stream").Bool()
	return q
}

// ReadNumber reads a number from 0 to most, or an expression for one; nil for an absent node.
func ReadNumber(in *expr.Compiler, n *doc.Node, field string, most float64) expr.Value {
	v := in.Data(n, field)
	if c, ok := v.(expr.Const); ok && c.V != nil {
		if f, ok := starlark.AsFloat(c.V); !ok || !(f >= 0 && f <= most) {
			n.Errorf("a number, or an expression in ${ }", "%s is from 0 to %v, not %s", field, most, value.Shown(c.V))
		}
	}
	return v
}

// Number evaluates a number from 0 to most.
func Number(t expr.Contexts, v expr.Value, field string, most float64) (float64, error) {
	x, err := v.Eval(t)
	if err != nil {
		return 0, err
	}
	f, ok := starlark.AsFloat(x)
	if !ok || !(f >= 0 && f <= most) {
		return 0, engine.Fail(engine.Script, "%s is from 0 to %v, not %s", field, most, value.Shown(x))
	}
	return f, nil
}

// readEffort reads the reasoning effort.
func readEffort(in *expr.Compiler, n *doc.Node) *script.Template {
	t := in.Text(n)
	if t == nil {
		return nil
	}
	if v := expr.Fixed(t); v != nil {
		word, err := value.Text(v)
		if err == nil {
			err = extra.CheckEffort(word)
		}
		if err != nil {
			n.Errorf("low, medium or high", "%v", err)
		}
	}
	return t
}

// readMessages reads a list of {role, content}, or an expression for one.
func readMessages(in *expr.Compiler, n *doc.Node) expr.Value {
	if n.Kind() == doc.List {
		for _, item := range n.List() {
			item.Fields("role", "content")
			item.Require("role", "content")
			role := item.Get("role")
			if role.Kind() == doc.Scalar && !strings.Contains(role.Text(), "${") && !slices.Contains(Roles, role.Text()) {
				role.Errorf(strings.Join(Roles, ", "), "there is no role %q in a chat", role.Text())
			}
		}
		if len(n.List()) == 0 {
			n.Errorf("`[{role: user, content: …}]`", "no messages")
		}
	} else if n.Kind() != doc.Scalar {
		n.Errorf("`[{role: user, content: …}]`, or an expression for such a list", "messages are a list")
	}
	return in.Data(n, "messages")
}

// Chat evaluates the request; its texts use with, its temperature uses t.
func (q *Request) Chat(with, t expr.Contexts) (chat llm.Chat, err error) {
	for _, part := range [...]struct {
		role, field string
		text        *script.Template
	}{{"system", "system", q.system}, {"user", "prompt", q.prompt}} {
		if part.text == nil {
			continue
		}
		v, err := part.text.Eval(with.Context(part.field))
		if err != nil {
			return chat, err
		}
		line, err := value.Text(v)
		if err != nil {
			return chat, err
		}
		chat.Messages = append(chat.Messages, llm.Message{Role: part.role, Text: line, Stable: Stable(part.text, line)})
	}
	if q.messages != nil {
		v, err := q.messages.Eval(with)
		if err != nil {
			return chat, err
		}
		said, err := Messages(v)
		if err != nil {
			return chat, err
		}
		chat.Messages = append(chat.Messages, said...)
	}
	if q.temperature != nil {
		temperature, err := Number(t, q.temperature, "temperature", 2)
		if err != nil {
			return chat, err
		}
		chat.Temperature = &temperature
	}
	if q.effort != nil {
		if chat.Effort, err = expr.Text(with, q.effort, "reasoning_effort"); err == nil {
			err = extra.CheckEffort(chat.Effort)
		}
		if err != nil {
			return chat, err
		}
	}
	chat.MaxTokens, chat.Completion, chat.Stream = q.MaxTokens, q.countsReasoning, q.stream
	chat.Extra, err = q.extra.Eval(with)
	return chat, err
}

// MaxRepeated limits how much of its invalid answer a model is shown, in bytes.
const MaxRepeated = 20_000

// Objection tells a model why its answer does not fit. form says that the answer has one.
func Objection(answer string, problem error, form bool) (all []llm.Message) {
	if answer != "" { // a message needs content
		answer = strings.ToValidUTF8(answer[:min(len(answer), MaxRepeated)], "")
		all = append(all, llm.Message{Role: "assistant", Text: answer})
	}
	ending := "."
	if form {
		ending = ", with nothing but the JSON document."
	}
	return append(all, llm.Message{Role: "user", Text: "That does not fit: " + problem.Error() + ". Answer again" + ending})
}
