//go:build !unix

package service

// descriptorLimit returns the limit of open files, or 0 if it is not known.
func descriptorLimit() uint64 { return 0 }
