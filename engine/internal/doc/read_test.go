package doc

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestReadersReportInvalidValues(t *testing.T) {
	whole := func(n *Node) any { return n.Int(1, 100) }
	number := func(n *Node) any { return n.Float(0, 1) }
	truth := func(n *Node) any { return n.Bool() }
	text := func(n *Node) any { return n.Text() }
	wait := func(n *Node) any { return n.Duration(time.Second, time.Hour) }
	order := func(n *Node) any { return n.OneOf("parallel", "sequential") }
	scalar := func(n *Node) any { return n.Scalar() }
	list := func(n *Node) any { return len(n.List()) }
	texts := func(n *Node) any { return n.Texts() }
	keys := func(n *Node) any { return len(n.Entries()) }
	for _, c := range []struct {
		read    func(*Node) any
		value   string
		want    any
		problem string
	}{
		{whole, "7", 7, ""},
		{whole, "0", 0, "1:4: `k` cannot be `0` (it must be between 1 and 100)"},
		{whole, "101", 0, "1:4: `k` cannot be `101` (it must be between 1 and 100)"},
		{whole, "99999999999999999999", 0, "1:4: `k` cannot be `99999999999999999999` (it must be between 1 and 100)"},
		{whole, "x", 0, "1:4: `k` must be a whole number, found `x`"},
		{whole, "1.5", 0, "1:4: `k` must be a whole number, found `1.5`"},
		{whole, "1_0", 0, "1:4: `k` must be a whole number, found `1_0` (write `10`)"},
		{whole, "'7'", 0, "1:4: `k` must be a whole number, found the text `7` (write it without quotes)"},
		{whole, "", 0, "1:3: `k` has no value (expected a whole number)"},
		{whole, "~", 0, "1:4: `k` has no value (expected a whole number)"},
		{whole, "[1]", 0, "1:4: `k` must be a whole number, found a list (quote a value that starts with { or [)"},
		{whole, "\n  x: 1", 0, "1:1: `k` must be a whole number, found a map"},
		{number, "0.25", 0.25, ""},
		{number, "1", 1.0, ""},
		{number, "1e-2", 0.01, ""},
		{number, ".5", 0.5, ""},
		{number, "2", 0.0, "1:4: `k` cannot be `2` (it must be between 0 and 1)"},
		{number, ".nan", 0.0, "1:4: `k` must be a number, found `.nan`"},
		{number, ".inf", 0.0, "1:4: `k` must be a number, found `.inf`"},
		{number, "1e999", 0.0, "1:4: `k` cannot be `1e999` (it must be between 0 and 1)"},
		{truth, "true", true, ""},
		{truth, "false", false, ""},
		{truth, "yes", false, "1:4: `k` must be true or false, found `yes` (write `true`)"},
		{truth, "Off", false, "1:4: `k` must be true or false, found `Off` (write `false`)"},
		{truth, "\"true\"", false, "1:4: `k` must be true or false, found the text `true` (write it without quotes)"},
		{text, "abc", "abc", ""},
		{text, "12", "12", ""},
		{text, "2026-01-02T08:00:00Z", "2026-01-02T08:00:00Z", ""},
		{text, "< 5%", "< 5%", ""},
		{text, "{a: b}", "", "1:4: `k` must be text, found a map (quote a value that starts with { or [)"},
		{wait, "120", 2 * time.Minute, ""},
		{wait, "1.5", 1500 * time.Millisecond, ""},
		{wait, "2m", 2 * time.Minute, ""},
		{wait, "'30s'", 30 * time.Second, ""},
		{wait, "500ms", time.Duration(0), "1:4: `k` cannot be `500ms` (it must be between 1s and 1h)"},
		{wait, "1d", time.Duration(0), "1:4: `k` cannot be `1d` (it must be between 1s and 1h)"},
		{wait, "2min", time.Duration(0), "1:4: `k` must be a duration, found `2min` (a number of seconds, or like 500ms, 2m, 1h30m, 1d)"},
		{wait, "-1", time.Duration(0), "1:4: `k` must be a duration, found `-1` (a number of seconds, or like 500ms, 2m, 1h30m, 1d)"},
		{order, "parallel", "parallel", ""},
		{order, "paralel", "", "1:4: `k` cannot be `paralel` (did you mean `parallel`? one of parallel, sequential)"},
		{order, "both", "", "1:4: `k` cannot be `both` (one of parallel, sequential)"},
		{order, "[a]", "", "1:4: `k` must be one of parallel, sequential, found a list (quote a value that starts with { or [)"},
		{scalar, "12", int64(12), ""},
		{scalar, "-3", int64(-3), ""},
		{scalar, "1.50", 1.5, ""},
		{scalar, "1e3", 1000.0, ""},
		{scalar, "true", true, ""},
		{scalar, "yes", "yes", ""},
		{scalar, "'12'", "12", ""},
		{scalar, "01234", "01234", ""},
		{scalar, "0x1F", "0x1F", ""},
		{scalar, "1_000", "1_000", ""},
		{scalar, ".inf", ".inf", ""},
		{scalar, "2026-01-02", "2026-01-02", ""},
		{scalar, "null", nil, ""},
		{scalar, "", nil, ""},
		{scalar, "99999999999999999999", int64(math.MaxInt64), "1:4: the number `99999999999999999999` is too large (quote it to keep it as text: '99999999999999999999')"},
		{scalar, "[1]", nil, "1:4: `k` must be a single value, found a list (quote a value that starts with { or [)"},
		{list, "[a, b]", 2, ""},
		{list, "\n- a\n- b", 2, ""},
		{list, "", 0, ""},
		{list, "a", 0, "1:4: `k` must be a list, found `a` (write `[a]`)"},
		{list, "{a: b}", 0, "1:4: `k` must be a list, found a map"},
		{texts, "a", []string{"a"}, ""},
		{texts, "[a, 1]", []string{"a", "1"}, ""},
		{texts, "[a, [b]]", []string{"a"}, "1:8: item 2 of `k` must be text, found a list (quote a value that starts with { or [)"},
		{texts, "[a, ~]", []string{"a"}, "1:8: item 2 of `k` has no value (expected text)"},
		{keys, "{a: 1, b: 2}", 2, ""},
		{keys, "", 0, ""},
		{keys, "a:1", 0, "1:4: `k` must be a map of keys, found `a:1` (put a space after the colon: `a: 1`)"},
		{keys, "3", 0, "1:4: `k` must be a map of keys, found `3` (write `{name: value}`, or the names on lines of their own below it)"},
		{keys, "[a]", 0, "1:4: `k` must be a map of keys, found a list"},
	} {
		var r Report
		n := Parse("shop.yaml", []byte("k: "+c.value+"\n"), &r).Get("k")
		if got := c.read(n); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %#v, want %#v", c.value, got, c.want)
		}
		var want []string
		if c.problem != "" {
			want = []string{c.problem}
		}
		if got := found(&r); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", c.value, got, want)
		}
	}
}

func TestASyntaxErrorIsReportedOnce(t *testing.T) {
	var r Report
	n := Parse("shop.yaml", []byte("a: &x 1\nb: *x\n"), &r).Get("b")
	if got := n.Text(); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
	n.Int(0, 1)
	n.Fields("a")
	n.Require("a")
	if got := len(r.Problems()); got != 2 {
		t.Errorf("got %d problems, want the anchor and the alias: %v", got, r.Err())
	}
}

func TestUnlimitedBounds(t *testing.T) {
	var r Report
	n := Parse("shop.yaml", []byte("a: -1\nb: 2\nc: 99999999999999999999\nd: 5s\n"), &r)
	n.Get("a").Int(0, math.MaxInt)
	n.Get("a").Float(0, math.Inf(1))
	n.Get("b").Int(math.MinInt, 1)
	n.Get("c").Int(math.MinInt, math.MaxInt)
	n.Get("d").Duration(time.Minute, 0)
	want := []string{
		"1:4: `a` cannot be `-1` (it must be at least 0)",
		"2:4: `b` cannot be `2` (it must be at most 1)",
		"3:4: `c` cannot be `99999999999999999999` (it is too large)",
		"4:4: `d` cannot be `5s` (it must be at least 1m)",
	}
	if got := found(&r); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
