package service

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine"
)

// readPieces reads a stream of events until enough returns true, or to its end. It calls alive after each line.
func readStream(r io.ReadCloser, most int64, enough func(event []byte) bool, alive func()) ([]byte, error) {
	var all bytes.Buffer
	lines := bufio.NewReader(io.LimitReader(r, most+1))
	for {
		line, err := lines.ReadBytes('\n')
		alive()
		all.Write(line)
		switch {
		case int64(all.Len()) > most:
			return nil, tooBig(most)
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

func tooBig(most int64) error {
	return fmt.Errorf("%w: more than the %s of `limits: {response_size: …}` of its service", errTooBig, engine.FormatBytes(most))
}

// isEmpty reports whether a response has no body, whatever its Content-Length.
func isEmpty(resp *http.Response) bool {
	return resp.Request != nil && resp.Request.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
}

func readBody(resp *http.Response, most int64) ([]byte, error) {
	if isEmpty(resp) {
		return nil, nil
	}
	if resp.ContentLength > most {
		return nil, tooBig(most)
	}
	if n := resp.ContentLength; n >= 0 && n <= maxPromised {
		body := make([]byte, n)
		_, err := io.ReadFull(resp.Body, body)
		return body, err
	}
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(io.LimitReader(resp.Body, most+1)); err != nil {
		return nil, err
	}
	if int64(buf.Len()) > most {
		return nil, tooBig(most)
	}
	return buf.Bytes(), nil
}
