package scenario

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/service/database"
)

// TestPostgres checks the settings of a service of kind postgres.
func TestPostgres(t *testing.T) {
	for _, tt := range []struct {
		text, url, password string
		limits              database.Limits
	}{
		{"{kind: postgres, url: 'secret:DB_URL'}", "secret:DB_URL", "", database.Limits{}},
		{
			"{kind: postgres, url: 'postgres://app@${params.host}/shop', auth: {password: 'secret:DB'}, limits: {connections: 7, burst: 0, wait: 5s, timeout: 1m}}",
			"postgres://app@db.example/shop", "DB",
			database.Limits{Connections: 7, Burst: -1, Wait: 5 * time.Second, Timeout: time.Minute},
		},
	} {
		s, err := read(minimal("parameters: {host: {default: db.example}}\nservices: {s: "+tt.text+"}"), nil, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := s.Services[0]; got.Kind != "postgres" || got.URL != tt.url || got.Postgres.Password != tt.password || !reflect.DeepEqual(got.Postgres.Limits, tt.limits) {
			t.Errorf("%s: %+v, %+v", tt.text, got, got.Postgres)
		}
	}
}

func TestPostgresMistakes(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"{kind: postgres}", "needs `url`"},
		{"{kind: postgres, url: 'mock:db'}", "there is no mock of a database"},
		{"{kind: postgres, url: 'postgres://app:pw@h/d'}", "an address must not contain a password (`secret:NAME`, whose value is the whole address"},
		{"{kind: postgres, url: 'postgres://h'}", "does not name a database"},
		{"{kind: postgres, url: 'https://h/d'}", "does not begin with postgres://"},
		{"{kind: postgres, url: 'postgres://h/d?passfile=x'}", "?passfile="},
		{"{kind: postgres, url: 'secret:no name'}", "a secret must not be in the file"},
		{"{kind: postgres, url: 'postgres://h/d', auth: {password: hunter2}}", "a secret must not be in the file"},
		{"{kind: postgres, url: 'postgres://h/d', auth: {bearer: 'secret:A'}}", "unknown key `bearer`"},
		{"{kind: postgres, url: 'secret:A', auth: {password: 'secret:B'}}", "the secret address has the password in it (remove it)"},
		{"{kind: postgres, url: 'postgres://h/d', headers: {a: b}}", "unknown key `headers`"},
		{"{kind: postgres, url: 'postgres://h/d', limits: {keepalive: 1}}", "unknown key `keepalive`"},
		{"{kind: postgres, url: 'postgres://h/d', limits: {connections: 0}}", "`connections` cannot be `0`"},
		{"{kind: postgres, url: 'postgres://h/d', limits: {wait: soon}}", "`wait` must be a duration"},
	} {
		_, err := read(minimal("services: {s: "+tt.text+"}"), nil, nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v\nwant %s", tt.text, err, tt.want)
		}
	}
}
