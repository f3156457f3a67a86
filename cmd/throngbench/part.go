package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/throng-sim/throng/engine/mock"
)

// part is a helper process of a side. It prints a line when it is ready, and ends when its standard input is closed.
type part struct {
	said string
	end  func() error
	cmd  *exec.Cmd // its times are known after its end
}

// startPart starts what "row/part" names.
func (e env) startPart(ctx context.Context, name string) (*part, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self, "-tools", e.tools, "-child", name)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	said, err := lines.ReadString('\n')
	p := &part{said: strings.TrimSpace(said), cmd: c, end: func() error {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, lines)
		return c.Wait()
	}}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s is not ready: %w", name, err), p.end())
	}
	return p, nil
}

// serveShop is the mock shop, in memory. It says its address and secret.
func serveShop(context.Context, env) (figures, error) {
	shop, err := mock.Start(mock.Config{})
	if err != nil {
		return nil, err
	}
	fmt.Println(shop.URL(), shop.Secret())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return figures{}, shop.Close()
}

// journeyOf is a scenario of 372 agents who ask the shop that said this.
func journeyOf(said string) string {
	url, secret, _ := strings.Cut(said, " ")
	return `
title: Soak
population: {count: 372, id: "s-${agent.index}"}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}
services:
  shop: {kind: http, url: "` + url + `", headers: {Authorization: "Bearer ` + secret + `.${agent.id}"}}
chain c:
  step look: {kind: http, service: shop, get: /api/products/search, query: {query: milk, limit: 1}}
  step learn: {kind: remember, set: {seen: "${steps.look.count}", at: "${session.cycle}"}, note: "${steps.look.products}", keep: 5}
  step tell: {kind: emit, event: seen, data: "${steps.look.count}"}
`
}

// serveLate takes requests and never answers one. It says its address.
func serveLate(ctx context.Context, _ env) (figures, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = listener.Close()
	}()
	fmt.Println("http://" + listener.Addr().String())
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return figures{}, nil
		} else if err != nil {
			return nil, err
		}
		go func() {
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}()
	}
}
