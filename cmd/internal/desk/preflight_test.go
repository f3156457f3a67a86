package desk

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/setup"
)

// TestAllowingAHostMendsItsCheck checks that the warning about a host goes away when the host is allowed. It uses the real
// checks.
func TestAllowingAHostMendsItsCheck(t *testing.T) {
	keyring.MockInit()
	d, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := setupDesk{d}
	o := setup.Order{Scenario: "shopping", Settings: engine.DefaultSettings()}
	o.Settings.Services = map[string]string{"shop": "http://shop.invalid"}
	check := func() engine.Check {
		t.Helper()
		all, err := s.Preflight(t.Context(), o, false, func([]engine.Check) {})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(c engine.Check) bool { return c.Name == "Service shop" })
		if i < 0 {
			t.Fatalf("found %+v", all)
		}
		return all[i]
	}
	c := check()
	way, host := c.FixAction()
	if c.Grade != engine.GradeWarning || way != engine.FixAllow {
		t.Fatalf("a host that is not allowed: got %+v", c)
	}
	o.Allow = []string{host}
	if err := s.Allow(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Allow = nil
	if c := check(); c.Grade != engine.GradeProblem || c.Fix != engine.FixAgain { // it is called now, and does not answer
		t.Errorf("allowed: %+v", c)
	}
	if err := s.LowerConnections(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if got := d.remote.Database().Limits.Connections; got != 3 {
		t.Errorf("%d connections", got)
	}
}

// TestFavoritesAreKept checks that favorites are stored, including files that were not opened recently, until the file is
// gone.
func TestFavoritesAreKept(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte("title: Mine\npopulation: {count: 1}\nchain c: {step a: {kind: stop}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	favorites := func() (all []string) {
		t.Helper()
		d, err := Open(data)
		if err != nil {
			t.Fatal(err)
		}
		choices, err := setupDesk{d}.Choices(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range choices {
			if c.Favorite {
				all = append(all, c.Name)
			}
		}
		for name, on := range map[string]bool{"world": len(all) == 0, file: true} {
			if err := (setupDesk{d}).Favor(t.Context(), name, on); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got := favorites(); got != nil {
		t.Errorf("initially: got %q", got)
	}
	if got := favorites(); !slices.Equal(got, []string{"world", file}) {
		t.Errorf("after both: %q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := favorites(); got != nil {
		t.Errorf("one forgotten, the other's file gone: %q", got)
	}
}
