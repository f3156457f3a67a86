// Package validation compares what the agents of a run did with real data: a column of a CSV file with a figure of each agent or session.
// It reads the part `validate_against` of a file, collects the figures from sessions, and says how far both distributions are apart and
// how likely that is by chance. It opens and stores nothing.
package validation
