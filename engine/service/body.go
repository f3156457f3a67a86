package service

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// readPieces reads a stream of events until enough returns true, or to its end. It calls alive after each line.
func readStream(r io.ReadCloser, enough func(event []byte) bool, alive func()) ([]byte, error) {
	var all bytes.Buffer
	lines := bufio.NewReader(io.LimitReader(r, maxBody+1))
	for {
		line, err := lines.ReadBytes('\n')
		alive()
		all.Write(line)
		switch {
		case all.Len() > maxBody:
			return nil, fmt.Errorf("%w: more than %d bytes", errTooBig, maxBody)
		case errors.Is(err, io.EOF):
			return all.Bytes(), nil
		case err != nil:
			return nil, err
		case enough(line):
			drain(r, lines)
			return all.Bytes(), nil
		}
	}
}

// drainTime limits the time for reading the rest of a stream.
const drainTime = 20 * time.Millisecond

// drain reads the rest of a stream if it has arrived, so that the connection can be reused.
func drain(body io.Closer, rest io.Reader) {
	t := time.AfterFunc(drainTime, func() { _ = body.Close() })
	defer t.Stop()
	_, _ = io.CopyN(io.Discard, rest, 4<<10)
}

var errTooBig = errors.New("the answer is too big")

func readBody(resp *http.Response) ([]byte, error) {
	if resp.ContentLength > maxBody {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", errTooBig, resp.ContentLength, maxBody)
	}
	if n := resp.ContentLength; n >= 0 && n <= maxPromised {
		body := make([]byte, n)
		_, err := io.ReadFull(resp.Body, body)
		return body, err
	}
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(io.LimitReader(resp.Body, maxBody+1)); err != nil {
		return nil, err
	}
	if buf.Len() > maxBody {
		return nil, fmt.Errorf("%w: more than %d bytes", errTooBig, maxBody)
	}
	return buf.Bytes(), nil
}
