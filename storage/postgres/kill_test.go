package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/storage/sqlite"
)

// helperVariable is the environment variable with the work of this test binary when it is started again: the folder of a
// store, the address of the database, and when to kill itself: "byte N" of the sent bytes, "sent N", before it records the
// N-th confirmation, or "never".
const helperVariable = "THRONG_POSTGRES_HELPER"

// helper does the work of a helper; it reports whether this process is one.
func helper() bool {
	parts := strings.Split(os.Getenv(helperVariable), "\n")
	if len(parts) != 3 {
		return false
	}
	if err := sendAll(parts[0], parts[1], parts[2]); err != nil {
		fmt.Println("error:", err)
	}
	return true
}

// sendAll sends the outbox of a store, and prints the number of sent bytes.
func sendAll(dir, address, kill string) error {
	var what string
	var at int64
	if _, err := fmt.Sscan(kill, &what, &at); err != nil && kill != "never" {
		return err
	}
	store, err := sqlite.Open(dir, sqlite.Options{Logger: quiet()})
	if err != nil {
		return err
	}
	w := &wire{}
	if what == "byte" {
		w.fatal = at
	}
	if address, err = w.before(address); err != nil {
		return err
	}
	outbox := &mortalOutbox{Store: store}
	if what == "sent" {
		outbox.fatal = at
	}
	p, err := NewPusher(PusherConfig{
		Database: Config{URL: address}, Outbox: outbox, Version: "v1.2.3", Logger: quiet(),
		Names: func(context.Context, engine.RunID) (storage.Names, error) { return names, nil },
	})
	if err != nil {
		return err
	}
	outbox.alias = target(p.server)
	p.Start()
	err = errors.Join(p.Drain(context.Background(), run), p.Close(context.Background()), store.Close())
	fmt.Println(w.sent.Load(), outbox.n)
	return err
}

func die() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {}
}

// mortalOutbox has one name for the database, whatever its port, and may kill the process before a confirmation is recorded.
type mortalOutbox struct {
	*sqlite.Store
	alias    string
	n, fatal int64
}

const subscribed = "the database"

func (o *mortalOutbox) Outbox(ctx context.Context, _ string) ([]engine.RunID, error) {
	return o.Store.Outbox(ctx, subscribed)
}

func (o *mortalOutbox) Delivery(ctx context.Context, run engine.RunID, _ string, after storage.Cursor, rows int) (*storage.Delivery, error) {
	return o.Store.Delivery(ctx, run, subscribed, after, min(rows, 700))
}

func (o *mortalOutbox) Sent(ctx context.Context, run engine.RunID, _ string, to storage.Cursor) error {
	if o.n++; o.n == o.fatal {
		die()
	}
	return o.Store.Sent(ctx, run, subscribed, to)
}

func (o *mortalOutbox) Unsent(ctx context.Context, run engine.RunID, _ string) (int64, error) {
	return o.Store.Unsent(ctx, run, subscribed)
}

// wire is a connection to the server that ends the process at a byte.
type wire struct {
	fatal int64 // 0 is never
	sent  atomic.Int64
}

// before returns the address of a proxy for another address.
func (w *wire) before(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := u.Host
	u.Host = l.Addr().String()
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(client, server)
		}
	}()
	return u.String(), nil
}

func (w *wire) carry(client net.Conn, address string) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() { _, _ = io.Copy(client, server) }()
	buf := make([]byte, 4096)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if sent := w.sent.Add(int64(n)); w.fatal > 0 && sent >= w.fatal {
			_, _ = server.Write(buf[:max(int64(n)-(sent-w.fatal), 0)])
			die()
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// sender starts the test binary again, and reports whether it was killed.
func sender(t *testing.T, dir, address, kill string) (bytesSent, confirmed int64, killed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), helperVariable+"="+strings.Join([]string{dir, address, kill}, "\n"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		if out.Len() > 0 {
			t.Fatalf("the sender: %v\n%s", err, &out)
		}
		return 0, 0, true
	}
	if _, err := fmt.Sscan(out.String(), &bytesSent, &confirmed); err != nil {
		t.Fatalf("the sender printed %q", out.String())
	}
	return bytesSent, confirmed, false
}

// TestKilledSender kills a sender at random bytes (in the migration, in the middle of COPY, before COMMIT), and between the
// server's confirmation and its recording; the next sender is killed too. In the end the database has the same rows as after
// an undisturbed sender.
func TestKilledSender(t *testing.T) {
	const seed = 20261124
	t.Logf("seed %d", seed)
	source := t.TempDir()
	store, err := sqlite.Open(source, sqlite.Options{Logger: quiet()})
	must(t, err)
	l := &local{Store: store, t: t, random: rand.New(rand.NewPCG(1, 1))}
	l.journal = l.create(run)
	varied(l)
	l.agents = 1000
	l.add(4000)
	must(t, store.Subscribe(t.Context(), run, subscribed))
	must(t, store.Close())

	folder := func() string {
		dir := t.TempDir()
		must(t, os.CopyFS(dir, os.DirFS(source)))
		return dir
	}
	server := pgtest.Shared(t)
	undisturbed := newDatabase(t, server)
	total, confirmed, _ := sender(t, folder(), undisturbed.url, "never")
	want := contents(undisturbed)
	if confirmed < 4 || !strings.Contains(want, "sessions 4") {
		t.Fatalf("%d bytes in %d deliveries: %s", total, confirmed, want)
	}
	draw := rand.New(rand.NewPCG(seed, 0))
	kills := []string{"byte 300", "byte 9000", "sent 1", fmt.Sprint("sent ", confirmed), "sent 3"}
	for range 5 {
		kills = append(kills, fmt.Sprint("byte ", 20_000+draw.Int64N(total-20_000)))
	}
	for _, kill := range kills {
		t.Run(kill, func(t *testing.T) {
			t.Parallel()
			dir, d := folder(), newDatabase(t, server)
			for _, kill := range []string{kill, fmt.Sprint("byte ", total/3), "sent 2"} {
				if _, _, killed := sender(t, dir, d.url, kill); !killed && kill != "sent 2" {
					t.Logf("the sender ended before %s", kill)
				}
			}
			if _, _, killed := sender(t, dir, d.url, "never"); killed {
				t.Fatal("no sender was killed")
			}
			if got := contents(d); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// contents returns the number of rows of each table, and a checksum of their values.
func contents(d *database) string {
	d.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for ask[int](d, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`) > 0 {
		if time.Now().After(deadline) {
			d.t.Fatal("the session of a dead sender still exists")
		}
	}
	var all strings.Builder
	for _, table := range []string{"sessions", "events", "metrics", "checkpoints", "runs", "migrations"} {
		columns := "x::text"
		if table == "migrations" {
			columns = "x.version::text || x.name"
		}
		if table == "runs" {
			columns = "x.id || x.done || coalesce(x.reason, '')"
		}
		fmt.Fprintf(&all, "%s %s; ", table, ask[string](d, `SELECT count(*) || ' ' || md5(string_agg(`+columns+`, ',' ORDER BY `+columns+`)) FROM throng.`+table+` x`))
	}
	return all.String()
}
