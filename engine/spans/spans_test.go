package spans

import (
	"regexp"
	"testing"
)

// TestIDs checks that IDs follow from the place of a session, the step and the request, and nothing else.
func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, run := range []string{"a", "b"} {
		for place := range 27 {
			trace := Trace(run, place/9, place/3%3, place%3)
			if trace != Trace(run, place/9, place/3%3, place%3) {
				t.Fatal("a trace has two IDs")
			}
			for _, path := range []string{"", "buy", "buy.pay"} {
				for request := range 3 {
					id := trace.Span(path, request)
					if id != trace.Span(path, request) || id == (ID{}) {
						t.Fatalf("%s of %s has the IDs %x and %x", path, run, id, trace.Span(path, request))
					}
					seen[trace.Header(id)] = true
				}
			}
		}
	}
	if len(seen) != 2*27*9 {
		t.Errorf("%d spans have %d IDs", 2*27*9, len(seen))
	}
	for header := range seen {
		if !regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`).MatchString(header) {
			t.Errorf("the header is %s", header)
		}
	}
}
