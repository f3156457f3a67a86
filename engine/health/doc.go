// Package health evaluates a run: findings by a table of thresholds, the bottleneck, and anomalies in its metrics.
package health
