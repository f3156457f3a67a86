package consent

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestTable checks that a permission holds for one file, address and set of secrets, in every process, until it is revoked.
func TestTable(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	admin := engine.Destination{Service: "a", Host: "127.0.0.1:9000", Secrets: []string{"A", "B"}}
	table := Of(data)
	if table.Allows("/x.yaml", admin) {
		t.Error("an empty table allows something")
	}
	if err := table.Allow("/x.yaml", []engine.Destination{admin}); err != nil {
		t.Fatal(err)
	}
	again := Of(data)
	for _, tt := range []struct {
		name    string
		file    string
		to      engine.Destination
		allowed bool
	}{
		{"the same", "/x.yaml", admin, true},
		{"fewer secrets", "/x.yaml", engine.Destination{Service: "other", Host: admin.Host, Secrets: []string{"B"}}, true},
		{"another file", "/y.yaml", admin, false},
		{"another secret", "/x.yaml", engine.Destination{Host: admin.Host, Secrets: []string{"A", "C"}}, false},
		{"another port", "/x.yaml", engine.Destination{Host: "127.0.0.1:9001"}, false},
		{"another host", "/x.yaml", engine.Destination{Host: "localhost:9000"}, false},
		{"a database", "/x.yaml", engine.Destination{Host: admin.Host, Database: "d"}, false},
	} {
		if got := again.Allows(tt.file, tt.to); got != tt.allowed {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	if err := again.Allow("/x.yaml", []engine.Destination{{Host: admin.Host, Secrets: []string{"C"}}}); err != nil {
		t.Fatal(err)
	}
	if all := table.All(); len(all) != 1 || len(all[0].Grants) != 1 || !slices.Equal(all[0].Grants[0].Secrets, []string{"A", "B", "C"}) {
		t.Errorf("got %+v", all)
	}
	if info, err := os.Stat(filepath.Join(data, fileName)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("readable by other users: %v, %v", info, err)
	}
	if err := table.Forget("/x.yaml"); err != nil || again.Allows("/x.yaml", admin) {
		t.Errorf("the permission still holds after it was revoked: %v", err)
	}
}

// TestWritten checks that a text is recognized at any path, and that another text is not.
func TestWritten(t *testing.T) {
	data := t.TempDir()
	if err := Of(data).Write([]byte("mine")); err != nil {
		t.Fatal(err)
	}
	if !Of(data).Wrote([]byte("mine")) || Of(data).Wrote([]byte("mine ")) || Of(t.TempDir()).Wrote([]byte("mine")) {
		t.Error("a text that was not written here was recognized")
	}
}

// TestDamagedTable checks that a damaged table allows nothing and can be written again.
func TestDamagedTable(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, fileName), []byte(`{"allowed": {"/x": [{"address": "h:1"`), 0o600); err != nil {
		t.Fatal(err)
	}
	table, to := Of(data), engine.Destination{Host: "h:1"}
	if table.Allows("/x", to) {
		t.Error("a damaged table allows something")
	}
	if err := table.Allow("/x", []engine.Destination{to}); err != nil || !table.Allows("/x", to) {
		t.Errorf("the table cannot be written: %v", err)
	}
}

// TestTogether allows addresses from several goroutines concurrently, and checks that no permission is lost.
func TestTogether(t *testing.T) {
	data := t.TempDir()
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			if err := Of(data).Allow(fmt.Sprint(i), []engine.Destination{{Host: "h:1"}}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := len(Of(data).All()); n != 8 {
		t.Errorf("%d of 8 permissions are stored", n)
	}
}

func TestNamed(t *testing.T) {
	for _, tt := range []struct {
		list  string
		to    engine.Destination
		named bool
	}{
		{"127.0.0.1:9000", engine.Destination{Host: "127.0.0.1:9000"}, true},
		{"127.0.0.1:9001", engine.Destination{Host: "127.0.0.1:9000"}, false},
		{"127.0.0.1", engine.Destination{Host: "127.0.0.1:80"}, false},
		{"localhost", engine.Destination{Host: "localhost:80"}, false},
		{"a.example,Shop.Example", engine.Destination{Host: "shop.example:443"}, true},
		{"shop.example", engine.Destination{Host: "shop.example:8443"}, false},
		{"shop.example:8443", engine.Destination{Host: "shop.example:8443"}, true},
		{"db.example", engine.Destination{Host: "db.example:5432", Database: "d"}, true},
		{"db.example:5432/d", engine.Destination{Host: "db.example:5432", Database: "d"}, true},
		{"db.example:5432/e", engine.Destination{Host: "db.example:5432", Database: "d"}, false},
		{"db.example:5432", engine.Destination{Host: "db.example:5432", Database: "d", Results: true}, false},
		{"db.example:5432/d", engine.Destination{Host: "db.example:5432", Database: "d", Results: true}, true},
		{"", engine.Destination{Host: "h:1"}, false},
	} {
		if got := Named(strings.Split(tt.list, ","), tt.to); got != tt.named {
			t.Errorf("%s for %s: %t", tt.list, tt.to.Address(), got)
		}
		if name := Name(tt.to); !Named([]string{name}, tt.to) {
			t.Errorf("%s is not named by %s", tt.to.Address(), name)
		}
	}
}
