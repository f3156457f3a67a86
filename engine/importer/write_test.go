package importer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	. "github.com/throng-sim/throng/engine/importer"
)

func text(s string) Value { return Value{Literal: s} }

func from(step, path string, example any) Value {
	return Value{From: &From{Step: step, Path: path, Example: example}}
}

// shop is a draft with every kind of value.
func shop() *Draft {
	return &Draft{
		Title: "Corner shop", Source: "a recording of 4 requests",
		Services: []Service{{
			Name: "shop", URL: "https://staging.example.com", Cookies: true, Headers: []Pair{{Name: "X-Client", Value: text("web")}},
			Auth: Auth{Kind: Bearer, Secret: "SHOP_TOKEN"},
		}},
		Steps: []Step{
			{
				ID: "GET /products", Name: "list_products", Title: "List the products", Use: true, Method: "GET", Path: text("/products"),
				Query: []Pair{{Name: "limit", Value: Value{Literal: int64(5)}}, {Name: "q", Value: Value{Expr: "pick(WORDS)"}}}, Expect: []int{200}, Check: true,
			},
			{
				ID: "POST /baskets", Name: "create_basket", Use: true, Method: "POST", Path: text("/baskets"), Think: Think{2500 * time.Millisecond, 0.5},
				Headers: []Pair{{Name: "X-CSRF-Token", Value: Value{From: &From{Step: "GET /products", Path: ".body", Wrap: `form_field(%s, "csrf")`, Example: "abc"}}}},
				Body:    &Body{Kind: JSON, Value: Value{Fields: &[]Pair{{Name: "note", Value: text("no: ${thanks} # really")}, {Name: "tags", Value: Value{Items: &[]Value{text("1"), {Literal: true}}}}}}},
				Expect:  []int{201, 200},
			},
			{
				ID: "POST /baskets/{id}/items", Name: "add_item", Use: true, Method: "POST",
				Path: Value{Parts: []Value{text("/baskets/"), from("POST /baskets", ".id", "b-1"), text("/items")}},
				Body: &Body{Kind: JSON, Value: Value{Fields: &[]Pair{
					{Name: "product", Value: from("GET /products", ".items[0].id", "p-1")},
					{Name: "voucher", Value: Value{Open: &Open{Example: "V-77", Candidates: []string{"a parameter"}}, Note: "nothing before it has this value"}},
					{Name: "key", Value: Value{Secret: "SHOP_KEY"}},
				}}},
			},
			{ID: "DELETE /baskets/{id}", Name: "delete_basket", Method: "DELETE", Path: Value{Parts: []Value{text("/baskets/"), from("POST /baskets", ".id", "b-1")}}},
		},
		Data:    []Data{{Name: "WORD", Value: Value{Items: &[]Value{text("unused")}}}, {Name: "WORDS", Value: Value{Items: &[]Value{text("milk"), text("bread")}}}, {Name: "email", Attribute: true, Value: Value{Parts: []Value{text("user-"), {Expr: "agent.index"}, text("@example.com")}}}},
		Secrets: []Secret{{"SHOP_TOKEN", "hunter2", "bearer token of staging.example.com"}},
	}
}

func TestWrite(t *testing.T) {
	w := shop().Write()
	for _, want := range []string{
		"title: Corner shop\n", "#   throngctl secret set SHOP_TOKEN\n", "url: https://staging.example.com\n", "cookies: on\n", "auth: {bearer: secret:SHOP_TOKEN}",
		"  step before_create_basket: {kind: wait, for: \"${lognormal(2.5, 0.5)}\"}\n", "post: /baskets/${steps.create_basket.id}/items\n",
		`X-CSRF-Token: ${form_field(steps.list_products.body, "csrf")}`, `note: 'no: $${thanks} # really'`, "- '1'\n", "- true\n",
		`voucher: ${unresolved("V-77", "a parameter")}`, "key: secret:SHOP_KEY", "expect: [200, 201]", "expect: 200\n", "check: schema", `WORDS = ["milk", "bread"]`,
		"email: user-${agent.index}@example.com", "limit: 5\n", "q: ${pick(WORDS)}",
	} {
		if !strings.Contains(string(w.Text), want) {
			t.Errorf("there is no %q in\n%s", want, w.Text)
		}
	}
	if strings.Contains(string(w.Text), "hunter2") {
		t.Error("the file contains a secret")
	}
	if strings.Contains(string(w.Text), "delete_basket") {
		t.Error("a step outside of the journey was written")
	}
	untitled := shop()
	for i := range untitled.Steps {
		untitled.Steps[i].Title = untitled.Steps[i].ID
	}
	if text := string(untitled.Write().Text); strings.Contains(text, "  # "+untitled.Steps[0].ID+"\n") {
		t.Errorf("a step without a title has its request twice in\n%s", text)
	}
	if strings.Contains(string(w.Text), "unused") {
		t.Error("a constant that no step uses was written")
	}
	if want := []string{"step add_item: V-77"}; !slices.Equal(w.Open, want) {
		t.Errorf("open is %q, want %q", w.Open, want)
	}
}

// TestStepsThatNeedOthers checks that a value of a step that is not in the journey, or comes later, is left open.
func TestStepsThatNeedOthers(t *testing.T) {
	for name, change := range map[string]func(d *Draft){
		"dropped": func(d *Draft) { d.Step("POST /baskets").Use = false },
		"later":   func(d *Draft) { d.Steps[1], d.Steps[2] = d.Steps[2], d.Steps[1] },
	} {
		d := shop()
		change(d)
		w := d.Write()
		if !slices.Contains(w.Open, "step add_item: id of POST /baskets (for example b-1)") || !strings.Contains(string(w.Text), `/baskets/${unresolved("b-1", "the answer of POST /baskets`) {
			t.Errorf("%s: open is %q in\n%s", name, w.Open, w.Text)
		}
	}
}

// TestTextsSurvive writes texts of any kind and reads them as YAML.
func TestTextsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.String().Draw(t, "value")
		key := rapid.StringMatching(`[ -~]{1,12}`).Draw(t, "key")
		d := &Draft{Title: value, Services: []Service{{Name: "s", URL: "http://127.0.0.1"}}, Steps: []Step{{
			ID: value, Name: "one", Title: value, Use: true, Method: "POST", Path: text("/"), Notes: []string{value},
			Body: &Body{Kind: JSON, Value: Value{Fields: &[]Pair{{Name: key, Value: Value{Items: &[]Value{text(value)}, Note: value}}}}},
		}}}
		var got struct {
			Title string
			Chain map[string]struct{ JSON map[string][]any } `yaml:"chain visit"`
		}
		out := d.Write().Text
		if err := yaml.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		if list := got.Chain["step one"].JSON[key]; len(list) != 1 || list[0] != strings.ReplaceAll(value, "${", "$${") {
			t.Fatalf("%q: %q became %q in\n%s", key, value, list, out)
		}
		if value != "" && got.Title != value {
			t.Fatalf("the title %q became %q", value, got.Title)
		}
	})
}

func TestFollow(t *testing.T) {
	for _, tt := range []struct{ journey, want string }{
		{"list products, add to basket", "list_products create_basket add_item"},
		{"create basket, delete basket", "list_products create_basket delete_basket"},
		{"browse products", "list_products"},
		{"remove cart", "list_products create_basket delete_basket"},
		{"DELETE /baskets/{id}", "list_products create_basket delete_basket"},
	} {
		d := shop()
		if err := d.Follow(tt.journey); err != nil {
			t.Errorf("%s: %v", tt.journey, err)
			continue
		}
		var got []string
		for _, s := range d.Steps {
			if s.Use {
				got = append(got, s.Name)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q, want %q", tt.journey, got, tt.want)
		}
		if len(d.Steps) != 4 {
			t.Errorf("%s: %d steps are left", tt.journey, len(d.Steps))
		}
	}
	err := shop().Follow("list products, fly to the moon")
	if err == nil || !strings.Contains(err.Error(), "fly to the moon") || !strings.Contains(err.Error(), "add_item") {
		t.Errorf("got %v", err)
	}
}

func TestMerge(t *testing.T) {
	d := shop()
	old := string(d.Write().Text)
	again, err := d.Merge([]byte(old))
	if err != nil || string(again.Text) != old || len(again.Added)+len(again.Updated)+len(again.Kept)+len(again.Gone) > 0 {
		t.Fatalf("the same source changed the file: %+v, %v", again, err)
	}
	edited := strings.Replace(old, "limit: 5", "limit: 50", 1)
	edited = strings.Replace(edited, "  # imported: POST /baskets ", "  # my own remark\n  # imported: POST /baskets ", 1)
	edited = strings.Replace(edited, "\nsuccess:", "\n  step mine: {kind: emit, event: done, data: {}}\n\nsuccess:", 1)
	edited = strings.Replace(edited, "lognormal(2.5, 0.5)", "lognormal(9, 0.5)", 1)
	d.Step("GET /products").Query[0].Value.Literal = int64(7)         // edited in the file
	d.Step("POST /baskets").Expect = []int{202}                       // not edited
	d.Step("DELETE /baskets/{id}").Use = true                         // new
	d.Steps = slices.Delete(d.Steps, 2, 3)                            // gone
	d.Step("DELETE /baskets/{id}").Think = Think{Median: time.Second} // comes with its pause
	m, err := d.Merge([]byte(edited))
	if err != nil {
		t.Fatal(err)
	}
	got := string(m.Text)
	if want := fmt.Sprint([]string{"delete_basket"}, []string{"create_basket"}, []string{"list_products"}, []string{"add_item"}); fmt.Sprint(m.Added, m.Updated, m.Kept, m.Gone) != want {
		t.Errorf("added, updated, kept and gone are %v, want %v", fmt.Sprint(m.Added, m.Updated, m.Kept, m.Gone), want)
	}
	for _, want := range []string{"limit: 50\n", "# my own remark\n", "expect: 202\n", "step mine:", "step add_item:", "step delete_basket:", "lognormal(9, 0.5)", "step before_delete_basket: {kind: wait, for: \"1\"}"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is in the file %d times:\n%s", want, strings.Count(got, want), got)
		}
	}
	if strings.Index(got, "step delete_basket") < strings.Index(got, "step create_basket") || strings.Index(got, "step delete_basket") > strings.Index(got, "step mine") {
		t.Errorf("the new step is at the wrong place:\n%s", got)
	}
	var doc any
	if err := yaml.Unmarshal(m.Text, &doc); err != nil {
		t.Errorf("%v in\n%s", err, got)
	}
	third, err := d.Merge(m.Text)
	if err != nil || string(third.Text) != got {
		t.Errorf("merging twice differs: %v\n%s", err, third.Text)
	}
}

func TestMergeRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"title: x\n": "another file", "a: [": "not YAML", "": "another file", "chain visit:\n  step a: {kind: stop}\n": "another file",
		"chain visit: {step a: {kind: stop}}\n": "another file", "[1, 2]": "another file",
	} {
		if _, err := shop().Merge([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want something of %q", text, err, want)
		}
	}
}

func FuzzMerge(f *testing.F) {
	f.Add(string(shop().Write().Text))
	f.Add("chain a:\n  # imported: GET /products 00000000\n  step b: {kind: stop}")
	f.Fuzz(func(t *testing.T, old string) {
		m, err := shop().Merge([]byte(old))
		if err == nil && len(m.Text) == 0 {
			t.Error("the file became empty")
		}
	})
}
