package scenario

import (
	"errors"
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestProblemsAsValues(t *testing.T) {
	_, err := Read("x.yaml", files("x.yaml", "titel: x\nservices:\n  m: {kind: llm, url: 'https://x.example.com/v1', model: m, limits: {concurrent: 5000}}\nchain a: {step b: {kind: stp}}\n"), nil)
	var mistakes *Mistakes
	if !errors.As(err, &mistakes) {
		t.Fatalf("got %v", err)
	}
	got := mistakes.Problems()
	if len(got) != 3 || got[0].Line != 1 || got[0].Hint == "" || !got[1].Warning || got[1].Line != 3 || got[2].Line != 4 || got[2].Warning {
		t.Errorf("got %+v", got)
	}
}

func TestKeep(t *testing.T) {
	const text = "parameters:\n  n: 3 # short\n  who: {title: Who, default: 'ann'}\n  on: {default: false}\n  f: {default: 1.5}\nclock: {cycles: 2}\nchain a: {step b: {kind: stop}}\n"
	s, err := Read("x.yaml", files("x.yaml", text), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Keep(Kept{Parameters: map[string]string{"n": "4", "who": "it's me", "on": "true", "f": "2"}, Cycles: 9})
	const want = "parameters:\n  n: 4 # short\n  who: {title: Who, default: 'it''s me'}\n  on: {default: true}\n  f: {default: 2.0}\nclock: {cycles: 9}\nchain a: {step b: {kind: stop}}\n"
	if err != nil || string(got) != want {
		t.Errorf("%v:\n%s", err, got)
	}
	for _, k := range []Kept{{Parameters: map[string]string{"n": "x"}}, {Parameters: map[string]string{"m": "1"}}, {Services: map[string]string{"shop": "x"}}} {
		if _, err := s.Keep(k); err == nil {
			t.Errorf("%+v was put in", k)
		} else if _, ok := errors.AsType[*engine.FieldError](err); !ok {
			t.Errorf("%+v: %v is not a field error", k, err)
		}
	}
}
