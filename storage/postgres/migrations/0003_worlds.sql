ALTER TABLE throng.metrics
	ADD COLUMN parallel_steps    bigint,
	ADD COLUMN sequential_steps  bigint,
	ADD COLUMN step_errors       bigint,
	ADD COLUMN step_timeouts     bigint,
	ADD COLUMN parallel_rate     double precision,
	ADD COLUMN chain_speedup     double precision,
	ADD COLUMN speedup           double precision,
	ADD COLUMN timeout_rate      double precision,
	ADD COLUMN queue_wait_p50_ms double precision,
	ADD COLUMN queue_wait_p95_ms double precision,
	ADD COLUMN queue_wait_p99_ms double precision,
	ADD COLUMN queue_wait_max_ms double precision,
	ADD COLUMN held_by_place_ms   double precision,
	ADD COLUMN held_by_models_ms  double precision,
	ADD COLUMN held_by_rate_ms    double precision,
	ADD COLUMN held_by_refusal_ms double precision,
	ADD COLUMN held_by_retry_ms   double precision,
	ADD COLUMN held_by_token_ms   double precision,
	ADD COLUMN held_by_journal_ms double precision;
COMMENT ON COLUMN throng.metrics.parallel_steps IS 'Steps so far that were carried out beside another of their session.';
COMMENT ON COLUMN throng.metrics.sequential_steps IS 'Steps so far that were carried out alone.';
COMMENT ON COLUMN throng.metrics.step_errors IS 'Steps so far that failed; those that timed out are in step_timeouts.';
COMMENT ON COLUMN throng.metrics.parallel_rate IS 'Share of the sessions so far that ran steps together.';
COMMENT ON COLUMN throng.metrics.chain_speedup IS 'Of those sessions: what their steps used, over the time from their start to their end.';
COMMENT ON COLUMN throng.metrics.speedup IS 'Busy time of the sessions that ended in this second, over the second.';
COMMENT ON COLUMN throng.metrics.timeout_rate IS 'Share of the sessions so far that timed out.';
COMMENT ON COLUMN throng.metrics.queue_wait_p50_ms IS 'Like the next three: from the moment a session could have started to its start.';
COMMENT ON COLUMN throng.metrics.held_by_place_ms IS 'So far, over all requests: waits for a place among the calls of a service or for a connection of its pool; the next ones likewise.';
COMMENT ON COLUMN throng.metrics.held_by_models_ms IS 'For a place among the calls of models over all services.';
COMMENT ON COLUMN throng.metrics.held_by_rate_ms IS 'For the turn at the rate of a service, which keeps a Retry-After too.';
COMMENT ON COLUMN throng.metrics.held_by_refusal_ms IS 'After a 429 of a service without a rate.';
COMMENT ON COLUMN throng.metrics.held_by_retry_ms IS 'Before another attempt.';
COMMENT ON COLUMN throng.metrics.held_by_token_ms IS 'For the sign-in of another step of the agent.';
COMMENT ON COLUMN throng.metrics.held_by_journal_ms IS 'Until an intent was durable.';
