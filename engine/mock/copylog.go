package mock

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// CopyLog copies the changes of cycles before beforeCycle from the log at src to dst, for a fork that starts at that barrier. The shop of
// src may be running: src is not changed, and an unfinished record at its end is left out. dst must not exist, and exists afterwards only
// if it is complete. Changes without a cycle count as cycle 0.
func CopyLog(dst, src string, beforeCycle int) error {
	if err := copyLog(dst, src, beforeCycle); err != nil {
		return fmt.Errorf("copy the mutation log %s to %s: %w", src, dst, err)
	}
	return nil
}

// LogSeed returns the seed of the shop that wrote the log at path. begun is false if there is no log yet.
func LogSeed(path string) (seed uint64, begun bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("open the mutation log: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, false, fmt.Errorf("mutation log %s: %w", path, err)
	}
	if seed, begun, err = scanSettings(f, info.Size()); err != nil {
		err = fmt.Errorf("mutation log %s: %w", path, err)
	}
	return seed, begun, err
}

func copyLog(dst, src string, beforeCycle int) (err error) {
	if _, err := os.Lstat(dst); err == nil {
		return os.ErrExist
	}
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	part := dst + ".part"
	out, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
		}
	}()
	err = errors.Join(copyRecords(out, in, info.Size(), beforeCycle), out.Sync(), out.Close())
	if err != nil {
		return err
	}
	return os.Rename(part, dst)
}

func copyRecords(out io.Writer, in io.ReaderAt, size int64, beforeCycle int) error {
	seed, begun, err := scanSettings(in, size)
	if err != nil || !begun {
		return err // a log without settings copies to an empty file
	}
	w := bufio.NewWriterSize(out, windowBytes)
	frame := appendSettings(nil, seed)
	_, err = w.Write(frame)
	_, damage := scan(in, size, func(c change) {
		if c.cycle < beforeCycle && err == nil {
			frame = appendFrame(frame[:0], c.append)
			_, err = w.Write(frame)
		}
	})
	return errors.Join(damage, err, w.Flush())
}
