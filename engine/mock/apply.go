package mock

import (
	"github.com/google/uuid"
)

// kept is the answer stored for a key, and the time at which it was made.
type kept struct {
	era
	answer
}

// write appends a checked change to the log.
func (s *Shop) write(c *change) error {
	if s.log == nil {
		return nil
	}
	frame := buffers.Get().(*[]byte)
	defer buffers.Put(frame)
	*frame = appendFrame((*frame)[:0], c.append)
	return s.log.append(*frame)
}

// redo applies a change read from the log.
func (s *Shop) redo(c change) {
	s.found = max(s.found, c.cycle)
	u := s.users.of(c.user)
	if c.claims {
		s.sessions.claim(c.session, u)
	}
	s.apply(u, &c)
}

// apply makes the next state of u, whose lock the caller holds, and returns the answer. The result depends only on the state and on c, so
// that replaying a log restores the same state. apply does not check c again.
func (s *Shop) apply(u *user, c *change) answer {
	s.forget(u, c.era)
	if c.claims {
		u.seen = append(u.seen, seenSession{c.session, c.era})
	}
	a := s.act(u, c)
	if c.keyed {
		if u.answered == nil {
			u.answered = map[keyHash]kept{}
		}
		u.answered[c.key] = kept{c.era, a}
	}
	return a
}

func (s *Shop) act(u *user, c *change) answer {
	switch c.op {
	case opRefused:
		return &refusal{status: int(c.status), detail: c.detail}
	case opSession:
		u.opened++
		if c.store != noStore {
			u.store = c.store
		}
		return sessionOpened{c.session}
	case opStore:
		u.store = c.store
		return storeSelected{c.store}
	case opAdd:
		u.cart = add(u.cart, c.line)
		return itemAdded{u.carts, line{c.line.product, quantity(u.cart, c.line.product)}}
	case opClear:
		a := cartCleared{len(u.cart), u.selected.len()}
		u.emptyCart()
		return a
	case opCoupon:
		u.selected.add(int(c.coupon))
		return couponApplied{c.coupon}
	case opOrder:
		return s.placeOrder(u, c)
	case opSeen, opSettings, opEnd:
	}
	return nil
}

func (s *Shop) placeOrder(u *user, c *change) answer {
	o := &order{
		number: u.orders, at: c.at, key: c.key, keyed: c.keyed,
		store: u.store, carts: u.carts, lines: u.cart, selected: u.selected,
	}
	for _, l := range o.lines {
		u.bought = add(u.bought, l)
		s.sold[l.product].Add(int64(l.quantity))
	}
	if len(u.last) == ordersKept {
		copy(u.last, u.last[1:])
		u.last = u.last[:ordersKept-1]
	}
	u.last = append(u.last, o)
	u.orders++
	u.emptyCart()
	return ordered{o}
}

// emptyCart starts the next cart. It drops the old lines instead of clearing them, because an order may hold them now.
func (u *user) emptyCart() {
	u.cart, u.selected = nil, 0
	u.carts++
}

// forget drops the user's expired keys and sessions at the first change of a cycle or, without cycles, an hour after the last time.
func (s *Shop) forget(u *user, now era) {
	switch {
	case now.tagged && now.cycle > u.cycle:
		u.cycle = now.cycle
	case !now.tagged && now.at-u.swept > keptAlone.Microseconds()/24:
		u.swept = now.at
	default:
		return
	}
	for key, k := range u.answered {
		if k.gone(now) {
			delete(u.answered, key)
		}
	}
	rest := u.seen[:0]
	for _, session := range u.seen {
		if session.gone(now) {
			s.sessions.release(session.id, u)
		} else {
			rest = append(rest, session)
		}
	}
	u.seen = rest
}

// left returns how many units of a product u can still order.
func (s *Shop) left(u *user, product int32) int {
	stock := s.goods.products[product].stock
	if s.cfg.Scarcity {
		return stock - int(s.sold[product].Load())
	}
	return stock - int(quantity(u.bought, product))
}

// nextSession returns the ID of a session that u opens without naming one.
func (u *user) nextSession() uuid.UUID { return newID(u.key.Text("session").Int(uint64(u.opened))) }
