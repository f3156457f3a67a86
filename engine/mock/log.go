package mock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync"
)

// A log is
//
//	magic | frame | frame | …      frame: body length (4 bytes) | CRC-32C of the body (4 bytes) | body
//
// with little-endian numbers. The first body is opSettings, version and seed; each further one is a change.
const (
	logMagic   = "ThrongSL"
	logVersion = 1
	frameHead  = 8
	maxRecord  = 4096 // bytes of a body; a user id is at most maxUserID, a detail is a sentence
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame writes a body with its head.
func appendFrame(b []byte, body func([]byte) []byte) []byte {
	start := len(b)
	b = body(append(b, make([]byte, frameHead)...))
	content := b[start+frameHead:]
	binary.LittleEndian.PutUint32(b[start:], uint32(len(content)))
	binary.LittleEndian.PutUint32(b[start+4:], crc32.Checksum(content, castagnoli))
	return b
}

// parseFrame returns the body that b begins with, or false if b begins with no whole frame.
func parseFrame(b []byte) ([]byte, bool) {
	if len(b) < frameHead {
		return nil, false
	}
	size := int(binary.LittleEndian.Uint32(b))
	if size == 0 || size > maxRecord || size > len(b)-frameHead {
		return nil, false
	}
	body := b[frameHead : frameHead+size]
	return body, crc32.Checksum(body, castagnoli) == binary.LittleEndian.Uint32(b[4:])
}

func appendSettings(b []byte, seed uint64) []byte {
	return appendFrame(append(b, logMagic...), func(b []byte) []byte {
		return binary.LittleEndian.AppendUint64(append(b, byte(opSettings), logVersion), seed)
	})
}

// logStart is the length of magic and settings.
var logStart = int64(len(appendSettings(nil, 0)))

// file is the part of os.File that the log uses.
type file interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

// shopLog is the log of a running shop. The nil log stores nothing.
type shopLog struct {
	mu     sync.Mutex // guards the fields below
	file   file
	size   int64
	lost   int64 // bytes of an unfinished record that were cut off when the log was opened
	broken error // why writing is no longer possible
}

// openLog opens or creates the log at path, passes every change in it to redo, and cuts off an unfinished record at the end.
func openLog(path string, seed uint64, redo func(change)) (*shopLog, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the mutation log: %w", err)
	}
	l, err := resumeLog(f, seed, redo)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mutation log %s: %w", path, err), f.Close())
	}
	return l, nil
}

func resumeLog(f *os.File, seed uint64, redo func(change)) (*shopLog, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	wrote, begun, err := scanSettings(f, info.Size())
	if err != nil {
		return nil, err
	}
	if !begun {
		l := &shopLog{file: f, lost: info.Size()}
		return l, errors.Join(f.Truncate(0), l.append(appendSettings(nil, seed)))
	}
	if wrote != seed {
		return nil, fmt.Errorf("it was written with seed %d, but this shop has seed %d: "+
			"start with seed %d, or use another log", wrote, seed, wrote)
	}
	end, err := scan(f, info.Size(), redo)
	if err != nil {
		return nil, err
	}
	if end < info.Size() {
		if err := f.Truncate(end); err != nil {
			return nil, fmt.Errorf("cut off the unfinished end: %w", err)
		}
	}
	return &shopLog{file: f, size: end, lost: info.Size() - end}, nil
}

// append writes one or more frames with one write. If that fails, the log is as it was before, or refuses all further writes.
func (l *shopLog) append(frames []byte) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return l.broken
	}
	n, err := l.file.Write(frames)
	if err == nil {
		l.size += int64(n)
		return nil
	}
	if undo := l.file.Truncate(l.size); n > 0 && undo != nil {
		l.broken = errors.Join(err, undo)
	}
	return err
}

func (l *shopLog) bytes() int64 {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

func (l *shopLog) sync() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("sync the mutation log: %w", err)
	}
	return nil
}

func (l *shopLog) close() error {
	if l == nil {
		return nil
	}
	err := l.sync()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = errors.Join(l.broken, os.ErrClosed)
	return errors.Join(err, l.file.Close())
}

// scan reads the changes of a log of a given size, which has complete settings, and calls visit with each. It returns the end of the last
// complete record.
//
// Bytes after the last complete record are an unfinished write if they are short enough for one and contain no complete record, or if
// they are all zeros, as a file system may leave them after a power failure. Anything else is damage.
func scan(r io.ReaderAt, size int64, visit func(change)) (end int64, err error) {
	w := &window{from: r, at: logStart, size: size}
	for record := 1; w.at < size; record++ {
		b, err := w.next(frameHead + maxRecord)
		if err != nil {
			return 0, err
		}
		body, whole := parseFrame(b)
		if !whole {
			torn, err := w.torn()
			if err == nil && !torn {
				err = damaged(record, w.at, errors.New("its checksum does not match"))
			}
			return w.at, err
		}
		c, err := parseChange(body)
		if err != nil {
			return 0, damaged(record, w.at, err)
		}
		visit(c)
		w.at += frameHead + int64(len(body))
	}
	return w.at, nil
}

func damaged(record int, at int64, why error) error {
	return fmt.Errorf("record %d at byte %d is damaged (%w): fork from an earlier checkpoint, "+
		"restore the file from a backup, or remove it to start with an empty shop", record, at, why)
}

// scanSettings reads magic and settings. ok is false if the file ends within them, as after a kill.
func scanSettings(r io.ReaderAt, size int64) (seed uint64, ok bool, err error) {
	b := make([]byte, min(size, logStart))
	if _, err := r.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return 0, false, fmt.Errorf("read: %w", err)
	}
	if magic := min(len(b), len(logMagic)); string(b[:magic]) != logMagic[:magic] {
		return 0, false, errors.New("it is not the log of a mock shop: choose another file")
	}
	if int64(len(b)) < logStart {
		return 0, false, nil
	}
	body, whole := parseFrame(b[len(logMagic):])
	if !whole || op(body[0]) != opSettings || len(body) < 2 {
		return 0, false, damaged(0, int64(len(logMagic)), errors.New("its checksum does not match"))
	}
	if body[1] != logVersion {
		return 0, false, fmt.Errorf("it has format %d, but this version of Throng reads %d: "+
			"finish its run with the version that wrote it", body[1], logVersion)
	}
	if len(body) != 2+8 {
		return 0, false, damaged(0, int64(len(logMagic)), errRecord)
	}
	return binary.LittleEndian.Uint64(body[2:]), true, nil
}

// window reads a file forwards through a buffer.
type window struct {
	from     io.ReaderAt
	at, size int64 // the next byte to read, and the end of the file
	buf      []byte
	start    int64 // of buf in the file
}

const windowBytes = 1 << 18

// next returns up to n bytes from at on, fewer only at the end of the file. They are valid until the next call.
func (w *window) next(n int) ([]byte, error) {
	n = int(min(int64(n), w.size-w.at))
	if skip := w.at - w.start; skip < 0 || skip+int64(n) > int64(len(w.buf)) {
		w.start = w.at
		w.buf = append(w.buf[:0], make([]byte, min(windowBytes, w.size-w.at))...)
		if _, err := w.from.ReadAt(w.buf, w.at); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read: %w", err)
		}
	}
	from := w.at - w.start
	return w.buf[from : from+int64(n)], nil
}

// torn reports whether the bytes from at on are an unfinished write (see scan).
func (w *window) torn() (bool, error) {
	if w.size-w.at < frameHead+maxRecord {
		b, err := w.next(math.MaxInt32)
		for i := range b {
			if _, whole := parseFrame(b[i:]); whole {
				return false, err
			}
		}
		return true, err
	}
	zeros := window{from: w.from, at: w.at, size: w.size}
	for zeros.at < zeros.size {
		b, err := zeros.next(windowBytes)
		if err != nil || len(bytes.Trim(b, "\x00")) > 0 {
			return false, err
		}
		zeros.at += int64(len(b))
	}
	return true, nil
}
