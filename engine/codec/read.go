package codec

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/decision"
	"github.com/throng-sim/throng/engine/retrieval"
)

// maxInterned bounds the number of texts that a reader interns.
const maxInterned = 10_000

// SessionReader decodes sessions into one row that it reuses. It interns texts that repeat.
type SessionReader struct {
	row      engine.SessionRow
	statuses []int
	texts    map[string]string
}

// release leaves the slices of the last row to the caller. Otherwise, the next row reuses them.
func (r *SessionReader) release() { r.row.Steps, r.row.Events, r.statuses = nil, nil, nil }

func (r *SessionReader) text(b []byte) string {
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

// Read decodes the row of a session; the row is valid until the next read.
func (r *SessionReader) Read(c Cursor, cycle int, base int64) (*engine.SessionRow, error) {
	steps, events := r.row.Steps[:0], r.row.Events[:0]
	r.statuses = r.statuses[:0]
	r.row = engine.SessionRow{Place: c.Place(cycle)}
	flags := c.byte()
	r.row.Outcome, r.row.Open = c.sessionOutcome(flags)
	r.row.Acted = flags&flagActed != 0
	if started := c.int(); started != noTime {
		r.row.Started = time.UnixMicro(base + started).UTC()
	}
	r.row.Queue, r.row.Throttled, r.row.Service, r.row.Total = c.duration(), c.duration(), c.duration(), c.duration()
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
	if flags&flagSaid != 0 {
		r.row.Delta.Said = c.said()
	}
	if c.bad {
		return nil, ErrDamaged
	}
	return &r.row, nil
}

func (r *SessionReader) steps(c *Cursor, steps []engine.StepRecord) []engine.StepRecord {
	for n := c.length(); n > 0 && !c.bad; n-- {
		s := engine.StepRecord{Path: r.text(c.bytes())}
		flags := c.byte()
		more := uint64(0)
		if flags&flagMore != 0 {
			more = c.uint()
		}
		s.Status, s.Label = c.status(flags&statusBits), engine.Label(flags>>labelShift&labelBits)
		if more&flagLabel != 0 {
			s.Label = c.label()
		}
		s.Parallel = more&flagParallel != 0
		if flags&flagStepErr != 0 {
			s.Class = c.class()
		}
		if flags&flagRequests != 0 {
			s.Attempts, s.Statuses = r.requests(c)
		}
		if more&flagSize != 0 {
			s.Size = c.int()
		}
		if more&flagRedirects != 0 {
			s.Redirects = int(c.int())
		}
		if more&flagRounds != 0 {
			s.Rounds = int(c.int())
		}
		s.Throttled, s.Service = c.duration(), c.duration()
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
			s.Waits = c.waits()
		}
		if more&flagDecision != 0 {
			s.Decision = c.decision()
		}
		steps = append(steps, s)
	}
	return steps
}

// decision reads the answers of a model and a rule.
func (c *Cursor) decision() *decision.Pair {
	p := &decision.Pair{Used: decision.By(c.byte()), Failed: string(c.bytes())}
	if p.Used > decision.Rule {
		c.fail()
	}
	p.Model, p.Rule, p.Seen = c.bytes(), c.bytes(), c.bytes()
	return p
}

// waits reads waits. A later version may have more kinds.
func (c *Cursor) waits() *engine.Waits {
	w := new(engine.Waits)
	for i := range c.length() {
		if d := c.duration(); i < len(w) {
			w[i] = d
		}
	}
	return w
}

func (r *SessionReader) events(c *Cursor, events []engine.Event) []engine.Event {
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

func (r *SessionReader) requests(c *Cursor) (attempts int, statuses []int) {
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

// Rows calls f with each row of a pack and the pack's base time.
func Rows(pack []byte, f func(c Cursor, base int64) error) error {
	c := Cursor{data: pack}
	base := c.int()
	for c.More() {
		row := c.Segment()
		if row.bad {
			break
		}
		if err := f(row, base); err != nil {
			return err
		}
	}
	if c.bad {
		return ErrDamaged
	}
	return nil
}

// OutcomeOf reads the outcome at the start of a session's row.
func OutcomeOf(c Cursor, cycle int) (p engine.Place, o engine.Outcome, err error) {
	p = c.Place(cycle)
	o, _ = c.sessionOutcome(c.byte())
	if c.bad {
		err = ErrDamaged
	}
	return p, o, err
}

// ReadDelta decodes a delta; it shares memory with the pack.
func ReadDelta(c Cursor, cycle int) (p engine.Place, d engine.Delta, err error) {
	p = c.Place(cycle)
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
		d.Said = c.said()
		if flags&flagKept != 0 {
			d.Kept = c.kept()
		}
	}
	if c.bad {
		err = ErrDamaged
	}
	return p, d, err
}

func (c *Cursor) kept() (all []retrieval.Kept) {
	for n := c.length(); n > 0 && !c.bad; n-- {
		k := retrieval.Kept{Note: c.hash(), Cycle: int(c.int()), Used: int(c.int())}
		if k.Vector = c.bytes(); len(k.Vector) == 0 {
			k.Vector = nil
		}
		all = append(all, k)
	}
	return all
}

func (c *Cursor) said() (all []engine.Message) {
	for n := c.length(); n > 0 && !c.bad; n-- {
		m := engine.Message{Body: c.bytes()}
		for to := c.length(); to > 0 && !c.bad; to-- {
			m.To = append(m.To, int(c.uint()))
		}
		all = append(all, m)
	}
	return all
}

// Request is a decoded intent or answer.
type Request struct {
	engine.Place
	Kind    byte
	Entry   engine.Entry   // of an intent only Path, Hash and Spent
	Earlier []engine.Entry // of an intent
}

// ReadRequest decodes an intent or an answer; it shares memory with the pack.
func ReadRequest(c Cursor, cycle int) (r Request, err error) {
	r.Place = c.Place(cycle)
	switch r.Kind = c.byte(); r.Kind {
	case IntentKind:
		r.Entry.Path, r.Entry.Hash = string(c.bytes()), c.hash()
		r.Entry.Spent = c.outlay()
		for n := c.length(); n > 0 && !c.bad; n-- {
			r.Earlier = append(r.Earlier, c.entry())
		}
	case AnswerKind:
		r.Entry = c.entry()
	default:
		c.fail()
	}
	if c.bad {
		err = ErrDamaged
	}
	return r, err
}

// Conceal removes the private answers from a request and reports whether there were any.
func (r *Request) Conceal() (found bool) {
	conceal := func(e *engine.Entry) {
		if e.Private && len(e.Output) > 0 {
			e.Output, found = nil, true
		}
	}
	conceal(&r.Entry)
	for i := range r.Earlier {
		conceal(&r.Earlier[i])
	}
	return found
}

// Append writes the request in the form in which it was read.
func (r *Request) Append(dst []byte) []byte {
	if r.Kind == AnswerKind {
		return AppendAnswer(dst, &engine.AnswerRow{Place: r.Place, Entry: r.Entry})
	}
	return AppendIntent(dst, &engine.IntentRow{Place: r.Place, Path: r.Entry.Path, Hash: r.Entry.Hash, Spent: r.Entry.Spent, Earlier: r.Earlier})
}

func (c *Cursor) entry() engine.Entry {
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

func (c *Cursor) outlay() (o engine.Outlay) {
	n := c.int()
	o.Requests = n >> 1
	if n&1 != 0 {
		for _, field := range usageFields(&o.Usage) {
			*field = c.int()
		}
	}
	return o
}
