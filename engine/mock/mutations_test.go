package mock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMutations reads a shop's log: it has every change once, even if a request was repeated with its key.
func TestMutations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.log")
	shop := indoors(t, Config{Seed: 17, Log: path})
	for i, a := range []ask{
		{method: "POST", path: "/api/shopping/session", session: someID(1), key: "k0"},
		{method: "POST", path: "/api/cart/items", body: shop.productJSON(3, 2), key: "k1"},
		{method: "POST", path: "/api/cart/items", body: shop.productJSON(3, 2), key: "k1"},
		{method: "POST", path: "/api/orders", key: "k2"},
		{method: "POST", path: "/api/orders", key: "k3"},
	} {
		a.user, a.tag = "ann", stamp(2, "step", i+1)
		shop.ask(a)
	}
	if err := shop.log.close(); err != nil {
		t.Fatal(err)
	}
	all, err := Mutations(path)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	keys := map[string]bool{}
	for _, m := range all {
		if m.User != "ann" || m.Cycle != 2 {
			t.Errorf("got %+v", m)
		}
		what, _, _ := strings.Cut(m.Description, " at ")
		said = append(said, what)
		if m.Key != "" && keys[m.Key] {
			t.Errorf("key %s twice", m.Key)
		}
		keys[m.Key] = true
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{"opens session ", "puts 2 of product 3 into the cart", "orders the cart", "is refused with 4"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q does not appear exactly once:\n%s", want, text)
		}
	}

	// An unfinished record at the end is left out, as when the shop restarts.
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-3); err != nil {
		t.Fatal(err)
	}
	if torn, err := Mutations(path); err != nil || len(torn) != len(all)-1 {
		t.Errorf("%d of %d changes, %v", len(torn), len(all), err)
	}
	if _, err := Mutations(path + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no log: %v", err)
	}
}
