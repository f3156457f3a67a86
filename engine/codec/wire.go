package codec

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"

	"github.com/throng-sim/throng/engine"
)

// This file encodes messages to and from worker processes. Sessions, deltas, intents and answers have the same bytes as in the journal;
// everything else is CBOR, with times in nanoseconds.

var wireEncoding = must(cbor.EncOptions{ShortestFloat: cbor.ShortestFloat16, Time: cbor.TimeRFC3339Nano}.EncMode())

// AppendWire appends a message.
func AppendWire(dst []byte, v any) []byte {
	data, err := wireEncoding.Marshal(v)
	if err != nil {
		panic(fmt.Errorf("encode %T: %w", v, err)) // a programmer's mistake: records are data
	}
	return append(dst, data...)
}

// The kinds of rows that sessions in flight write to the journal.
const (
	intentRow byte = iota + 1
	answerRow
	sharedRow
	unconfirmedRow
	changeRow
)

// AppendJournaled appends a row that a session in flight writes to the journal.
func AppendJournaled(dst []byte, row engine.Row) []byte {
	switch r := row.(type) {
	case engine.IntentRow:
		return AppendIntent(binary.AppendUvarint(append(dst, intentRow), uint64(r.Cycle)), &r)
	case engine.AnswerRow:
		return AppendAnswer(binary.AppendUvarint(append(dst, answerRow), uint64(r.Cycle)), &r)
	case engine.SharedRow:
		return AppendWire(append(dst, sharedRow), &r)
	case engine.UnconfirmedRow:
		return AppendWire(append(dst, unconfirmedRow), &r)
	case engine.ChangeRow:
		return AppendWire(append(dst, changeRow), &r)
	}
	panic(fmt.Sprintf("codec: a session journals no %T", row))
}

// ReadJournaled is the inverse of AppendJournaled. The row shares memory with data.
func ReadJournaled(data []byte) (engine.Row, error) {
	if len(data) == 0 {
		return nil, ErrDamaged
	}
	switch kind, rest := data[0], data[1:]; kind {
	case intentRow, answerRow:
		c := NewCursor(rest)
		cycle := c.index()
		r, err := ReadRequest(c.Segment(), cycle)
		if err != nil {
			return nil, err
		}
		return r.Row(), nil
	case sharedRow:
		return readWire[engine.SharedRow](rest)
	case unconfirmedRow:
		return readWire[engine.UnconfirmedRow](rest)
	case changeRow:
		return readWire[engine.ChangeRow](rest)
	}
	return nil, ErrDamaged
}

func readWire[T engine.Row](data []byte) (engine.Row, error) {
	var row T
	err := Unmarshal(data, &row)
	return row, err
}

// Row returns the row that was read.
func (r *Request) Row() engine.Row {
	if r.Kind == AnswerKind {
		return engine.AnswerRow{Place: r.Place, Entry: r.Entry}
	}
	return engine.IntentRow{Place: r.Place, Path: r.Entry.Path, Hash: r.Entry.Hash, Spent: r.Entry.Spent, Earlier: r.Earlier}
}

// AppendSessions appends ended sessions of one cycle: a pack of sessions and one of deltas, as in the journal, and the fields that the
// journal does not store.
func AppendSessions(dst []byte, rows engine.SessionRows) []byte {
	if len(rows) == 0 {
		return binary.AppendUvarint(dst, 0)
	}
	base := rows[0].Started.UnixMicro()
	sessions, deltas := binary.AppendVarint(nil, base), binary.AppendVarint(nil, base)
	var lasting []byte
	for i := range rows {
		r := &rows[i]
		sessions = AppendSession(sessions, r, base)
		if r.Outcome.Commits() && !r.Delta.Empty() {
			deltas = AppendDelta(deltas, r.Place, &r.Delta)
		}
		if r.Lasting != (engine.Lasting{}) {
			lasting = binary.AppendUvarint(lasting, uint64(i))
			lasting = binary.AppendUvarint(append(lasting, byte(r.Lasting.Permanence)), uint64(r.Lasting.Status))
			lasting = appendText(lasting, r.Lasting.Fix)
		}
	}
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(len(rows))), uint64(rows[0].Cycle))
	return appendText(appendText(appendText(dst, sessions), deltas), lasting)
}

// ReadSessions is the inverse of AppendSessions. It appends the rows to all and returns the result; they share memory with data.
func ReadSessions(all engine.SessionRows, data []byte) (engine.SessionRows, error) {
	c := NewCursor(data)
	n := c.index()
	if n == 0 && !c.bad {
		return all, nil
	}
	cycle := c.index()
	sessions, deltas, lasting := c.bytes(), c.bytes(), NewCursor(c.bytes())
	if c.bad || n > len(sessions) {
		return all, ErrDamaged
	}
	from := len(all)
	var own SessionReader
	err := Rows(sessions, func(c Cursor, base int64) error {
		own.release() // the caller keeps the row
		row, err := own.Read(c, cycle, base)
		if err == nil {
			all = append(all, *row)
		}
		return err
	})
	rows := all[from:]
	next := 0 // deltas have the order of their sessions
	err = errors.Join(err, Rows(deltas, func(c Cursor, _ int64) error {
		p, d, err := ReadDelta(c, cycle)
		if err != nil {
			return err
		}
		for ; next < len(rows); next++ {
			if rows[next].Place == p {
				rows[next].Delta = d
				return nil
			}
		}
		return ErrDamaged
	}))
	for lasting.More() {
		i := lasting.index()
		l := engine.Lasting{Permanence: engine.Permanence(lasting.byte()), Status: lasting.index(), Fix: string(lasting.bytes())}
		if lasting.bad || i >= len(rows) {
			return all, ErrDamaged
		}
		rows[i].Lasting = l
	}
	if len(rows) != n || lasting.bad {
		err = errors.Join(err, ErrDamaged)
	}
	return all, err
}
