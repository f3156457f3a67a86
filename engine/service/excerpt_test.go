package service

import "testing"

// TestWebPagesAreNamedByTheirTitle checks that an error text contains the title of a web page instead of its markup.
func TestWebPagesAreNamedByTheirTitle(t *testing.T) {
	for text, want := range map[string]string{
		"<!DOCTYPE HTML>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n<title>Error\n response &amp; more</title></head></html>": `: "a web page: Error response & more"`,
		" <html><body><h1>502 Bad Gateway</h1></body></html>":                                                                           `: "a web page"`,
		`{"detail": "<html>"}`: `: "{\"detail\": \"<html>\"}"`,
		"":                     "",
	} {
		if got := (&Call{}).display().excerpt(&Answer{Status: 502, Body: []byte(text)}); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
