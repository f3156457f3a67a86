//go:build !unix

package pgtest

// The servers run as the user of the tests.
func asOther() []string     { return nil }
func giveAway(string) error { return nil }
