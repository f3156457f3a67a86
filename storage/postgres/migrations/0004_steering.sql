ALTER TABLE throng.metrics
	ADD COLUMN held_by_breaker_ms double precision,
	ADD COLUMN held_by_budget_ms  double precision;
COMMENT ON COLUMN throng.metrics.held_by_breaker_ms IS 'For the open circuit breaker of a service.';
COMMENT ON COLUMN throng.metrics.held_by_budget_ms IS 'For the budget of the run, until others gave back what they did not need.';
