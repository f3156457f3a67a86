// Package doc is a view of a YAML document with positions. The scenario reader and the readers of step kinds read their
// keys from it. It collects every error in a Report, with its file, line and column, the text found and a hint.
//
// Readers never stop at an error. They report it and return a zero value, so one pass over a file finds all of its
// errors. The caller checks Report.Err at the end.
package doc
