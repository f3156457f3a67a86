package apimock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/openapi"
	"github.com/throng-sim/throng/engine/openapi/sample"
)

// user is the state of one caller.
type user struct {
	name  string
	key   draw.Key
	calls atomic.Uint64 // without a tag, for the draws of the network

	mu          sync.Mutex // guards what follows
	made        int64      // changes without a tag
	collections map[string]*collection
	single      map[string]map[string]any // what was sent to other paths
	kept        map[string]reply          // by idempotency key
}

// collection is a list of things below a path.
type collection struct{ items []*item }

// item is a thing with an identifier. Its other values are drawn from its key.
type item struct {
	id    string
	order string // items are listed in this order, which does not depend on when requests arrive
	key   draw.Key
	data  map[string]any // the identifier, and what was sent
}

// seeded is how many things a list has in the beginning.
const seeded = 3

// collection returns the things below a path. The first time, it is filled.
func (u *user) collection(path string, r *resource) *collection {
	c := u.collections[path]
	if c != nil {
		return c
	}
	c = &collection{}
	u.collections[path] = c
	for n := range seeded {
		key := u.key.Text("seeded").Text(path).Int(uint64(n)) //nolint:gosec // n is small
		it := &item{key: key, order: strconv.Itoa(n), data: map[string]any{}}
		if r.id != "" {
			id := r.identifier(key)
			if r.idType() == "integer" {
				id = int64(n + 1)
			}
			it.data[r.id], it.id = id, fmt.Sprint(id)
		} else {
			it.id = strconv.Itoa(n + 1)
		}
		c.items = append(c.items, it)
	}
	return c
}

func (c *collection) find(id string) *item {
	i := slices.IndexFunc(c.items, func(it *item) bool { return it.id == id })
	if i < 0 {
		return nil
	}
	return c.items[i]
}

// add inserts an item in its order.
func (c *collection) add(it *item) {
	i, _ := slices.BinarySearchFunc(c.items, it, func(a, b *item) int { return strings.Compare(a.order, b.order) })
	c.items = slices.Insert(c.items, i, it)
}

// remove deletes an item, and everything below its path.
func (u *user) remove(c *collection, it *item, below string) {
	c.items = slices.DeleteFunc(c.items, func(other *item) bool { return other == it })
	for path := range u.collections {
		if strings.HasPrefix(path, below+"/") {
			delete(u.collections, path)
		}
	}
	for path := range u.single {
		if path == below || strings.HasPrefix(path, below+"/") {
			delete(u.single, path)
		}
	}
}

// identifier makes an identifier.
func (r *resource) identifier(key draw.Key) any {
	if r.schema == nil {
		return sample.ID(r.param, key.Text("id"))
	}
	return sample.ID(r.schema.Property(r.id), key.Text("id"))
}

func (r *resource) idType() string {
	if r.schema == nil {
		return ""
	}
	return r.schema.Property(r.id).Type()
}

// resource is what a collection of the document contains.
type resource struct {
	path   string          // /baskets/{basket_id}/items
	name   string          // of the parameter of an item
	id     string          // the property that is the identifier; "" if answers do not have it
	schema *openapi.Schema // of an item; nil if it is not known
	param  *openapi.Schema // of the parameter
}
