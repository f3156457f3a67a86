package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// drop removes a file from the page cache.
func drop(f *os.File) error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
