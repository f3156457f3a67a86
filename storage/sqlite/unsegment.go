package sqlite

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// maxInterned bounds what a reader remembers of texts.
const maxInterned = 10_000

// sessionReader decodes sessions into one row that it reuses. It keeps the texts that come again and again.
type sessionReader struct {
	row      engine.SessionRow
	statuses []int
	texts    map[string]string
}

func (r *sessionReader) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := r.texts[string(b)]; ok {
		return s
	}
	s := string(b)
	if r.texts == nil {
		r.texts = make(map[string]string)
	}
	if len(r.texts) < maxInterned && len(s) < 256 {
		r.texts[s] = s
	}
	return s
}

// read decodes the segment of a session; the row is valid until the next read.
func (r *sessionReader) read(c cursor, cycle int, base int64) (*engine.SessionRow, error) {
	steps, events := r.row.Steps[:0], r.row.Events[:0]
	r.statuses = r.statuses[:0]
	r.row = engine.SessionRow{Place: c.place(cycle)}
	flags := c.byte()
	r.row.Outcome = c.outcome(flags & outcomeBits)
	r.row.Acted = flags&flagActed != 0
	if started := c.int(); started != noTime {
		r.row.Started = time.UnixMicro(base + started).UTC()
	}
	r.row.Queue, r.row.Held, r.row.Service, r.row.Total = c.duration(), c.duration(), c.duration(), c.duration()
	if flags&flagClass != 0 {
		r.row.Class = c.class()
	}
	if flags&flagTexts != 0 {
		r.row.Path, r.row.Error, r.row.Because = r.text(c.bytes()), string(c.bytes()), r.text(c.bytes())
	}
	if flags&flagSteps != 0 {
		r.row.Steps = r.steps(&c, steps)
		r.row.Events = r.events(&c, events)
	}
	if c.bad {
		return nil, ErrDamaged
	}
	return &r.row, nil
}

func (r *sessionReader) steps(c *cursor, steps []engine.StepRecord) []engine.StepRecord {
	for n := c.length(); n > 0 && !c.bad; n-- {
		s := engine.StepRecord{Path: r.text(c.bytes())}
		flags := c.byte()
		more := byte(0)
		if flags&flagMore != 0 {
			more = c.byte()
		}
		s.Status, s.Label = c.status(flags&statusBits), engine.Label(flags>>labelShift&labelBits)
		if more&flagLabel != 0 {
			s.Label = c.label()
		}
		s.Beside = more&flagBeside != 0
		if flags&flagStepErr != 0 {
			s.Class = c.class()
		}
		if flags&flagRequests != 0 {
			s.Attempts, s.Statuses = r.requests(c)
		}
		s.Held, s.Service = c.duration(), c.duration()
		if more&flagUsage != 0 {
			s.Usage = new(engine.Usage)
			for _, n := range usageFields(s.Usage) {
				*n = c.int()
			}
		}
		if more&flagAgain != 0 && s.Usage != nil {
			s.Usage.Again = c.int()
		}
		if more&flagWaits != 0 {
			s.Waits = new(engine.Waits)
			for i := range c.length() {
				if d := c.duration(); i < len(s.Waits) {
					s.Waits[i] = d
				}
			}
		}
		steps = append(steps, s)
	}
	return steps
}

func (r *sessionReader) events(c *cursor, events []engine.Event) []engine.Event {
	for n := c.length(); n > 0 && !c.bad; n-- {
		var e engine.Event
		switch step := c.index(); {
		case step == 0:
			e.Path = r.text(c.bytes())
		case step <= len(r.row.Steps):
			e.Path = r.row.Steps[step-1].Path
		default:
			c.fail()
		}
		e.Name, e.Data = r.text(c.bytes()), c.bytes()
		events = append(events, e)
	}
	return events
}

func (r *sessionReader) requests(c *cursor) (attempts int, statuses []int) {
	attempts = int(c.int())
	start := len(r.statuses)
	for n := c.length(); n > 0 && !c.bad; n-- {
		r.statuses = append(r.statuses, int(c.int()))
	}
	if len(r.statuses) == start {
		return attempts, nil
	}
	return attempts, r.statuses[start:len(r.statuses):len(r.statuses)]
}

// segments calls f with each segment of a pack and the pack's base time.
func segments(blob []byte, f func(c cursor, base int64) error) error {
	raw, err := unfold(blob)
	if err != nil {
		return err
	}
	c := cursor{data: raw}
	base := c.int()
	for c.more() {
		segment := c.segment()
		if segment.bad {
			break
		}
		if err := f(segment, base); err != nil {
			return err
		}
	}
	if c.bad {
		return ErrDamaged
	}
	return nil
}

// outcomeOf reads the beginning of a session's segment.
func outcomeOf(c cursor, cycle int) (p engine.Place, o engine.Outcome, err error) {
	p, o = c.place(cycle), c.outcome(c.byte()&outcomeBits)
	if c.bad {
		err = ErrDamaged
	}
	return p, o, err
}

// readDelta decodes a delta; it shares memory with the pack.
func readDelta(c cursor, cycle int) (p engine.Place, d engine.Delta, err error) {
	p = c.place(cycle)
	d.Keep = int(c.int())
	for n := c.length(); n > 0 && !c.bad; n-- {
		d.Set = append(d.Set, engine.Field{Name: string(c.bytes()), Value: c.bytes()})
	}
	for n := c.length(); n > 0 && !c.bad; n-- {
		d.Notes = append(d.Notes, c.bytes())
	}
	if len(c.data) > 0 {
		flags := c.byte()
		d.Read, d.Replace = flags&flagRead != 0, flags&flagReplace != 0
		for n := c.length(); n > 0 && !c.bad; n-- {
			m := engine.Message{Body: c.bytes()}
			for to := c.length(); to > 0 && !c.bad; to-- {
				m.To = append(m.To, int(c.uint()))
			}
			d.Said = append(d.Said, m)
		}
	}
	if c.bad {
		err = ErrDamaged
	}
	return p, d, err
}

// request is a decoded intent or answer.
type request struct {
	engine.Place
	kind    byte
	entry   engine.Entry   // of an intent only Path, Hash and Spent
	earlier []engine.Entry // of an intent
}

func readRequest(c cursor, cycle int) (r request, err error) {
	r.Place = c.place(cycle)
	switch r.kind = c.byte(); r.kind {
	case intentSegment:
		r.entry.Path, r.entry.Hash = string(c.bytes()), c.hash()
		r.entry.Spent = c.outlay()
		for n := c.length(); n > 0 && !c.bad; n-- {
			r.earlier = append(r.earlier, c.entry())
		}
	case answerSegment:
		r.entry = c.entry()
	default:
		c.fail()
	}
	if c.bad {
		err = ErrDamaged
	}
	return r, err
}

// conceal takes the private answers out of a request and reports whether there were any.
func (r *request) conceal() (found bool) {
	conceal := func(e *engine.Entry) {
		if e.Private && len(e.Output) > 0 {
			e.Output, found = nil, true
		}
	}
	conceal(&r.entry)
	for i := range r.earlier {
		conceal(&r.earlier[i])
	}
	return found
}

// append writes the request as it was read.
func (r *request) append(dst []byte) []byte {
	if r.kind == answerSegment {
		return appendAnswer(dst, &engine.AnswerRow{Place: r.Place, Entry: r.entry})
	}
	return appendIntent(dst, &engine.IntentRow{Place: r.Place, Path: r.entry.Path, Hash: r.entry.Hash, Spent: r.entry.Spent, Earlier: r.earlier})
}

func (c *cursor) entry() engine.Entry {
	e := engine.Entry{Path: string(c.bytes())}
	status := c.byte()
	e.Private, e.Again, e.Unconfirmed = status&flagPrivate != 0, status&flagResent != 0, status&flagUnconfirmed != 0
	e.Status, e.Class, e.Error, e.Output = c.status(status&^(flagPrivate|flagSpent|flagResent|flagUnconfirmed)), c.class(), string(c.bytes()), c.bytes()
	if n := c.int(); n >= math.MinInt32 && n <= math.MaxInt32 {
		e.Attempts = int(n)
	} else {
		c.fail()
	}
	for n := c.length(); n > 0 && !c.bad; n-- {
		e.Statuses = append(e.Statuses, int(c.int()))
	}
	e.Hash = c.hash()
	if status&flagSpent != 0 {
		e.Spent = c.outlay()
	}
	return e
}

func (c *cursor) outlay() (o engine.Outlay) {
	n := c.int()
	o.Requests = n >> 1
	if n&1 != 0 {
		for _, field := range usageFields(&o.Usage) {
			*field = c.int()
		}
	}
	return o
}
