package mock

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/google/uuid"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// The kinds of coupon and of discount, as the JSON names them.
const (
	kindFrontstore, kindCategory, kindBrand        = "frontstore", "category", "brand"
	discountPercent, discountFixed, discountTwoFor = "percent", "fixed", "bogo"
)

// coupon is one of the shop's coupons. Other types refer to it by number, its index in the catalogue.
type coupon struct {
	id       uuid.UUID
	kind     string // kindFrontstore, kindCategory, kindBrand
	scope    string // the category or brand; "" for a frontstore coupon
	discount string // discountPercent, discountFixed, discountTwoFor
	value    cents  // money, or hundredths of a percent
	minimum  cents  // the subtotal that a frontstore coupon needs
	ceiling  cents  // the largest discount of a percent coupon; 0 is unlimited
	details  string
	short    []byte // its JSON as an applied coupon shows it, without the closing brace
	full     []byte // its JSON up to the value of is_selected
}

// couponSet is a set of coupon numbers.
type couponSet uint64

func (s *couponSet) add(n int)     { *s |= 1 << n }
func (s couponSet) has(n int) bool { return s>>n&1 == 1 }
func (s couponSet) len() int       { return bits.OnesCount64(uint64(s)) }

// all yields the numbers in ascending order.
func (s couponSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for rest := s; rest != 0; rest &= rest - 1 {
			if !yield(bits.TrailingZeros64(uint64(rest))) {
				return
			}
		}
	}
}

const (
	frontstoreCoupons = 12
	couponsACategory  = 2
	smallestWallet    = 6
	largestWallet     = 12
)

// newCoupons draws the coupons: 12 for the front of the store, two for each category, the rest for brands.
func newCoupons(root draw.Key) []coupon {
	brands := brandNames
	source := root.Text("coupon brands").Source()
	source.Shuffle(len(brands), func(i, j int) { brands[i], brands[j] = brands[j], brands[i] })
	coupons := make([]coupon, couponCount)
	for n := range coupons {
		c := &coupons[n]
		key := root.Text("coupon").Int(uint64(n))
		c.id = newID(key)
		source := key.Text("draws").Source()
		category := n - frontstoreCoupons
		brand := category - couponsACategory*categoryCount
		switch {
		case category < 0:
			c.drawFrontstore(source)
		case brand < 0:
			c.kind, c.scope = kindCategory, assortment[category/couponsACategory].category
			c.drawItemLevel(source)
		default:
			c.kind, c.scope = kindBrand, brands[brand]
			c.drawItemLevel(source)
		}
		c.write()
	}
	return coupons
}

func (c *coupon) drawFrontstore(source *draw.Source) {
	c.kind = kindFrontstore
	c.minimum = cents(20+5*source.IntN(13)) * 100 // 20 to 80
	if source.IntN(2) == 0 {
		c.discount, c.value = discountFixed, c.minimum.percent(cents(5+source.IntN(11))*wholePercent)/50*50
	} else {
		c.discount, c.value = discountPercent, cents(5+5*source.IntN(4))*wholePercent
		c.ceiling = cents(5+source.IntN(11)) * 100
	}
}

func (c *coupon) drawItemLevel(source *draw.Source) {
	switch source.IntN(4) {
	case 0:
		c.discount, c.value = discountFixed, cents(1+source.IntN(6))*50
	case 1:
		c.discount, c.value = discountTwoFor, cents(25*(1+source.IntN(4)))*wholePercent
	default:
		c.discount, c.value = discountPercent, cents(10+5*source.IntN(5))*wholePercent
		c.ceiling = cents(2+source.IntN(7)) * 100
	}
}

// write fills in the coupon's description and JSON.
func (c *coupon) write() {
	what := c.scope
	if c.kind == kindFrontstore {
		what = fmt.Sprintf("orders of %s or more", c.minimum)
	}
	switch c.discount {
	case discountPercent:
		c.details = fmt.Sprintf("%d%% off %s (up to %s)", c.value/wholePercent, what, c.ceiling)
	case discountFixed:
		c.details = fmt.Sprintf("%s off %s", c.value, what)
	case discountTwoFor:
		c.details = fmt.Sprintf("Buy one, get one %d%% off: %s", c.value/wholePercent, what)
	}
	b := append(appendID([]byte(`{"id":`), c.id), `,"type":"`...)
	b = append(b, c.kind...)
	b = append(appendText(append(b, `","discount_details":`...), c.details), `,"category_or_brand":`...)
	if c.scope == "" {
		b = append(b, `null`...)
	} else {
		b = appendText(b, c.scope)
	}
	c.short = slices.Clip(b)
	b = append(append(slices.Clone(b), `,"discount_type":"`...), c.discount...)
	b = c.value.append(append(b, `","discount_value":`...))
	b = c.minimum.append(append(b, `,"min_purchase_amount":`...))
	b = append(b, `,"max_discount":`...)
	if c.ceiling == 0 {
		b = append(b, `null`...)
	} else {
		b = c.ceiling.append(b)
	}
	c.full = append(b, `,"is_selected":`...)
}

// covers reports whether an item-level coupon applies to a product.
func (c *coupon) covers(p *product) bool {
	return c.kind == kindCategory && c.scope == p.category || c.kind == kindBrand && c.scope == p.brand
}

// off returns the discount on an amount, at most the amount itself.
func (c *coupon) off(amount cents) cents {
	var d cents
	switch c.discount {
	case discountPercent:
		d = amount.percent(c.value)
		if c.ceiling > 0 {
			d = min(d, c.ceiling)
		}
	case discountFixed:
		d = c.value
	case discountTwoFor:
		d = amount.bogo(c.value)
	}
	return min(d, amount)
}

// newWallet draws the coupons of a user.
func newWallet(user draw.Key) couponSet {
	source := user.Text("wallet").Source()
	size := smallestWallet + source.IntN(largestWallet-smallestWallet+1)
	var wallet couponSet
	for wallet.len() < size {
		wallet.add(source.IntN(couponCount))
	}
	return wallet
}
