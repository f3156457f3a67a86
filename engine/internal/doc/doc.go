// Package doc is a positioned view of a YAML document: the scenario reader and each step kind read their keys
// from it, and every mistake is collected in a Report with its file, line and column, what was found and what
// would be right.
//
// Readers never stop at a mistake. They report it and return a zero value, so one pass over a file finds all of
// its mistakes; the caller looks at Report.Err when it is done.
package doc
