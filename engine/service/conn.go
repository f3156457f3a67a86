package service

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
)

type dial func(ctx context.Context, network, addr string) (net.Conn, error)

// counted makes dial count open connections.
func (h *HTTP) counted(next dial) dial {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		h.open.Add(1)
		return &countedConn{Conn: c, closed: sync.OnceFunc(func() { h.open.Add(-1) })}, nil
	}
}

type countedConn struct {
	net.Conn
	closed func()
}

func (c *countedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

// SyscallConn implements [syscall.Conn].
func (c *countedConn) SyscallConn() (syscall.RawConn, error) {
	if below, ok := c.Conn.(syscall.Conn); ok {
		return below.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}
