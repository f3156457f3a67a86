// Package scenario reads scenario files: parameters, clock, population, services, chains and success criteria. It
// builds the program that a run executes.
//
// A population is computed on demand, agent by agent, or read from a [table] of rows in the scenario, a CSV file or a
// JSONL file. Computed and read attributes look the same. CSV is stored by column, JSONL as the file's text. Filters
// select the active agents ([Program.Choose]).
package scenario
