package codec

import (
	"encoding/binary"
	"math"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/retrieval"
)

// noTime stands for the zero time.
const noTime = math.MinInt64

// Flags of a session's segment. The outcome takes the low three bits.
const (
	outcomeBits = 0b111
	openOutcome = outcomeBits // the session had an intended start, and the outcome follows
	flagActed   = 1 << 3
	flagClass   = 1 << 4
	flagTexts   = 1 << 5 // path, error, because
	flagSteps   = 1 << 6 // steps and events
	flagSaid    = 1 << 7 // messages to other agents
)

// Flags of a step. Its status and label take the low bits.
const (
	statusBits   = 0b111
	labelShift   = 3
	labelBits    = 0b11
	flagStepErr  = 1 << 5
	flagRequests = 1 << 6
	flagMore     = 1 << 7 // a number with the flags below follows
)

// Further flags of a step.
const (
	flagUsage    = 1 << 0
	flagParallel = 1 << 1
	flagWaits    = 1 << 2
	flagLabel    = 1 << 3 // its label follows, because the first flags have no room for it
	flagAgain    = 1 << 4 // repeated calls follow its usage
	flagSize     = 1 << 5 // the size of its answers follows its requests
	// flagRedirects: the number of redirects follows the size.
	flagRedirects = 1 << 6
	// flagRounds: the number of rounds with results of tools follows the redirects.
	flagRounds   = 1 << 7
	flagDecision = 1 << 8 // the answers of a model and a rule come last
)

// appendSegment appends a row: its length, and the body that f writes.
func appendSegment(dst []byte, f func(dst []byte) []byte) []byte {
	start := len(dst)
	dst = f(append(dst, 0))
	n := len(dst) - start - 1
	if n < 0x80 { // most sessions and requests
		dst[start] = byte(n)
		return dst
	}
	var length [binary.MaxVarintLen64]byte
	k := binary.PutUvarint(length[:], uint64(n))
	dst = append(dst, length[1:k]...)
	copy(dst[start+k:], dst[start+1:start+1+n])
	copy(dst[start:], length[:k])
	return dst
}

func appendText[T string | []byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendPlace(dst []byte, p engine.Place) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(p.Agent)), uint64(p.Take))
}

// AppendSession appends the row of a session. Of its Delta it only keeps the messages, if the session commits.
func AppendSession(dst []byte, r *engine.SessionRow, base int64) []byte {
	return appendSegment(dst, func(dst []byte) []byte {
		dst = appendPlace(dst, r.Place)
		flags := byte(r.Outcome) & outcomeBits
		if r.Acted {
			flags |= flagActed
		}
		if r.Class != engine.NoError {
			flags |= flagClass
		}
		if r.Path != "" || r.Error != "" || r.Because != "" {
			flags |= flagTexts
		}
		if len(r.Steps) > 0 || len(r.Events) > 0 {
			flags |= flagSteps
		}
		if r.Outcome.Commits() && len(r.Delta.Said) > 0 {
			flags |= flagSaid
		}
		if r.Open {
			dst = append(dst, flags|openOutcome, byte(r.Outcome))
		} else {
			dst = append(dst, flags)
		}
		started := int64(noTime)
		if !r.Started.IsZero() {
			started = r.Started.UnixMicro() - base
		}
		for _, n := range [...]int64{started, int64(r.Queue), int64(r.Throttled), int64(r.Service), int64(r.Total)} {
			dst = binary.AppendVarint(dst, n)
		}
		if flags&flagClass != 0 {
			dst = append(dst, byte(r.Class))
		}
		if flags&flagTexts != 0 {
			dst = appendText(appendText(appendText(dst, r.Path), r.Error), r.Because)
		}
		if flags&flagSteps != 0 {
			dst = appendSteps(dst, r)
		}
		if flags&flagSaid != 0 {
			dst = appendSaid(dst, r.Delta.Said)
		}
		return dst
	})
}

func appendSteps(dst []byte, r *engine.SessionRow) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(r.Steps)))
	for i := range r.Steps {
		s := &r.Steps[i]
		flags := byte(s.Status) & statusBits
		if s.Label <= labelBits {
			flags |= byte(s.Label) << labelShift
		}
		if s.Class != engine.NoError {
			flags |= flagStepErr
		}
		if s.Attempts != 0 || len(s.Statuses) > 0 {
			flags |= flagRequests
		}
		more := uint64(0)
		if s.Usage != nil {
			more |= flagUsage
		}
		if s.Parallel {
			more |= flagParallel
		}
		if s.Waits != nil {
			more |= flagWaits
		}
		if s.Label > labelBits {
			more |= flagLabel
		}
		if s.Usage != nil && s.Usage.Again != 0 {
			more |= flagAgain
		}
		if s.Size != 0 {
			more |= flagSize
		}
		if s.Redirects != 0 {
			more |= flagRedirects
		}
		if s.Rounds != 0 {
			more |= flagRounds
		}
		if s.Decision != nil {
			more |= flagDecision
		}
		if more != 0 {
			flags |= flagMore
		}
		dst = append(appendText(dst, s.Path), flags)
		if more != 0 {
			dst = binary.AppendUvarint(dst, more)
		}
		if more&flagLabel != 0 {
			dst = append(dst, byte(s.Label))
		}
		if flags&flagStepErr != 0 {
			dst = append(dst, byte(s.Class))
		}
		if flags&flagRequests != 0 {
			dst = appendRequests(dst, s.Attempts, s.Statuses)
		}
		if more&flagSize != 0 {
			dst = binary.AppendVarint(dst, s.Size)
		}
		if more&flagRedirects != 0 {
			dst = binary.AppendVarint(dst, int64(s.Redirects))
		}
		if more&flagRounds != 0 {
			dst = binary.AppendVarint(dst, int64(s.Rounds))
		}
		dst = binary.AppendVarint(binary.AppendVarint(dst, int64(s.Throttled)), int64(s.Service))
		if s.Usage != nil {
			for _, n := range usageFields(s.Usage) {
				dst = binary.AppendVarint(dst, *n)
			}
		}
		if more&flagAgain != 0 {
			dst = binary.AppendVarint(dst, s.Usage.Again)
		}
		if s.Waits != nil {
			dst = binary.AppendUvarint(dst, uint64(len(s.Waits))) // a later version may have more kinds of waits
			for _, d := range s.Waits {
				dst = binary.AppendVarint(dst, int64(d))
			}
		}
		if p := s.Decision; p != nil {
			dst = appendText(append(dst, byte(p.Used)), p.Failed)
			dst = appendText(appendText(appendText(dst, p.Model), p.Rule), p.Seen)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.Events)))
	at := 0
	for i := range r.Events {
		e := &r.Events[i]
		// Events follow the order of the steps, so the search starts at the step of the previous event.
		step := 0
		for k := range r.Steps {
			if n := (at + k) % len(r.Steps); r.Steps[n].Path == e.Path {
				at, step = n, n+1
				break
			}
		}
		dst = binary.AppendUvarint(dst, uint64(step))
		if step == 0 {
			dst = appendText(dst, e.Path)
		}
		dst = appendText(appendText(dst, e.Name), e.Data)
	}
	return dst
}

// usageFields are the fields of a usage except Again, in encoding order.
func usageFields(u *engine.Usage) [12]*int64 {
	return [...]*int64{&u.Calls, &u.Input, &u.Output, &u.Cost, &u.Unpriced, &u.Estimated, &u.Hits, &u.Cached, &u.Written, &u.Cacheable, &u.Doubtful, &u.Batched}
}

func appendRequests(dst []byte, attempts int, statuses []int) []byte {
	dst = binary.AppendVarint(dst, int64(attempts))
	dst = binary.AppendUvarint(dst, uint64(len(statuses)))
	for _, s := range statuses {
		dst = binary.AppendVarint(dst, int64(s))
	}
	return dst
}

// Flags of a delta.
const (
	flagRead    = 1 << 0
	flagReplace = 1 << 1
	flagKept    = 1 << 2
)

// AppendDelta appends the row of a session's memory changes. An empty one means that a later take changes nothing.
func AppendDelta(dst []byte, p engine.Place, d *engine.Delta) []byte {
	return appendSegment(dst, func(dst []byte) []byte {
		dst = appendPlace(dst, p)
		dst = binary.AppendVarint(dst, int64(d.Keep))
		dst = binary.AppendUvarint(dst, uint64(len(d.Set)))
		for i := range d.Set {
			dst = appendText(appendText(dst, d.Set[i].Name), d.Set[i].Value)
		}
		dst = binary.AppendUvarint(dst, uint64(len(d.Notes)))
		for _, n := range d.Notes {
			dst = appendText(dst, n)
		}
		if !d.Read && !d.Replace && len(d.Said) == 0 && len(d.Kept) == 0 {
			return dst
		}
		flags := byte(0)
		if d.Read {
			flags |= flagRead
		}
		if d.Replace {
			flags |= flagReplace
		}
		if len(d.Kept) > 0 {
			flags |= flagKept
		}
		dst = appendSaid(append(dst, flags), d.Said)
		if len(d.Kept) == 0 {
			return dst
		}
		return appendKept(dst, d.Kept)
	})
}

func appendKept(dst []byte, all []retrieval.Kept) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(all)))
	for i := range all {
		k := &all[i]
		dst = binary.LittleEndian.AppendUint64(dst, k.Note)
		dst = appendText(binary.AppendVarint(binary.AppendVarint(dst, int64(k.Cycle)), int64(k.Used)), k.Vector)
	}
	return dst
}

func appendSaid(dst []byte, said []engine.Message) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(said)))
	for _, m := range said {
		dst = binary.AppendUvarint(appendText(dst, m.Body), uint64(len(m.To)))
		for _, to := range m.To {
			dst = binary.AppendUvarint(dst, uint64(to))
		}
	}
	return dst
}

// The kinds of a request.
const (
	IntentKind byte = 0
	AnswerKind byte = 1
)

// AppendIntent appends the row of an intent.
func AppendIntent(dst []byte, r *engine.IntentRow) []byte {
	return appendSegment(dst, func(dst []byte) []byte {
		dst = append(appendPlace(dst, r.Place), IntentKind)
		dst = appendOutlay(binary.LittleEndian.AppendUint64(appendText(dst, r.Path), r.Hash), &r.Spent)
		dst = binary.AppendUvarint(dst, uint64(len(r.Earlier)))
		for i := range r.Earlier {
			dst = appendEntry(dst, &r.Earlier[i])
		}
		return dst
	})
}

// AppendAnswer appends the row of an answer.
func AppendAnswer(dst []byte, r *engine.AnswerRow) []byte {
	return appendSegment(dst, func(dst []byte) []byte {
		return appendEntry(append(appendPlace(dst, r.Place), AnswerKind), &r.Entry)
	})
}

// Flags above the status of an entry: it is private, its spending follows at its end, its request had been sent before, and it may have
// been carried out twice.
const (
	flagPrivate     = 1 << 7
	flagSpent       = 1 << 6
	flagResent      = 1 << 5
	flagUnconfirmed = 1 << 4
)

func appendEntry(dst []byte, e *engine.Entry) []byte {
	status := byte(e.Status)
	if e.Private {
		status |= flagPrivate
	}
	if e.Spent != (engine.Outlay{}) {
		status |= flagSpent
	}
	if e.Again {
		status |= flagResent
	}
	if e.Unconfirmed {
		status |= flagUnconfirmed
	}
	dst = append(appendText(dst, e.Path), status, byte(e.Class))
	dst = appendText(appendText(dst, e.Error), e.Output)
	dst = appendRequests(dst, e.Attempts, e.Statuses)
	dst = binary.LittleEndian.AppendUint64(dst, e.Hash)
	if status&flagSpent != 0 {
		dst = appendOutlay(dst, &e.Spent)
	}
	return dst
}

// appendOutlay appends the requests of an outlay, shifted left by one, and the usage if the low bit is set.
func appendOutlay(dst []byte, o *engine.Outlay) []byte {
	if o.Usage == (engine.Usage{}) {
		return binary.AppendVarint(dst, o.Requests<<1)
	}
	dst = binary.AppendVarint(dst, o.Requests<<1|1)
	for _, n := range usageFields(&o.Usage) {
		dst = binary.AppendVarint(dst, *n)
	}
	return dst
}

// AppendRow appends a row with a given body.
func AppendRow(dst, body []byte) []byte { return appendText(dst, body) }
