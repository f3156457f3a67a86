//go:build !unix

package service

// descriptorLimit is how many files the process may have open; 0 is not known.
func descriptorLimit() uint64 { return 0 }
