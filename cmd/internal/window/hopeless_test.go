package window_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// TestRunThatCannotSucceed checks that Live and Results show why a run that cannot succeed has ended, and what to change.
func TestRunThatCannotSucceed(t *testing.T) {
	t.Parallel()
	shop := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(shop.Close)
	d := newDesktop(t, 1280, 800)
	file := filepath.Join(d.home, "lost.yaml")
	text := `title: Lost visitors
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 24}
population: {count: 372}
services:
  shop: {kind: http, url: "` + shop.URL + `"}
chain visit:
  step browse: {kind: http, service: shop, get: /api/prodcuts}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d.start("FYNE_THEME=light", "FYNE_SCALE=1", file)
	look{1280, 800, "light", "1"}.fill(d)
	d.until("the scenario", func() bool { return d.shows("Lost visitors") && d.shows("372") })
	d.click("Launch")
	d.click("Allow and launch")
	d.until("the end", func() bool { return d.find("Show results") != nil })
	said := func(where, next string) {
		t.Helper()
		d.until(where+" saying why", func() bool {
			return d.shows("cannot succeed") && d.shows("lost.yaml:7: step browse: status 404") && d.shows("check the path of the step") && d.shows(next)
		})
		d.shot("hopeless-" + where)
	}
	d.click("Why?")
	said("live", "Correct it (Edit scenario… in Setup) and launch again.")
	d.click("OK")
	d.click("Show results")
	d.until("results", func() bool { return d.shows("the result is") })
	said("results", "To do: ")
	if d.shows("throngctl") {
		t.Errorf("the window mentions a terminal command: %q", d.texts())
	}
}
