package experiment_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/scenario"
)

// TestServiceFactors checks which factors can change a service.
func TestServiceFactors(t *testing.T) {
	for name, c := range map[string]struct{ services, want string }{
		"none":                      {"", "settings"},
		"a fixed address":           {"services: {shop: {kind: http, url: \"https://a.invalid\"}}", "service settings"},
		"a parameter in an address": {"services: {shop: {kind: http, url: \"https://${params.host}.invalid\"}}", "host service settings"},
		"a function":                {"services: {shop: {kind: http, url: \"https://${str(params.host)}.invalid\"}}", "host number service settings"},
	} {
		t.Run(name, func(t *testing.T) {
			vary := "  params.host: [a, b]\n  params.number: [1, 2]\n  settings.max-concurrent: [1, 2]\n"
			if c.services != "" {
				vary += "  service.shop.repeats: [unsafe, keyed]\n"
			}
			text := "title: S\nparameters: {host: {default: a}, number: {default: 1}}\npopulation: {count: 1}\n" + c.services + "\nchain c: {step s: {kind: emit, event: e, data: {}}}\n"
			e, err := experiment.Read("e.experiment.yaml", func(string) ([]byte, error) { return []byte("scenario: s.yaml\nvary:\n" + vary), nil },
				func(string, map[string]string) (*scenario.Scenario, error) {
					return scenario.Read("s.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
				})
			if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
				t.Fatal(mistakes.Problems())
			} else if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, i := range e.ServiceFactors() {
				got = append(got, strings.Split(strings.TrimPrefix(e.Factors[i].Name, "params."), ".")[0])
			}
			if all := strings.Join(got, " "); all != c.want {
				t.Errorf("got %q, want %q", all, c.want)
			}
		})
	}
}
