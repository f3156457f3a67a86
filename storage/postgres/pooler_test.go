package postgres

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestTransactionPooler sends from several pushers through a pooler with fewer connections than they need: the schema is
// created, every row arrives once, and no transaction leaves anything behind in a session.
func TestTransactionPooler(t *testing.T) {
	server := pgtest.Shared(t)
	l, d := newLocal(t), newDatabase(t, server)
	url := server.Pooler(t, 2).URL(t, d.url)
	l.add(3000)
	pushers := []*Pusher{l.push(url), l.push(url), l.push(url)}
	var all sync.WaitGroup
	for _, p := range pushers {
		p.Start()
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := p.Drain(ctx, run); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	arrived(t, l, d)
	for _, p := range pushers {
		if s := p.Status(); s.SetAside != 0 || s.Error != "" {
			t.Errorf("got %+v", s)
		}
	}
	report, err := Check(t.Context(), Config{URL: url})
	if err != nil || !report.Pooler || report.MaxConnections != 50 {
		t.Errorf("got %+v, %v", report, err)
	}
	if report, err = Check(t.Context(), Config{URL: d.url}); err != nil || report.Pooler {
		t.Errorf("without a pooler: got %+v, %v", report, err)
	}
}
