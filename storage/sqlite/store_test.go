package sqlite

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/storetest"
)

func TestMain(m *testing.M) {
	if helper() {
		return
	}
	goleak.VerifyTestMain(m)
}

// contractStore adapts the store to the interface of the suite.
type contractStore struct{ *Store }

func (s contractStore) Journal(run engine.RunID) (storetest.Journal, error) {
	return s.Store.Journal(run)
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t testing.TB, dir string, o storetest.Options) storetest.Store {
		options := Options{OnCommit: o.OnCommit, Logger: quiet()}
		if o.Patient {
			options.CommitEvery, options.CommitRows = time.Hour, 1<<20
		}
		return contractStore{openStore(t, dir, options)}
	})
}

func openStore(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Notice(); n != "" && !strings.Contains(n, "was updated") {
		t.Fatal(n)
	}
	return s
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
