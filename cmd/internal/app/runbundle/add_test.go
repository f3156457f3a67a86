package runbundle

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

const (
	made    = engine.RunID("20260301-120000-abcd")
	logText = "the orders of a mock shop"
)

// bundled bundles a run with the log of its mock shop, from the store in a folder that it makes.
func bundled(t *testing.T, data string) *Bundle {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tea.yaml")
	if err := os.WriteFile(file, []byte("title: Tea\npopulation: {count: 1}\nchain tea:\n  step brew: {kind: emit, event: tea}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(data, sqlite.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	r := engine.RunRecord{ID: made, Title: s.Title, Created: time.Now().Truncate(time.Microsecond), Source: s.Source, Settings: engine.DefaultSettings()}
	r.Settings.Services = map[string]string{"shop": "https://ann:hunter2@shop.example:8443/api?key=sesame", "till": "localhost:80"}
	log := config.ShopLog(data, made)
	if err := errors.Join(store.Create(t.Context(), r), os.MkdirAll(filepath.Dir(log), 0o700), os.WriteFile(log, []byte(logText), 0o600)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := Write(t.Context(), store, made, &out); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tea.zip")
	if err := errors.Join(store.Close(), os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	b, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// TestAdd has a folder whose name looks like a pattern, and makes the log of the mock fail to arrive: then the run is not there
// either, because it would continue with an empty shop. When the cause is gone, it can be added.
func TestAdd(t *testing.T) {
	b, data := bundled(t, filepath.Join(t.TempDir(), "[a-b]*")), t.TempDir()
	folder := filepath.Dir(config.ShopLog(data, made))
	if err := os.WriteFile(folder, nil, 0o600); err != nil { // a file in its place
		t.Fatal(err)
	}
	there := func() bool {
		t.Helper()
		store, err := sqlite.Open(data, sqlite.Options{Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		_, found := store.Run(t.Context(), made)
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		return found == nil
	}
	if err := b.Add(t.Context(), data); err == nil || there() {
		t.Errorf("without the log: %v; the run is there: %t", err, there())
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(t.Context(), data); err != nil || !there() {
		t.Errorf("the second time: %v; the run is there: %t", err, there())
	}
	if text, err := os.ReadFile(config.ShopLog(data, made)); err != nil || string(text) != logText {
		t.Errorf("the log is %q, %v", text, err)
	}
	if err := os.WriteFile(config.ShopLog(data, made), []byte("newer"), 0o600); err != nil { // the run was resumed
		t.Fatal(err)
	}
	if _, there := errors.AsType[*engine.FieldError](b.Add(t.Context(), data)); !there {
		t.Error("the run was added twice")
	}
	if text, err := os.ReadFile(config.ShopLog(data, made)); err != nil || string(text) != "newer" {
		t.Errorf("the log of a run that was there before is %q, %v", text, err)
	}
}

// TestBundlesHaveNoSecrets checks that a bundle lacks the passwords and keys in the addresses of services, which somebody else may read.
func TestBundlesHaveNoSecrets(t *testing.T) {
	b := bundled(t, t.TempDir())
	text, err := os.ReadFile(filepath.Join(b.Dir, storeName))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2", "sesame"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("the bundle has %s", secret)
		}
	}
	store, err := sqlite.Open(b.Dir, sqlite.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	r, err := store.Run(t.Context(), made)
	if want := map[string]string{"shop": "https://shop.example:8443/api", "till": "localhost:80"}; err != nil || !maps.Equal(r.Settings.Services, want) {
		t.Errorf("the services are %v, want %v: %v", r.Settings.Services, want, err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// looking calls a function when something is written to it.
type looking func()

func (f looking) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// TestABundleIsNoRunInProgress looks at a run from another process while it is bundled: nothing executes it, so that a process that
// resumes it only has to wait; but it cannot be deleted.
func TestABundleIsNoRunInProgress(t *testing.T) {
	data := t.TempDir()
	bundled(t, data)
	store, err := sqlite.Open(data, sqlite.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	other, err := sqlite.Open(data, sqlite.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	if _, err := Write(t.Context(), store, made, looking(func() {
		looked++
		if r, err := other.Run(t.Context(), made); err != nil || r.InProgress {
			t.Errorf("the run is in progress: %t, %v", r.InProgress, err)
		}
		if all, err := other.Runs(t.Context()); err != nil || all[0].InProgress {
			t.Errorf("in the list, the run is in progress: %v", err)
		}
		for _, err := range []error{other.Trash(t.Context(), made), second(other.Claim(t.Context(), made))} {
			if !errors.Is(err, engine.ErrInUse) || !strings.Contains(err.Error(), "the bundle of run "+string(made)) {
				t.Errorf("got %v, want that it is bundled", err)
			}
		}
	})); err != nil || looked == 0 {
		t.Error(looked, err)
	}
	if err := errors.Join(other.Trash(t.Context(), made), store.Close(), other.Close()); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }
