package mock

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestCompareLog compares logs and journals of the same moment and of different moments.
func TestCompareLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.log")
	s := indoors(t, Config{Seed: 6, Log: path})
	for cycle := range 2 {
		for i := range 3 {
			s.ask(ask{user: fmt.Sprint("user-", i), method: "POST", path: "/api/cart/items", body: s.productJSON(i, 1), tag: stamp(cycle, "add", 1), key: fmt.Sprintf("%d%d", cycle, i)})
		}
	}
	keyed := s.log.bytes()
	s.ask(ask{user: "user-0", method: "DELETE", path: "/api/cart", tag: stamp(1, "clear", 1)})
	size := s.log.bytes()
	if err := s.log.close(); err != nil {
		t.Fatal(err)
	}
	done, intent := func(key string) Sent { return Sent{key, true} }, func(key string) Sent { return Sent{Key: key} }
	for _, c := range []struct {
		name string
		size int64
		sent []Sent
		want Difference
	}{
		{"same moment", keyed, []Sent{intent("10"), intent("11"), intent("12"), done("10"), done("11"), done("12")}, Difference{}},
		{"not answered yet", keyed, []Sent{intent("10"), intent("11"), intent("12"), done("10")}, Difference{}},
		{"one not sent yet", keyed, []Sent{intent("10"), intent("11"), intent("12"), intent("13")}, Difference{}},
		{"an older store", keyed, []Sent{intent("10"), done("10")}, Difference{Unknown: 2}},
		{"an older log", keyed, []Sent{intent("10"), intent("11"), intent("12"), intent("13"), done("13")}, Difference{Missing: 1}},
		{"no log", 0, []Sent{intent("10"), done("10")}, Difference{Missing: 1}},
		{"a change without a key", size, []Sent{intent("10"), intent("11"), intent("12"), intent("bare")}, Difference{}},
		{"a change without a key, unknown", size, []Sent{intent("10"), intent("11"), intent("12")}, Difference{Unknown: 1}},
	} {
		got, err := CompareLog(path, c.size, 1, func(yield func(Sent)) error {
			for _, s := range c.sent {
				yield(s)
			}
			return nil
		})
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}
