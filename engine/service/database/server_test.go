package database

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCheckPostgres(t *testing.T) {
	for _, tt := range []struct{ address, says string }{
		{address: "postgres://app@db.example:5432/shop", says: ""},
		{address: "postgresql://db.example/shop?sslmode=disable&search_path=a", says: ""},
		{address: "postgres://app:hunter2@db.example/shop", says: "an address must not contain a password"},
		{address: "postgres://app@db.example/shop?password=hunter2", says: "?password="},
		{address: "postgres://app@db.example/shop?sslkey=/etc/passwd", says: "?sslkey="},
		{address: "postgres://app@db.example/shop?host=evil.example", says: "?host="},
		{address: "postgres://db.example", says: "does not name a database"},
		{address: "postgres:///shop", says: "and a host"},
		{address: "https://db.example/shop", says: "does not begin with postgres://"},
		{address: "postgres://app@db.example:hunter2/shop", says: "cannot be read"},
		{address: "postgres://app@db.example:99999/shop", says: "cannot be used"},
		{address: "postgres://app@db.example/shop?sslmode=hunter2", says: "cannot be used"},
		{address: "secret:DB", says: "does not begin"},
	} {
		err := Check(tt.address)
		switch {
		case tt.says == "" && err != nil:
			t.Errorf("%s: %v", tt.address, err)
		case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
			t.Errorf("%s: %v; want %s", tt.address, err, tt.says)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the error contains the password: %v", tt.address, err)
		}
	}
}

// TestDatabases checks encryption and hosts of addresses.
func TestDatabases(t *testing.T) {
	for _, tt := range []struct {
		address string
		plain   bool // may connect to some host without encryption
		hosts   []string
		target  string
	}{
		{address: "postgres://app:pw@DB.example/shop", plain: false, hosts: []string{"db.example:5432"}, target: "db.example:5432/shop"},
		{address: "postgres://app@db.example/shop?sslmode=prefer", plain: true, hosts: []string{"db.example:5432"}, target: "db.example:5432/shop"},
		{address: "postgres://app@127.0.0.1:1/shop", plain: true, hosts: []string{"127.0.0.1:1"}, target: "127.0.0.1:1/shop"},
		{address: "postgres://app@[::1]/shop", plain: true, hosts: []string{"[::1]:5432"}, target: "[::1]:5432/shop"},
		{address: "postgres://app@localhost,b.example,a.example/shop", plain: false, hosts: []string{"a.example:5432", "b.example:5432", "localhost:5432"}, target: "localhost:5432/shop"},
		{address: "postgres://app@127.0.0.1/shop?host=evil.example", plain: false, hosts: []string{"evil.example:5432"}, target: "evil.example:5432/shop"},
		{address: "postgres://app@/shop?host=/run/pg", plain: true, hosts: []string{"/run/pg:5432"}, target: "/run/pg:5432/shop"},
	} {
		d, err := Parse(tt.address, "")
		if err != nil {
			t.Errorf("%s: %v", tt.address, err)
			continue
		}
		plain := d.Config.ConnConfig.TLSConfig == nil
		for _, f := range d.Config.ConnConfig.Fallbacks {
			plain = plain || f.TLSConfig == nil
		}
		if plain != tt.plain || !slices.Equal(d.Hosts(), tt.hosts) || d.Target() != tt.target {
			t.Errorf("%s: plain %t, hosts %v, %s; want %t, %v, %s", tt.address, plain, d.Hosts(), d.Target(), tt.plain, tt.hosts, tt.target)
		}
	}
	for _, address := range []string{"", "db.example", "postgres://app:hunter2@:x/y", "postgres://app:hunter2@h/y?sslmode=z", "postgres://h/%zz"} {
		if _, err := Parse(address, ""); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", address, err)
		}
	}
	d, err := Parse("postgres://app:old@127.0.0.1/shop", "new")
	if err != nil || d.Config.ConnConfig.Password != "new" {
		t.Errorf("the password is not replaced: %v", err)
	}
}

// TestAddressesAreAlone checks that the address of a scenario takes nothing from PG* variables, service files and ~/.pgpass.
func TestAddressesAreAlone(t *testing.T) {
	addresses := []string{"postgres://app@127.0.0.1:6543/shop", "postgres://db.example/shop", "postgres://app:own@db.example/shop?sslmode=require"}
	read := func() (all []string) {
		t.Helper()
		for _, address := range addresses {
			d, err := Parse(address, "")
			if err != nil {
				t.Fatalf("%s: %v", address, err)
			}
			c := d.Config.ConnConfig
			all = append(all, fmt.Sprint(c.Host, c.Port, c.Database, c.User, c.Password, c.TLSConfig == nil, len(c.Fallbacks), c.ConnectTimeout, c.KerberosSpn, c.RuntimeParams, d.Hosts()))
		}
		return all
	}
	for _, name := range os.Environ() {
		if name, _, _ := strings.Cut(name, "="); strings.HasPrefix(name, "PG") {
			t.Setenv(name, "")
			_ = os.Unsetenv(name)
		}
	}
	want := read()
	home := t.TempDir()
	for name, text := range map[string]string{
		".pgpass":          "*:*:*:*:hunter2\n",
		".pg_service.conf": "[other]\nhost=evil.example\nport=1\nuser=root\npassword=hunter2\ndbname=evil\noptions=-c statement_timeout=1\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"HOME": home, "PGPASSFILE": filepath.Join(home, ".pgpass"), "PGSERVICEFILE": filepath.Join(home, ".pg_service.conf"), "PGHOST": "evil.example",
		"PGPORT": "1", "PGUSER": "root", "PGPASSWORD": "hunter2", "PGDATABASE": "evil", "PGAPPNAME": "evil", "PGOPTIONS": "-c statement_timeout=1",
		"PGSSLMODE": "disable", "PGCONNECT_TIMEOUT": "1", "PGTARGETSESSIONATTRS": "standby", "PGTZ": "Asia/Tokyo",
	} {
		t.Setenv(name, value)
	}
	for _, service := range []string{"", "other", "missing"} {
		t.Setenv("PGSERVICE", service)
		if got := read(); !slices.Equal(got, want) {
			t.Errorf("with PGSERVICE=%s:\n%q, want\n%q", service, got, want)
		}
	}
}
