package known

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

// TestSettings checks that settings are decoded as without a memory of earlier ones, and that a caller's changes stay its own.
func TestSettings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := engine.DefaultSettings()
		s.Seed, s.Limit = rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 3).Draw(t, "limit")
		s.SessionTimeout = time.Duration(rapid.IntRange(1, 2).Draw(t, "timeout")) * time.Second
		s.Filter = rapid.SampledFrom([]string{"", `"seed":7`, "agent.age > 3"}).Draw(t, "filter")
		if rapid.Bool().Draw(t, "services") {
			s.Services, s.Agents = map[string]string{"shop": "http://a", "seed": "1"}, []string{"a", "b"}
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		want, err := decode(string(text))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got, err := Settings(string(text))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%v\n got %+v\nwant %+v", err, got, want)
			}
			if got.Services != nil {
				got.Services["shop"], got.Agents[0] = "changed", "changed"
			}
		}
	})
	if _, err := Settings(`{"seed":1,"unknown":2}`); err == nil {
		t.Error("an unknown setting")
	}
	if _, err := Settings("{"); err == nil {
		t.Error("damaged settings")
	}
}

func TestParameters(t *testing.T) {
	for range 2 {
		got, err := Parameters(`{"a":"1"}`)
		if err != nil || got["a"] != "1" {
			t.Fatalf("%v %v", got, err)
		}
		got["a"] = "2"
	}
	for i := range 2*most + 1 {
		if _, err := Parameters(`{"a":"` + strings.Repeat("x", i%7) + `"}`); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Parameters("["); err == nil {
		t.Error("damaged parameters")
	}
}
