package service

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestReplayOfStatements is what a resumed session does with what the journal holds of a statement.
func TestReplayOfStatements(t *testing.T) {
	p, address := database(t, pgtest.Shared(t), PoolLimits{})
	execute(t, address, "create table t (x int)")
	insert, look := sql(t, "insert into t values ($1)", "1"), sql(t, "select 7 a")
	kept := encodeAnswer(&Answer{Status: 200, Body: []byte(`{"count":1,"rows":[]}`)})
	hash := insert.hash()
	for _, tt := range []struct {
		name    string
		s       Statement
		entry   engine.Entry
		once    bool
		class   engine.Class
		label   engine.Label
		rows    int // inserted
		answers int // journaled
	}{
		{"fresh", insert, engine.Entry{Path: "other", Hash: 1}, false, engine.NoError, engine.Fresh, 1, 1},
		{"answered", insert, engine.Entry{Path: "step", Hash: hash, Attempts: 1, Output: kept}, false, engine.NoError, engine.Replayed, 0, 0},
		{
			"failed", insert,
			engine.Entry{Path: "step", Hash: hash, Attempts: 1, Status: engine.StepFailed, Class: engine.ClientError, Error: "no"},
			false, engine.ClientError, engine.Replayed, 0, 0,
		},
		{"intent", insert, engine.Entry{Path: "step", Hash: hash}, false, engine.NoError, engine.Unconfirmed, 1, 1},
		{"intent of what must not be done twice", insert, engine.Entry{Path: "step", Hash: hash}, true, engine.Network, engine.NotRepeated, 0, 1},
		{"another statement", insert, engine.Entry{Path: "step", Hash: hash + 1}, false, engine.ConfigError, engine.Fresh, 0, 0},
		{"a look", look, engine.Entry{Path: "step", Hash: look.hash(), Attempts: 1, Output: kept}, false, engine.NoError, engine.Replayed, 0, 0},
	} {
		before := number(t, address, "select count(*) from t")
		st := resumed(tt.entry)
		row, _ := p.ask(t, st, tt.s, func(c *Call) { c.Once = tt.once })
		if row.Class != tt.class || row.Steps[0].Label != tt.label {
			t.Errorf("%s: class %q, %v: %s; want %q, %v", tt.name, row.Class, row.Steps[0].Label, row.Error, tt.class, tt.label)
		}
		if n := number(t, address, "select count(*) from t") - before; n != tt.rows {
			t.Errorf("%s: %d rows, want %d", tt.name, n, tt.rows)
		}
		if n := len(enginetest.Of[engine.AnswerRow](st.journal)); n != tt.answers {
			t.Errorf("%s: %d answers journaled, want %d", tt.name, n, tt.answers)
		}
	}
}

// TestHashes is that statements which differ in anything have another hash.
func TestHashes(t *testing.T) {
	seen := map[uint64]int{}
	for i, s := range []Statement{
		sql(t, "select 1"), sql(t, "select 2"), sql(t, "select $1", "a"), sql(t, "select $1", "b"), sql(t, "select $1", nil), sql(t, "select $1", ""),
		sql(t, "select $1, $2", "a", "b"), sql(t, "select $1, $2", "ab", ""), sql(t, "select $1, $2", "a\n1:b", ""), sql(t, "select $1, $2", "a", nil),
	} {
		if other, ok := seen[s.hash()]; ok {
			t.Errorf("statements %d and %d have one hash", i, other)
		}
		seen[s.hash()] = i
	}
}

func TestValuesAreTakenOut(t *testing.T) {
	for _, tt := range []struct{ text, value, want string }{
		{"no stock of 7", "7", "no stock of …"},
		{"no stock of 77 or 7x or x7", "7", "no stock of 77 or 7x or x7"},
		{"7 7 7", "7", "… … …"},
		{"abcdefg", "cdef", "ab…g"},
		{"nothing", "", "nothing"},
	} {
		if got := withoutValue(tt.text, tt.value); got != tt.want {
			t.Errorf("%s without %s: %s, want %s", tt.text, tt.value, got, tt.want)
		}
	}
}
