//go:build !unix

package control

// checkOwner has nothing to do where the folder for temporary files is the user's own.
func checkOwner(string) error { return nil }

// closeToOthers has nothing to do either: the data folder is the user's own, and has no modes.
func closeToOthers(string) error { return nil }
