// Package statistics answers how large a difference between the points of an experiment is, and how sure that is.
//
// The unit is a run: each input is a slice with one value per run, never one per session or agent, because agents of one run
// interact and share its luck. A value that is not finite (NaN, ±Inf) is missing; it is left out and counted, and a pair with a
// missing value is left out whole. All functions are pure and deterministic: where something is drawn, the caller passes the seed.
//
// An unknown figure is NaN, never zero, and Interval.Note or Difference.Note says why. With n values that are present:
//
//	n = 0     nothing is known: all figures are NaN
//	n = 1     a mean, but no standard deviation, interval or p-value
//	n = 2     everything by Student's t with one degree of freedom, which is wide; the bootstrap needs MinBootstrap values
//	all equal no interval: the runs show no chance to estimate. The note says which share of all runs may differ at most.
//
// Equal means equal up to rounding (one part in 10^13), so that sums in another order make no difference.
//
// # Assumptions
//
// Student's t, Welch's test and Dunnett's assume that the runs' values, or their differences, are roughly normal; means over many
// agents are. The sign-flip test assumes that differences are symmetric about their center, the rank test that the distributions
// have the same shape. The tests named "simulation" hold the coverage of the intervals and the errors of the tests.
package statistics
