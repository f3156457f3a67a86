package mock

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// user is the shop's state of one user, created on first use. Carts, coupons and purchases are kept in catalogue order, so that
// independent changes can come in any order.
type user struct {
	id     string
	key    draw.Key // of all random draws for this user
	wallet couponSet
	calls  atomic.Int64 // requests without X-Throng-Request

	mu       sync.Mutex // guards the fields below
	store    int32      // drawn until one is selected
	carts    uint32     // number of carts that this user has emptied
	opened   uint32     // sessions opened by POST
	orders   int64      // placed so far
	cart     []line
	selected couponSet
	bought   []line
	last     []*order // the newest at the end, at most ordersKept
	answered map[keyHash]kept
	seen     []seenSession
	cycle    int   // the latest one of a tagged change
	swept    int64 // when expired untagged keys and sessions were last dropped, µs
	logins   int64
	spent    map[int64]int // requests made with the newest login tokens, if tokens expire
}

func newUser(id string, key draw.Key) *user {
	store := key.Text("store").Source().IntN(storeCount)
	return &user{id: id, key: key, wallet: newWallet(key), store: int32(store)}
}

// ordersKept is the number of a user's orders that can be listed.
const ordersKept = 100

// order is a completed order. Its prices follow from the catalogue.
type order struct {
	number   int64 // of this user, from 0
	at       int64 // simulated time, µs
	key      keyHash
	keyed    bool
	store    int32
	carts    uint32 // the number of this cart of the user
	lines    []line
	selected couponSet
}

// find returns the index at which a product is, or belongs, in lines.
func find(lines []line, product int32) (int, bool) {
	return slices.BinarySearchFunc(lines, product, func(l line, p int32) int { return int(l.product - p) })
}

// quantity returns the quantity of a product in lines.
func quantity(lines []line, product int32) int32 {
	if i, ok := find(lines, product); ok {
		return lines[i].quantity
	}
	return 0
}

// add adds a quantity of a product to lines.
func add(lines []line, more line) []line {
	i, ok := find(lines, more.product)
	if ok {
		lines[i].quantity += more.quantity
		return lines
	}
	return slices.Insert(lines, i, more)
}

// itemID returns the ID of a product in one of the user's carts.
func (u *user) itemID(cart uint32, product int32) uuid.UUID {
	return newID(u.key.Text("cart item").Int(uint64(cart)).Int(uint64(product)))
}

// era is a time for the expiry of keys and sessions: the cycle inside a run, the clock otherwise.
type era struct {
	cycle  int
	tagged bool
	at     int64 // µs; used only if not tagged
}

// keptAlone is how long keys and sessions are kept without cycles.
const keptAlone = 24 * time.Hour

// gone reports whether something from era e has expired at now: inside a run when e is before the previous barrier, that is, with a cycle
// between them; otherwise after keptAlone.
func (e era) gone(now era) bool {
	switch {
	case e.tagged != now.tagged:
		return false
	case e.tagged:
		return e.cycle < now.cycle-1
	default:
		return now.at-e.at > keptAlone.Microseconds()
	}
}

// users finds a user by ID, in shards to reduce lock contention.
type users struct {
	root   draw.Key
	seed   maphash.Seed // the shard of a user has no effect on answers
	shards [64]userShard
}

type userShard struct {
	mu   sync.RWMutex
	byID map[string]*user
}

func newUsers(root draw.Key) *users {
	u := &users{root: root.Text("user"), seed: maphash.MakeSeed()}
	for i := range u.shards {
		u.shards[i].byID = map[string]*user{}
	}
	return u
}

// known returns the user with that ID, nil if there is none.
func (us *users) known(id string) *user {
	shard := us.shard(id)
	shard.mu.RLock()
	defer shard.mu.RUnlock()
	return shard.byID[id]
}

// of returns the user with that ID, creating it if necessary.
func (us *users) of(id string) *user {
	if u := us.known(id); u != nil {
		return u
	}
	shard := us.shard(id)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if u := shard.byID[id]; u != nil {
		return u
	}
	u := newUser(id, us.root.Text(id))
	shard.byID[id] = u
	return u
}

func (us *users) shard(id string) *userShard {
	return &us.shards[maphash.String(us.seed, id)%uint64(len(us.shards))]
}

// all calls visit with every user, locked.
func (us *users) all(visit func(*user)) {
	for i := range us.shards {
		shard := &us.shards[i]
		shard.mu.RLock()
		for _, u := range shard.byID {
			u.mu.Lock()
			visit(u)
			u.mu.Unlock()
		}
		shard.mu.RUnlock()
	}
}
