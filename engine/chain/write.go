package chain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/retry"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// Writer generates records of one shape with model calls, one call each, outside any session: the agents of a
// population. It asks like an llm step, and again if an answer does not match.
type Writer struct {
	Names []string // fields of the records, in the order of the shape

	completion *completion
	retry      retry.Policy
	timeout    time.Duration // 0 means the run's value
}

// writerKeys are the keys of an llm step that apply when each record is requested once.
var writerKeys = []string{
	"service", "prompt", "messages", "system", "answer", "temperature", "max_tokens", "max_completion_tokens",
	"reasoning_effort", "extra", "fallback", "stream", "retry", "timeout",
}

// AnswerNames returns the names of an answer's shape with their nodes, in file order. They are known before services
// are.
func AnswerNames(answer *doc.Node) (names []string, at []*doc.Node) {
	fields := answer.Entries()
	if s := answer.Get("schema"); s.Kind() == doc.Map {
		fields = s.Get("properties").Entries()
	}
	for _, e := range fields {
		name, _ := strings.CutSuffix(e.Key.Text(), "?")
		names, at = append(names, name), append(at, e.Key)
	}
	return names, at
}

// Writer reads what a model generates; its texts may use names.
func (r *Reader) Writer(n *doc.Node, names []string) *Writer {
	n.Fields(writerKeys...)
	n.Require("answer")
	w := &Writer{}
	w.completion = readLLM(r.in(names, nil), n).(*completion)
	w.Names, _ = AnswerNames(n.Get("answer"))
	if n.Get("answer").Get("schema").Kind() == doc.Map && len(w.Names) == 0 {
		n.Get("answer").Errorf("`schema: {type: object, properties: {…}, required: […]}`", "the schema of a persona has no properties")
	}
	w.retry, w.timeout = retry.Read(n.Get("retry")), n.Get("timeout").Duration(time.Millisecond, 0)
	for i, s := range w.completion.services {
		if s == nil {
			continue
		}
		at := n.Get("service")
		if i > 0 {
			at = listOf(n.Get("fallback"))[i-1]
		}
		s.checkHeaders(at)
	}
	return w
}

// checkHeaders reports the headers of a service that cannot be sent before agents exist.
func (s *Service) checkHeaders(at *doc.Node) {
	for _, h := range s.Headers {
		if names := h.Value.Names(); len(names) > 0 {
			at.Errorf("write with a service of its own", "the header %s of %s depends on the %s, which does not exist while agents are generated", h.Name, s.Name, names[0])
		}
	}
	if s.Key != nil {
		for _, text := range []*script.Template{s.Key.User, s.Key.Value} {
			if text != nil && len(text.Names()) > 0 {
				at.Errorf("write with a service of its own", "the auth of %s depends on the %s, which does not exist while agents are generated", s.Name, text.Names()[0])
			}
		}
	}
}

// Services returns the services to ask, in order, as bound.
func (w *Writer) Services(b Bound) []*Service { return b.of(w.completion.services) }

// Commission is one record to generate.
type Commission struct {
	Path    string       // names it for the mock and in errors
	Key     draw.Key     // key of its draws
	Names   script.Names // names that its texts see
	Retry   engine.Retry // the run's
	Timeout time.Duration
	Purse   service.Purse // budget for its calls
	Bound   Bound         // the launch's copies of services
}

// Context implements Contexts.
func (c *Commission) Context(field string) *script.Context {
	return &script.Context{Names: c.Names, Key: c.Key, Field: field}
}

// seed is the seed sent to the service.
func (c *Commission) seed() uint64 { return c.Key.Text("seed").Source().Uint64() }

// Request identifies the request: services, models, prompt, shape and seed. address returns the address of a service.
func (w *Writer) Request(c *Commission, address func(*Service) string) (string, error) {
	chat, err := w.completion.Chat(c, c)
	if err != nil {
		return "", err
	}
	asked := struct {
		Who  [][]string
		What any
		Form json.RawMessage
		Seed uint64
	}{What: []any{chat.Messages, chat.Temperature, chat.MaxTokens, chat.Completion, chat.Effort, chat.Extra}, Form: w.completion.shape.Schema, Seed: c.seed()}
	for _, s := range w.Services(c.Bound) {
		asked.Who = append(asked.Who, append([]string{address(s), AnswersNames[s.Answers]}, s.asked()...))
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

// Length returns the length of the prompt in bytes, and the token limit of the answer; 0 means no limit.
func (w *Writer) Length(c *Commission) (asked, most int, err error) {
	chat, err := w.completion.Chat(c, c)
	if err != nil {
		return 0, 0, err
	}
	for _, m := range chat.Messages {
		asked += len(m.Text)
	}
	return asked + len(w.completion.shape.Schema), chat.MaxTokens, nil
}

// Ask generates a record, as JSON. Its error is a *engine.StepError, an *engine.TimeoutError or the cause of ctx. It
// returns the cost in any case.
func (w *Writer) Ask(ctx context.Context, c *Commission) (written []byte, took engine.StepRecord, err error) {
	limit := c.Timeout
	if w.timeout > 0 {
		limit = w.timeout
	}
	timer := clock.New(ctx, limit, &service.Overtime{Path: c.Path, Limit: limit})
	defer timer.Stop()
	q := &inquiry{
		completion: w.completion, services: w.Services(c.Bound), purse: c.Purse, clock: timer, path: c.Path, key: c.Key, retry: w.retry.Over(c.Retry),
		headers: map[*Service]http.Header{},
	}
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
		took = q.record
		if ctx.Err() != nil && err != nil {
			err = context.Cause(ctx)
		}
	}()
	for _, s := range q.services {
		h := http.Header{}
		if err := s.signAs(c, h, ""); err != nil {
			return nil, took, err
		}
		q.headers[s] = h
	}
	chat, err := w.completion.Chat(c, c)
	if err != nil {
		return nil, took, err
	}
	answer, err := q.run(chat)
	if err != nil {
		return nil, took, err
	}
	written, err = w.keep(answer)
	return written, took, err
}

// keep returns an answer as JSON, restricted to the names of its shape.
func (w *Writer) keep(answer value.Value) ([]byte, error) {
	record, ok := answer.(*value.Record)
	if !ok {
		return nil, engine.Fail(engine.BadAnswer, "the answer is a %s, not an object", answer.Type())
	}
	var fields []value.Field
	for _, name := range w.Names {
		if v, ok := record.Field(name); ok {
			fields = append(fields, value.Field{Name: name, Value: v})
		}
	}
	return value.AppendJSON(nil, value.NewRecord(fields...))
}
