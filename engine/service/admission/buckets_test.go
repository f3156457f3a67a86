package admission

import "testing"

// TestMatches checks which endpoints match a pattern.
func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		pattern, endpoint string
		want              bool
	}{
		{"POST /orders", "POST /orders", true},
		{"post /orders/", "POST /orders", true},
		{"/orders", "POST /orders", true},
		{"POST /orders", "GET /orders", false},
		{"POST /orders", "POST /orders/{}", false},
		{"POST /orders/*", "POST /orders/{}", true},
		{"POST /orders/*", "POST /orders", false},
		{"/orders/**", "PUT /orders/{}/items", true},
		{"/orders/*/items", "PUT /orders/{}/items", true},
		{"/**", "GET /a/b", true},
	} {
		if got := Matches(tt.pattern, tt.endpoint); got != tt.want {
			t.Errorf("%s, %s: %v", tt.pattern, tt.endpoint, got)
		}
	}
}
