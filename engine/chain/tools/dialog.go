package tools

import (
	"errors"

	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/llm"
)

// Dialog is the use of tools in one execution of a step.
type Dialog struct {
	*Box
	Set   Set
	Calls int // so far

	// List returns the tools of a server.
	List func(e *Entry) ([]Tool, error)
	// Run carries out a call; n counts the calls from 0. A *FailedError is for the model, any other error ends the step.
	Run func(t *Tool, n int, arguments value.Value) (value.Value, error)
	// Misused records a call that no tool can carry out.
	Misused func(n int)
}

// FailedError is the failure of a call, for the model.
type FailedError struct {
	Err     error
	Private bool // without its text
}

func (e *FailedError) Error() string { return e.Err.Error() }

// Begin finds out which tools there are.
func (d *Dialog) Begin() error {
	for i, e := range d.Entries {
		var offered []Tool
		if e.Own != nil {
			offered = []Tool{*e.Own}
		} else {
			all, err := d.List(e)
			if err == nil {
				offered, err = e.pick(all)
			}
			if err != nil {
				return err
			}
		}
		for _, t := range offered {
			t.At = i
			if err := d.Set.Add(&t); err != nil {
				return err
			}
		}
	}
	return nil
}

// Used reports whether a tool was called. Then no other model is asked: it would call the tools again. d may be nil.
func (d *Dialog) Used() bool { return d != nil && d.Calls > 0 }

// Answer calls the tools that an answer asks for, in its order, and adds the results to the chat. An error ends the step.
func (d *Dialog) Answer(chat *llm.Chat, got *llm.Completion) error {
	llm.NumberedCalls(got.Calls, d.Calls)
	chat.Messages = append(chat.Messages, llm.Message{Role: "assistant", Text: got.Text, Calls: got.Calls})
	for i, call := range got.Calls {
		said, err := d.call(call, i)
		if err != nil {
			return err
		}
		chat.Messages = append(chat.Messages, said)
	}
	return nil
}

var errManyCalls = errors.New("too many calls in one answer")

func (d *Dialog) call(call llm.ToolCall, of int) (llm.Message, error) {
	n := d.Calls
	d.Calls++
	t, arguments, err := d.Set.Find(call)
	if err == nil && of >= MostCalls {
		err = errManyCalls
	}
	if err != nil {
		d.Misused(n)
		return d.failure(call, err, false), nil
	}
	out, err := d.Run(t, n, arguments)
	if failed, ok := errors.AsType[*FailedError](err); ok {
		return d.failure(call, failed.Err, failed.Private), nil
	} else if err != nil {
		return llm.Message{}, err
	}
	return d.result(call, out)
}
