package mock

import (
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// catalogue is the shop's goods, stores and coupons, drawn from the seed once. It never changes, so reading it needs no lock.
type catalogue struct {
	products []product
	stores   []store
	coupons  []coupon

	productByID, storeByID, couponByID map[uuid.UUID]int
	words                              []word // for search, sorted by text
	itemLevel, frontstore              couponSet
}

// product is one thing for sale. Other types refer to it by number, its index in the catalogue.
type product struct {
	id                    uuid.UUID
	name, category, brand string
	price                 cents
	ratingTenths          int
	stock                 int    // per user, or for all users if stock is shared
	opening               []byte // its JSON up to the value of in_stock
}

// store is one of the shop's stores.
type store struct {
	id   uuid.UUID
	name string
	json []byte
}

func newCatalogue(root draw.Key) *catalogue {
	c := &catalogue{productByID: map[uuid.UUID]int{}, storeByID: map[uuid.UUID]int{}, couponByID: map[uuid.UUID]int{}}
	for _, shelf := range assortment {
		for _, good := range shelf.goods {
			n := len(c.products)
			p := newProduct(root.Text("product").Int(uint64(n)), shelf.category, good)
			c.productByID[p.id] = n
			c.products = append(c.products, p)
		}
	}
	for n, name := range storeNames {
		s := store{id: newID(root.Text("store").Int(uint64(n))), name: name}
		s.json = append(appendID([]byte(`{"id":`), s.id), `,"name":`...)
		s.json = append(appendText(s.json, name), '}')
		c.storeByID[s.id] = n
		c.stores = append(c.stores, s)
	}
	c.coupons = newCoupons(root)
	for n, coupon := range c.coupons {
		c.couponByID[coupon.id] = n
		if coupon.kind == kindFrontstore {
			c.frontstore.add(n)
		} else {
			c.itemLevel.add(n)
		}
	}
	c.words = newWords(c.products)
	return c
}

func newProduct(key draw.Key, category string, g good) product {
	source := key.Text("draws").Source()
	p := product{id: newID(key), name: g.name, category: category, brand: brandNames[source.IntN(brandCount)]}
	// Within 20% of the usual price, ending in 9 as prices do.
	p.price = g.price.percent(cents(8_000+source.IntN(4_001)))/10*10 + 9
	p.ratingTenths = 30 + source.IntN(21)
	p.stock = 100 + source.IntN(maxStock-100)

	b := append(appendID([]byte(`{"id":`), p.id), `,"name":`...)
	b = append(appendText(b, p.name), `,"category":`...)
	b = append(appendText(b, p.category), `,"brand":`...)
	b = append(appendText(b, p.brand), `,"price":`...)
	b = append(p.price.append(b), `,"rating":`...)
	b = append(b, byte('0'+p.ratingTenths/10), '.', byte('0'+p.ratingTenths%10))
	p.opening = append(b, `,"in_stock":`...)
	return p
}

// newID returns the UUID of a key, in the form of version 4.
func newID(key draw.Key) uuid.UUID {
	var id uuid.UUID
	hi, lo := key.Sum()
	binary.BigEndian.PutUint64(id[:8], hi)
	binary.BigEndian.PutUint64(id[8:], lo)
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// parseID reads a UUID in its canonical form of 36 characters only.
func parseID(text string) (uuid.UUID, bool) {
	if len(text) != 36 {
		return uuid.UUID{}, false
	}
	id, err := uuid.Parse(text)
	return id, err == nil
}
