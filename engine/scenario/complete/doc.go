// Package complete helps to write scenarios: it completes keys, values and expressions at a cursor, explains keys, and corrects
// mistakes that have a known correction. It reads texts that are incomplete or have syntax errors.
package complete
