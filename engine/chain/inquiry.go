package chain

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/prompt"
	"github.com/throng-sim/throng/engine/chain/tools"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/llm"
)

// inquiry asks for an llm step's answer: each service and model in order, and again if the answer does not match the
// shape. The calls have their own paths in the journal: think, think~2, think~3.
type inquiry struct {
	*completion
	services []*Service      // as bound
	session  *engine.Session // session that asks; nil if there is none
	purse    service.Purse   // budget for calls without a session
	clock    *clock.Clock
	path     string
	key      draw.Key // of path
	retry    engine.Retry
	headers  map[*Service]http.Header
	calls    int
	dialog   *tools.Dialog     // its use of tools; nil for a step without
	informs  bool              // the next call has results of tools
	record   engine.StepRecord // of all calls
}

// ask sends the calls on behalf of the session.
func (c *completion) ask(t *turn, chat llm.Chat) (value.Value, error) {
	headers, err := c.headers(t)
	if err != nil {
		return nil, err
	}
	q := &inquiry{
		completion: c, services: t.x.in.Bound.of(c.services), session: t.x.s, clock: t.clock(), path: t.path, key: t.pathKey(), retry: t.retry(),
		headers: headers,
	}
	t.asked = true
	if c.tools != nil {
		if q.dialog, err = c.tools.begin(t); err != nil {
			return nil, err
		}
		chat.Tools = q.dialog.Set.Tools
	}
	out, err := q.run(chat)
	q.note(t.record())
	return out, err
}

// headers evaluates the headers that services need.
func (c *completion) headers(t *turn) (map[*Service]http.Header, error) {
	all := make(map[*Service]http.Header, len(c.services))
	for _, s := range t.x.in.Bound.of(c.services) {
		h := http.Header{}
		if err := s.sign(t, h); err != nil {
			return nil, err
		}
		if c.cache != nil && s.HTTP.Mocks() { // its result must not depend on which session asks first
			header, key := s.Wire.KeyHeader(s.token)
			h[header] = []string{key}
		}
		all[s] = h
	}
	return all, nil
}

// note adds the details of a call to the step's record.
func (q *inquiry) note(r *engine.StepRecord) {
	r.Take(&q.record)
	r.Class = q.record.Class
}

// run tries one service after another until one answers. The reported failure, or its class in the record if a later
// service answers, is the first one that depends on timing, else the first one.
func (q *inquiry) run(chat llm.Chat) (value.Value, error) {
	var counts *engine.StepError
	for _, s := range q.services {
		for _, model := range s.Models {
			chat.Model = model
			out, err := q.converse(s, chat)
			if err == nil {
				if counts != nil {
					q.record.Class = counts.Class
				}
				return out, nil
			}
			step, ok := errors.AsType[*engine.StepError](err)
			if q.dialog.Used() || !ok || step.Class == engine.ConfigError || q.clock.Context().Err() != nil {
				return nil, err
			}
			if counts == nil || step.Class.Timing() && !counts.Class.Timing() {
				counts = step
			}
		}
	}
	return nil, counts
}

// converse asks one model, and again with the error message while its answer does not match.
func (q *inquiry) converse(s *Service, chat llm.Chat) (value.Value, error) {
	chat.Messages = slices.Clone(chat.Messages)
	q.form(s, &chat)
	s.extended(&chat)
	for try, rounds := 1, 0; ; try++ {
		got, err := q.call(s, chat)
		if err != nil {
			return nil, err
		}
		if q.dialog != nil && len(got.Calls) > 0 {
			if rounds++; rounds > q.dialog.Rounds {
				return nil, q.dialog.TooMany()
			}
			if err := q.dialog.Answer(&chat, got); err != nil {
				return nil, err
			}
			q.informs = true
			q.session.At(q.path, s.Name)
			try--
			continue
		}
		out, err := q.read(got, chat.Model)
		if err == nil {
			return out, nil
		}
		if try >= q.retry.Attempts {
			return nil, &engine.StepError{Class: engine.BadAnswer, Err: q.hidden(err)}
		}
		chat.Messages = append(chat.Messages, prompt.Objection(got.Text, err, q.shape != nil)...)
	}
}

// hidden keeps a private answer out of an error text.
func (q *inquiry) hidden(err error) error {
	if q.private {
		return errors.New("the answer, which is private, does not fit its shape")
	}
	return err
}

// form requests the shape in the way that the service supports, or in words if a model refuses that way.
func (q *inquiry) form(s *Service, chat *llm.Chat) {
	if q.shape == nil {
		return
	}
	switch s.Answers {
	case answersBySchema:
		chat.Format = llm.Format{Name: "answer", Schema: q.shape.Schema, Strict: q.shape.Strict, JSON: true}
		chat.InWords = q.shape.Instruction()
		return
	case answersJSON:
		chat.Format = llm.Format{JSON: true}
	case answersText:
	}
	words := q.shape.Instruction()
	chat.Messages = slices.Insert(chat.Messages, 0, llm.Message{Role: "system", Text: words, Stable: len(words)})
}

// read extracts the step's output from a completion.
func (q *inquiry) read(got *llm.Completion, model string) (value.Value, error) {
	switch {
	case got.Refusal != "":
		return nil, errors.New("the model refuses: " + got.Refusal)
	case strings.TrimSpace(got.Text) == "" && !got.Cut:
		return nil, errors.New("the answer is empty")
	case q.shape == nil && got.Text == "":
		return nil, errCutOff
	case q.shape == nil:
		return value.Data(written(got.Text, model))
	}
	out, err := q.shape.Parse(got.Text)
	if err != nil && got.Cut {
		err = errCutOff
	}
	return out, err
}

var errCutOff = errors.New("it was cut off at its greatest length (max_tokens)")

// call makes one call, at its own path in the journal.
func (q *inquiry) call(s *Service, chat llm.Chat) (*llm.Completion, error) {
	path := q.path
	key := q.key
	if q.calls++; q.calls > 1 {
		path += "~" + itoa(q.calls)
		key = key.Text(path)
	}
	chat.Header = q.headers[s].Clone()
	chat.Seed = int(key.Text("seed").Source().Uint64() >> 33)
	call := &service.Call{
		Session: q.session, Purse: q.purse, Clock: q.clock, Path: path, Retry: q.retry, Secrets: s.Concealed, Private: q.private,
	}
	got, err := s.LLM.Chat(call, chat)
	if q.informs && q.record.Attempts > 0 && call.Record.Attempts > 0 {
		call.Record.Rounds = 1
	}
	q.informs = false
	q.record.Take(&call.Record)
	return got, err
}
