package assistant

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messages are the lines of an assistant. Each must be one message of JSON-RPC. Another one is answered with an error here: the SDK
// would end the session, and its runs with it.
type messages struct {
	in   *bufio.Reader
	out  *answers
	rest []byte // of the line that is being read
}

// Read implements [io.Reader].
func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) == 0 {
			if err != nil {
				return 0, err
			}
			continue
		}
		mistake := wrong(line)
		if mistake == nil {
			m.rest = line
			break
		}
		if err := errors.Join(err, m.out.refuse(mistake)); err != nil {
			return 0, err
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// problem is an error of JSON-RPC 2.0, section 5.1.
type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// wrong returns what is wrong with a line; nil if it is a message.
func wrong(line []byte) *problem {
	line = bytes.TrimSpace(line)
	if !json.Valid(line) {
		return &problem{-32700, "parse error: a line must be one JSON-RPC message"}
	}
	if line[0] == '[' {
		return &problem{-32600, "batches are not supported: send each message in a line of its own"}
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return &problem{-32600, "invalid request: neither a request nor a notification or a response"}
	}
	return nil
}

// answers is a writer of lines by several goroutines, which stays open.
type answers struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements [io.Writer]. p is a whole line.
func (a *answers) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.out.Write(p)
}

// Close implements [io.Closer].
func (*answers) Close() error { return nil }

// refuse answers a line that is not a message, and so has no ID.
func (a *answers) refuse(p *problem) error {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": p})
	if err != nil {
		return err
	}
	_, err = a.Write(append(text, '\n'))
	return err
}
