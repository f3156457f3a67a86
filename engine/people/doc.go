// Package people draws agents from a file of people: CSV, JSONL or Parquet, of any size. It chooses, renames, converts
// and recodes columns, leaves out rows, and draws rows by weight, raked to given shares. Files are read in pieces. A draw is
// a pure function of the file's content and the [Plan].
package people
