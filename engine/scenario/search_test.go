package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestSearch(t *testing.T) {
	s, err := read(minimal("population:\n  from: people.csv\n  attributes: {double: \"${agent.age * 2 if agent.age else 0}\", vip: \"${agent.city == 'Bonn'}\", tags: \"${[agent.id]}\"}\n"),
		map[string]string{"people.csv": neighbours}, nil)
	if err != nil {
		t.Fatal(told(err))
	}
	p := s.Program(7)
	for _, tt := range []struct{ text, want string }{
		{"", "[]"},
		{" A ", "[0 2 3]"},
		{"bob", "[1]"},
		{"nomatch", "[]"},
		{"or", "an error"}, // reads as an expression that is not finished, and is not part of an id
		{"city == 'Ulm'", "[0 2 3]"},
		{`city == "Ulm" and age > 40`, "[3]"}, // unknown for cay, who has no age
		{"agent.city == 'Ulm' and double > 100", "[3]"},
		{"age in [18, 30]", "[0 4]"},
		{"id > 'c'", "[2 3 4]"},
		{"index < 2", "[0 1]"},
		{"not vip", "[0 2 3]"},
		{"vip", "[1 4]"},
		{"age", "[0 1 3] more"},
		{"ages > 3", "an error"},
		{"age > 'x'", "an error"},
		{"memory == 3", "an error"},
		{"${age}", "[]"},
	} {
		found, more, err := p.Search(t.Context(), tt.text, 3)
		got := fmt.Sprint(found)
		if more {
			got += " more"
		}
		if field, ok := errors.AsType[*engine.FieldError](err); ok && field.Field == "filter" {
			got = "an error"
		} else if err != nil {
			t.Error(err)
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s (%v)", tt.text, got, tt.want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, text := range []string{"a", "age == 1"} {
		if _, _, err := p.Search(ctx, text, 3); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled: %v", text, err)
		}
	}
}

func TestPersona(t *testing.T) {
	s, err := read(minimal("population:\n  from: people.csv\n  attributes: {double: \"${agent.age * 2 if agent.age else 0}\", tags: \"${[agent.id]}\"}\n"),
		map[string]string{"people.csv": neighbours}, nil)
	if err != nil {
		t.Fatal(told(err))
	}
	for index, want := range map[int]string{1: `age=41 city=Bonn double=82 tags=["bob"]`, 2: `city=Ulm double=0 tags=["cay"]`} {
		facts, err := s.Program(1).Persona(index)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range facts {
			got = append(got, f.Name+"="+f.Value)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("agent %d: got %s, want %s", index, text, want)
		}
	}
}

// BenchmarkSearch searches a million agents.
func BenchmarkSearch(b *testing.B) {
	s, err := read(minimal("population:\n  count: 1000000\n  attributes: {age: \"${uniform(18, 80)}\", segment: \"${sample(['loyal', 'new'], 1)[0]}\"}\n"), nil, nil)
	if err != nil {
		b.Fatal(told(err))
	}
	for _, text := range []string{"agent-999999", "segment == 'loyal' and age > 200"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.Program(1).Search(b.Context(), text, 100); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
