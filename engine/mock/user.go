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

// user is what the shop knows of one user, made when the user is first seen. Carts, coupons and what was bought are
// kept in the order of the catalogue, so that changes which do not depend on each other can come in any order.
type user struct {
	id     string
	key    draw.Key // of everything drawn for this user
	wallet couponSet
	calls  atomic.Int64 // requests without X-Throng-Request

	mu       sync.Mutex // holds what follows
	store    int32      // drawn until one is selected
	carts    uint32     // how many carts this user has emptied
	opened   uint32     // sessions opened by POST
	orders   int64      // placed so far
	cart     []line
	selected couponSet
	bought   []line
	last     []*order // the newest at the end, at most ordersKept
	answered map[keyHash]kept
	seen     []seenSession
	cycle    int   // the newest one a change was tagged with
	swept    int64 // when old untagged keys and sessions were last dropped, µs
	logins   int64
	spent    map[int64]int // requests made with the newest tokens of logins, where tokens expire
}

func newUser(id string, key draw.Key) *user {
	store := key.Text("store").Source().IntN(storeCount)
	return &user{id: id, key: key, wallet: newWallet(key), store: int32(store)}
}

// ordersKept is how many orders of a user can be listed.
const ordersKept = 100

// order is a completed order. Its prices follow from the catalogue.
type order struct {
	number   int64 // of this user, from 0
	at       int64 // simulated time, µs
	key      keyHash
	keyed    bool
	store    int32
	carts    uint32 // which cart of the user it was
	lines    []line
	selected couponSet
}

// find returns where a product stands or would stand in lines.
func find(lines []line, product int32) (int, bool) {
	return slices.BinarySearchFunc(lines, product, func(l line, p int32) int { return int(l.product - p) })
}

// quantity is how many of a product lines hold.
func quantity(lines []line, product int32) int32 {
	if i, ok := find(lines, product); ok {
		return lines[i].quantity
	}
	return 0
}

// add puts more of a product into lines.
func add(lines []line, more line) []line {
	i, ok := find(lines, more.product)
	if ok {
		lines[i].quantity += more.quantity
		return lines
	}
	return slices.Insert(lines, i, more)
}

// itemID is the id of a product in one of the user's carts.
func (u *user) itemID(cart uint32, product int32) uuid.UUID {
	return newID(u.key.Text("cart item").Int(uint64(cart)).Int(uint64(product)))
}

// era is when something happened, as the rule of forgetting sees it: by cycle inside a run, by time alone.
type era struct {
	cycle  int
	tagged bool
	at     int64 // µs; looked at only when not tagged
}

// keptAlone is how long keys and sessions are kept when no cycles are known.
const keptAlone = 24 * time.Hour

// gone says whether what happened in e is forgotten at now: inside a run when a cycle lies between them, so that
// e lies before the previous barrier; alone after keptAlone.
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

// users finds a user by id, in shards so that users do not wait for each other.
type users struct {
	root   draw.Key
	seed   maphash.Seed // where a user is kept decides no answer
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

// known returns the user of that id, nil when not seen before.
func (us *users) known(id string) *user {
	shard := us.shard(id)
	shard.mu.RLock()
	defer shard.mu.RUnlock()
	return shard.byID[id]
}

// of returns the user of that id, made when not seen before.
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

// all calls visit with every user, each locked.
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
