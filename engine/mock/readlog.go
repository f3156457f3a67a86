package mock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReadLog returns complete records of the mutation log at path, starting at byte from, which is 0 or the end of an earlier result: about
// most bytes, or one record. The records are durable, so they never change. The result is nil at the end of the log or without a log. The
// shop may be running.
func ReadLog(path string, from int64, most int) ([]byte, error) {
	data, err := readLog(path, from, most)
	if err != nil {
		return nil, fmt.Errorf("read the mutation log %s: %w", path, err)
	}
	return data, nil
}

func readLog(path string, from int64, most int) (data []byte, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // for writing, because some systems cannot sync otherwise
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil || info.Size() <= from {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	w := &window{from: f, at: from, size: info.Size()}
	if from == 0 {
		if _, begun, err := scanSettings(f, info.Size()); err != nil || !begun {
			return nil, err
		}
		if data, err = w.next(int(logStart)); err != nil {
			return nil, err
		}
		data = append([]byte(nil), data...)
		w.at = logStart
	}
	for w.at < w.size && len(data) < most {
		b, err := w.next(frameHead + maxRecord)
		if err != nil {
			return nil, err
		}
		body, whole := parseFrame(b)
		if !whole { // an unfinished record, or damage, which opening the log reports
			break
		}
		n := frameHead + len(body)
		data = append(data, b[:n]...)
		w.at += int64(n)
	}
	return data, nil
}

// CheckLog returns an error if the mutation log at path is damaged. An unfinished record at the end is not damage.
func CheckLog(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if _, begun, err := scanSettings(f, info.Size()); err != nil || !begun {
		return err
	}
	_, err = scan(f, info.Size(), func(change) {})
	return err
}
