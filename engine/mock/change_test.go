package mock

import (
	"errors"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

func TestChangesSurviveTheirRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := change{
			era:  era{cycle: rapid.IntRange(0, 1<<31-1).Draw(t, "cycle"), tagged: rapid.Bool().Draw(t, "tagged"), at: rapid.Int64().Draw(t, "at")},
			op:   op(rapid.IntRange(int(opRefused), int(opOrder)).Draw(t, "op")),
			user: rapid.StringN(1, maxUserID/4, maxUserID).Draw(t, "user"),
		}
		if c.keyed = rapid.Bool().Draw(t, "keyed"); c.keyed {
			c.key = hashKey(rapid.String().Draw(t, "key"))
		}
		if c.claims = rapid.Bool().Draw(t, "claims"); c.claims || c.op == opSession {
			c.session = newID(testRoot(rapid.Uint64().Draw(t, "session")))
		}
		switch c.op {
		case opSession:
			c.store = rapid.Int32Range(noStore, storeCount-1).Draw(t, "store")
		case opStore:
			c.store = rapid.Int32Range(0, storeCount-1).Draw(t, "store")
		case opAdd:
			c.line = line{rapid.Int32Range(0, productCount-1).Draw(t, "product"), rapid.Int32Range(1, maxStock).Draw(t, "quantity")}
		case opCoupon:
			c.coupon = rapid.Int32Range(0, couponCount-1).Draw(t, "coupon")
		case opRefused:
			c.status, c.detail = rapid.Int32Range(400, 499).Draw(t, "status"), rapid.StringN(0, 100, 400).Draw(t, "detail")
		case opSettings, opSeen, opClear, opOrder, opEnd:
		}
		frame := appendFrame(nil, c.append)
		body, whole := parseFrame(frame)
		if !whole {
			t.Fatalf("no whole frame of %d bytes", len(frame))
		}
		if got, err := parseChange(body); err != nil || got != c {
			t.Fatalf("%+v came back as %+v, %v", c, got, err)
		}
	})
}

func TestInvalidRecordsAreDamage(t *testing.T) {
	good := change{op: opAdd, user: "ann", line: line{3, 1}}
	for name, body := range map[string][]byte{
		"empty user":        (&change{op: opClear}).append(nil),
		"unknown operation": (&change{op: opEnd, user: "ann"}).append(nil),
		"settings":          (&change{op: opSettings, user: "ann"}).append(nil),
		"product":           (&change{op: opAdd, user: "ann", line: line{productCount, 1}}).append(nil),
		"quantity":          (&change{op: opAdd, user: "ann", line: line{1, 0}}).append(nil),
		"store":             (&change{op: opStore, user: "ann", store: noStore}).append(nil),
		"coupon":            (&change{op: opCoupon, user: "ann", coupon: couponCount}).append(nil),
		"status":            (&change{op: opRefused, user: "ann", status: 200}).append(nil),
		"too long":          append(good.append(nil), 0),
		"too short":         good.append(nil)[:5],
	} {
		path := filepath.Join(t.TempDir(), "shop.log")
		writeFile(t, path, appendFrame(appendSettings(nil, 4), func(b []byte) []byte { return append(b, body...) }))
		if _, err := Start(Config{Seed: 4, Log: path}); !errors.Is(err, errRecord) {
			t.Errorf("%s: %v, want %v", name, err, errRecord)
		}
	}
}
