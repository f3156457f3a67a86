// Package scenario reads scenario files: parameters, clock, population, services, chains and success criteria, and
// makes of them the program that a run executes.
//
// A population is computed, agent by agent when one is asked for, or a [table] of rows that stand in the scenario, a CSV
// or a JSONL file; whether an agent's attribute was computed or read does not show. CSV is kept by column, JSONL as the
// file's own text. Filters say which of the agents take part ([Program.Choose]).
package scenario
