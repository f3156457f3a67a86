package marks

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestTagsAreChanged(t *testing.T) {
	tags, err := ParseTags(" Prices, b2b  prices\tv1.2 ")
	if want := []string{"b2b", "prices", "v1.2"}; err != nil || !slices.Equal(tags, want) {
		t.Fatalf("got %q, %v, want %q", tags, err, want)
	}
	tags, err = ChangeTags(tags, []string{"new"}, []string{"PRICES", "unknown"})
	if want := []string{"b2b", "new", "v1.2"}; err != nil || !slices.Equal(tags, want) {
		t.Errorf("got %q, %v, want %q", tags, err, want)
	}
	many := make([]string, 0, 2*maxTags)
	for i := range maxTags + 1 {
		many = append(many, strings.Repeat("x", i+1))
	}
	for _, wrong := range [][]string{{""}, {"a b"}, {"-a"}, {"ü+"}, {strings.Repeat("a", maxTag+1)}, many} {
		var mistake *engine.FieldError
		if got, err := ChangeTags(nil, wrong, nil); !errors.As(err, &mistake) {
			t.Errorf("%q: got %q, %v, want a *engine.FieldError", wrong, got, err)
		}
	}
}

func TestNamesAreChecked(t *testing.T) {
	if name, err := CheckName("  Friday, new prices "); err != nil || name != "Friday, new prices" {
		t.Errorf("got %q, %v", name, err)
	}
	for _, wrong := range []string{"two\nlines", strings.Repeat("é", maxName+1)} {
		var mistake *engine.FieldError
		if got, err := CheckName(wrong); !errors.As(err, &mistake) {
			t.Errorf("%q: got %q, %v, want a *engine.FieldError", wrong, got, err)
		}
	}
	r := engine.RunRecord{Title: "Shoppers"}
	if r.DisplayName() != "Shoppers" {
		t.Errorf("without a name it is %q", r.DisplayName())
	}
	if r.Name = "Friday"; r.DisplayName() != "Friday" {
		t.Errorf("with a name it is %q", r.DisplayName())
	}
}
