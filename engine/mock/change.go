package mock

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"

	"github.com/google/uuid"
)

// op is the kind of a change. Logs contain the numbers: never renumber them.
type op uint8

const (
	opSettings op = iota // the first record of a log
	opRefused            // no change; the refusal is kept for a key
	opSeen               // no change; a session seen for the first time, in a call that changes nothing else
	opSession            // a session opened, with or without a store
	opStore              // a store selected
	opAdd                // a product put into the cart
	opClear              // the cart emptied
	opCoupon             // a coupon selected
	opOrder              // the cart ordered
	opEnd                // the first unused number
)

// keyHash is a hash of an Idempotency-Key, long enough that keys do not collide by accident.
type keyHash [16]byte

func hashKey(key string) keyHash {
	sum := sha256.Sum256([]byte(key))
	return keyHash(sum[:16])
}

// change is one checked mutation. The log stores it, and apply depends on nothing else.
type change struct {
	era
	op      op
	user    string
	key     keyHash
	keyed   bool
	session uuid.UUID // of opSession, or if claims is set
	claims  bool      // session belongs to the user from now on

	store  int32 // opStore; opSession, or noStore
	line   line  // opAdd
	coupon int32 // opCoupon
	status int32 // opRefused
	detail string
}

// noStore marks a session that was opened without naming a store.
const noStore = -1

const (
	flagTagged = 1 << iota
	flagKeyed
	flagClaims
	flagsEnd
)

// append writes the change in the form of the log: op, flags, cycle, time in µs, user, then the fields that flags and op select.
func (c *change) append(b []byte) []byte {
	var flags byte
	if c.tagged {
		flags |= flagTagged
	}
	if c.keyed {
		flags |= flagKeyed
	}
	if c.claims {
		flags |= flagClaims
	}
	b = append(b, byte(c.op), flags)
	b = binary.AppendUvarint(b, uint64(c.cycle))
	b = binary.AppendVarint(b, c.at)
	b = appendString(b, c.user)
	if c.keyed {
		b = append(b, c.key[:]...)
	}
	if c.claims || c.op == opSession {
		b = append(b, c.session[:]...)
	}
	switch c.op {
	case opSession, opStore:
		b = binary.AppendVarint(b, int64(c.store))
	case opAdd:
		b = binary.AppendVarint(b, int64(c.line.product))
		b = binary.AppendVarint(b, int64(c.line.quantity))
	case opCoupon:
		b = binary.AppendVarint(b, int64(c.coupon))
	case opRefused:
		b = binary.AppendVarint(b, int64(c.status))
		b = appendString(b, c.detail)
	case opSettings, opSeen, opClear, opOrder, opEnd:
	}
	return b
}

var errRecord = errors.New("its content is invalid")

// parseChange reads what append wrote, and checks that every number is in the range that apply accepts.
func parseChange(b []byte) (change, error) {
	r := reader{rest: b}
	c := change{op: op(r.byte())}
	flags := r.byte()
	c.tagged, c.keyed, c.claims = flags&flagTagged != 0, flags&flagKeyed != 0, flags&flagClaims != 0
	c.cycle = int(r.count(math.MaxInt32))
	c.at = r.number(math.MinInt64, math.MaxInt64)
	c.user = r.string()
	if c.keyed {
		r.copy(c.key[:])
	}
	if c.claims || c.op == opSession {
		r.copy(c.session[:])
	}
	switch c.op {
	case opSession:
		c.store = int32(r.number(noStore, storeCount-1))
	case opStore:
		c.store = int32(r.number(0, storeCount-1))
	case opAdd:
		c.line.product = int32(r.number(0, productCount-1))
		c.line.quantity = int32(r.number(1, maxStock))
	case opCoupon:
		c.coupon = int32(r.number(0, couponCount-1))
	case opRefused:
		c.status = int32(r.number(400, 499))
		c.detail = r.string()
	case opSeen, opClear, opOrder:
	case opSettings, opEnd:
		fallthrough
	default:
		r.bad = true
	}
	if r.bad || len(r.rest) > 0 || flags >= flagsEnd || c.user == "" {
		return change{}, errRecord
	}
	return c, nil
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// reader decodes a record. After a missing or out-of-range field, bad stays true and the rest reads as zero.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.rest) {
		r.bad = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) copy(into []byte) { copy(into, r.take(len(into))) }

func (r *reader) count(most uint64) uint64 {
	n, size := binary.Uvarint(r.rest)
	if r.take(max(size, 0)); size <= 0 || n > most {
		r.bad = true
		return 0
	}
	return n
}

func (r *reader) number(least, most int64) int64 {
	n, size := binary.Varint(r.rest)
	if r.take(max(size, 0)); size <= 0 || n < least || n > most {
		r.bad = true
		return 0
	}
	return n
}

func (r *reader) string() string { return string(r.take(int(r.count(maxRecord)))) }
