package extract

import (
	"fmt"
	"strings"
	"testing"
)

const page = `<!DOCTYPE html><html><head><meta name="csrf-token" content="m&amp;1"><meta property="og:title" content="T"></head>
<script>var x = '<input name="fake" value="no">';</script><!-- <input name="commented" value="no"> -->
<form><input type=hidden name="csrf" value="a&quot;b&#39;c"><input name=empty><INPUT NAME='upper' VALUE=' x '/>
<input type=checkbox name=box value=1><input type=checkbox name=box value=2 checked><input type=radio name=on checked>
<textarea name="note">
first &lt;line&gt;
second</textarea><textarea name=blank></textarea>
<select name="size"><option value=s>small<option value="m" selected>middle</option><option>large</select>
<select name="color"><option>  dark   red </option><option>blue</option></select><select name=none></select>
<button name="go" value="1">Go</button></form>`

func TestFormField(t *testing.T) {
	for name, want := range map[string]string{
		"csrf": `a"b'c`, "empty": "", "upper": " x ", "box": "2", "on": "on", "note": "first <line>\nsecond", "blank": "", "size": "m",
		"color": "dark red", "go": "1", "csrf-token": "m&1", "og:title": "T",
	} {
		if got, found := FormField(page, name); got != want || !found {
			t.Errorf("%s: got %q, %v, want %q", name, got, found, want)
		}
	}
	for _, name := range []string{"fake", "commented", "none", "", "Csrf"} {
		if got, found := FormField(page, name); found {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

func TestFirst(t *testing.T) {
	for _, tt := range []struct{ text, pattern, want string }{
		{"id=42;", `id=(\d+)`, "42 true <nil>"},
		{"id=42;", `\d+`, "42 true <nil>"},
		{"id=;", `id=(\d*)`, " true <nil>"},
		{"<a><id>7</id></a>", `<id>(.*?)</id>`, "7 true <nil>"},
		{"b", `(a)|b`, " false <nil>"},
		{"x", `y`, " false <nil>"},
		{"x", `(`, " false missing closing ): `(`"},
		{"x", strings.Repeat("x", 2000), " false a pattern of 2000 bytes, more than 1000"},
	} {
		for range 2 { // compiled, and kept
			value, found, err := First(tt.text, tt.pattern)
			if got := fmt.Sprint(value, " ", found, " ", err); got != tt.want {
				t.Errorf("%q in %q: got %q, want %q", tt.pattern, tt.text, got, tt.want)
			}
		}
	}
	for i := range 2 * maxCompiled {
		if _, _, err := First("", fmt.Sprint("x", i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(compiled.by) > maxCompiled {
		t.Errorf("%d patterns are kept", len(compiled.by))
	}
}

// FuzzFormField checks that any page is read to its end, and that a field is found again when it is written alone.
func FuzzFormField(f *testing.F) {
	f.Add(page, "csrf")
	f.Add("<select name=a><option", "a")
	f.Add("<textarea name=a>", "a")
	f.Fuzz(func(t *testing.T, text, name string) {
		first, found := FormField(text, name)
		if second, again := FormField(text, name); second != first || again != found {
			t.Errorf("%q, then %q", first, second)
		}
		if !found && first != "" {
			t.Errorf("not found, but %q", first)
		}
	})
}

// FuzzFirst checks that a found group is a part of the text.
func FuzzFirst(f *testing.F) {
	f.Add("id=42", `id=(\d+)`)
	f.Add("", `(a|b)*?`)
	f.Fuzz(func(t *testing.T, text, pattern string) {
		value, found, err := First(text, pattern)
		if err != nil && found || !strings.Contains(text, value) {
			t.Errorf("%q, %v, %v", value, found, err)
		}
	})
}
