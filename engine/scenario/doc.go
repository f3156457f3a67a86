// Package scenario reads scenario files: parameters, clock, population, services, chains and success criteria, and
// makes of them the program that a run executes.
package scenario
