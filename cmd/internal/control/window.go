package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// raise is the request that brings the window of a data folder to the front.
type raise struct {
	Version int    `json:"version"`
	File    string `json:"file,omitempty"` // to show
}

// ServeWindow calls show, from any goroutine, for each program that is started while the window is open, with the file given
// to that program, or "". The caller must own the window of the data folder. stop ends it.
func ServeWindow(data string, show func(file string)) (stop func() error, err error) {
	p, listener, err := listen(data, ofWindow)
	if err != nil {
		return nil, fmt.Errorf("make a socket for the window: %w", err)
	}
	var working sync.WaitGroup
	working.Go(func() {
		for {
			c, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // such as too many open files
				time.Sleep(watchEvery)
				continue
			}
			answerRaise(c, show)
		}
	})
	return func() error {
		err := listener.Close()
		working.Wait()
		return errors.Join(err, p.remove())
	}, nil
}

// answerRaise serves one client. Other clients wait for a moment.
func answerRaise(c net.Conn, show func(file string)) {
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(dialTime)); err != nil {
		return
	}
	line, err := readLine(bufio.NewReader(c), mostRequest)
	var r raise
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err != nil {
		answer(c, &reply{Error: newFault(err)})
		return
	}
	show(r.File)
	answer(c, &reply{})
}

// Raise brings the window of a data folder to the front and, if file is not empty, opens the file in it.
func Raise(ctx context.Context, data, file string) error {
	c, err := reach(ctx, data, ofWindow)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	line, err := json.Marshal(raise{Version: version, File: file})
	if err != nil {
		return err
	}
	if err := c.SetDeadline(time.Now().Add(dialTime)); err != nil {
		return err
	}
	if _, err := io.WriteString(c, string(line)+"\n"); err != nil {
		return err
	}
	text, err := readLine(bufio.NewReader(c), mostReply)
	if err != nil {
		return err
	}
	var r reply
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	if r.Error != nil {
		return r.Error.err()
	}
	return nil
}
