//go:build !unix

package control

// checkOwner does nothing: on these systems the folder for temporary files belongs to the user.
func checkOwner(string) error { return nil }

// closeToOthers does nothing: the data folder belongs to the user, and has no modes.
func closeToOthers(string) error { return nil }
