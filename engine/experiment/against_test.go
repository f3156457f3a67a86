package experiment

import (
	"reflect"
	"strings"
	"testing"
)

// realRows is real data for the small scenario.
const realRows = "price,home\n0.1,completed\n0.4,failed\n0.5,completed\n0.6,completed\n0.9,completed\n"

// TestRealData reads the real data of an experiment, writes it, and reads it again.
func TestRealData(t *testing.T) {
	e := mustRead(t, "scenario: small\nvalidate_against:\n  file: real.csv\n  measures: {price: events.sold.price.mean, home: {of: outcome, per: session}}\n", "real.csv", realRows)
	if a := e.Against; a == nil || a.File != "real.csv" || len(a.Measures) != 2 || len(a.Digest) != 64 {
		t.Fatalf("%+v", e.Against)
	}
	if again := mustRead(t, string(e.Write()), "real.csv", realRows); !reflect.DeepEqual(again.Against, e.Against) {
		t.Errorf("%s\nis read as %+v", e.Write(), again.Against)
	}
	if e := mustRead(t, "scenario: study\n"); e.Against == nil || e.Against != e.Of.Against || strings.Contains(string(e.Write()), "validate_against") {
		t.Errorf("the real data of the scenario: %+v, written as\n%s", e.Against, e.Write())
	}
}

// TestMistakesInRealData checks that mistakes are found with their line before anything runs, and what they suggest.
func TestMistakesInRealData(t *testing.T) {
	const begin = "scenario: small\nvalidate_against:\n  file: real.csv\n  measures:\n    "
	for _, c := range []struct{ text, rows, want string }{
		{begin + "prize: events.sold.price.mean\n", realRows, "x.experiment.yaml:5:5: real.csv has no column prize (did you mean `price`?"},
		{begin + "price: events.sald.price.mean\n", realRows, "x.experiment.yaml:5:12: the scenario never emits the event sald (did you mean `sold`?"},
		{begin + "price: evnts.sold.price\n", realRows, "x.experiment.yaml:5:12: there is no figure evnts.sold.price ("},
		{begin + "price: memory.spant\n", realRows, "x.experiment.yaml:5:12: no step remembers spant (did you mean `spent`?"},
		{begin + "price: {of: agent.age, per: session}\n", realRows, "x.experiment.yaml:5:17: agent.age belongs to an agent, not to a session"},
		{begin + "price: acted\n", "", "real.csv:1:1: the file is empty"},
		{begin + "price: acted\n", "price\n", "real.csv:1:1: the file has a header and no rows"},
		{begin + "price: acted\n", "price\nNA\n1\n\n", "real.csv:1:1: column price has 1 value (a comparison needs at least 5"},
		{begin + "price: {of: acted, kind: number}\n", "price\n1\n2\nlots\n", "real.csv:4:1: \"lots\" in column price is not a number"},
		{"scenario: small\nvalidate_against: {file: real.cvs, measures: {price: acted}}\n", realRows, "x.experiment.yaml:2:26: real data cannot be read from real.cvs"},
		{"scenario: small\nvalidate_against: {file: rael.csv, measures: {price: acted}}\n", realRows, "x.experiment.yaml:2:26: the real data cannot be read"},
		{"scenario: small\nvalidate_agianst: {file: real.csv, measures: {price: acted}}\n", realRows, "x.experiment.yaml:2:1: unknown key `validate_agianst` (did you mean `validate_against`?"},
	} {
		_, err := read(c.text, "real.csv", c.rows)
		if err == nil {
			t.Errorf("no mistake in\n%s", c.text)
			continue
		}
		if got := err.Error(); !strings.Contains(got, c.want) {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
