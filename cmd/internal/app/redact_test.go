package app

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
)

// TestRedact checks that every secret that was looked up is removed.
func TestRedact(t *testing.T) {
	keyring.MockInit()
	t.Setenv("THRONG_TEST_REDACT", "hunter2 of=env")
	if _, _, err := (secrets.Finder{}).Find("x", "THRONG_TEST_REDACT"); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	if err := config.SaveDatabase(data, config.Database{URL: "postgres://me@h/db", Password: "hunter2-saved"}); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"", "postgres://me:hunter2%2Fflag@h/db", "postgres://me@h/db?password=hunter2-query"} {
		if _, err := config.FindDatabase(map[string]string{config.DatabaseKey: flag}, func(string) string { return "" }, data); err != nil {
			t.Fatal(err)
		}
	}
	got := secrets.Redact(`panic: "hunter2 of=env" hunter2+of%3Denv hunter2-saved hunter2/flag hunter2%2Fflag hunter2-query, and nothing else`)
	if want := `panic: "…" … … … … …, and nothing else`; got != want {
		t.Errorf("got %s", got)
	}
}

// TestCheckedModelsSayNoKey checks that a key is removed from an answer that is not HTTP.
func TestCheckedModelsSayNoKey(t *testing.T) {
	keyring.MockInit()
	t.Setenv("THRONG_TEST_REDACT", "sk-hunter2-models")
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = io.WriteString(conn, "HTTP/1.1 sk-hunter2-models OK\r\n\r\n")
			_ = conn.Close()
		}
	}()
	_, err = checkModels(t.Context(), modelService{Name: "m", Address: "http://" + l.Addr().String(), Key: "THRONG_TEST_REDACT"}, true)
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "…") {
		t.Errorf("got %v", err)
	}
	_ = l.Close()
	<-done
}
