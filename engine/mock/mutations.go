package mock

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"
)

// Mutation is one change of a shop, as recorded in its log.
type Mutation struct {
	User  string
	Cycle int
	// Description describes the change. It depends only on the user's own history: it contains no key, and no time other than simulated time.
	Description string
	// Key identifies the request's Idempotency-Key; "" if it had none.
	Key string
}

// Mutations returns the changes of a shop that is not running, in the order of writing. It ignores an unfinished record at the end.
func Mutations(path string) ([]Mutation, error) {
	all, err := mutations(path)
	if err != nil {
		return nil, fmt.Errorf("read the mutation log %s: %w", path, err)
	}
	return all, nil
}

func mutations(path string) (all []Mutation, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if _, begun, err := scanSettings(f, info.Size()); err != nil || !begun {
		return nil, err
	}
	_, err = scan(f, info.Size(), func(c change) {
		if c.claims { // by the first request of the session
			all = append(all, Mutation{User: c.user, Cycle: c.cycle, Description: "comes with session " + c.session.String()})
		}
		if c.op == opSeen {
			return
		}
		m := Mutation{User: c.user, Cycle: c.cycle, Description: c.words()}
		if c.keyed {
			m.Key = hex.EncodeToString(c.key[:])
		}
		all = append(all, m)
	})
	return all, err
}

func (c *change) words() string {
	text := "changes nothing"
	switch c.op {
	case opRefused:
		text = fmt.Sprintf("is refused with %d: %s", c.status, c.detail)
	case opSession:
		text = fmt.Sprintf("opens session %s, store %d", c.session, c.store)
	case opStore:
		text = fmt.Sprintf("selects store %d", c.store)
	case opAdd:
		text = fmt.Sprintf("puts %d of product %d into the cart", c.line.quantity, c.line.product)
	case opClear:
		text = "empties the cart"
	case opCoupon:
		text = fmt.Sprintf("selects coupon %d", c.coupon)
	case opOrder:
		text = "orders the cart"
	case opSeen, opSettings, opEnd:
	}
	if c.tagged {
		text += " at " + time.UnixMicro(c.at).UTC().Format(time.RFC3339)
	}
	return text
}
