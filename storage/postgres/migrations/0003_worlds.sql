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
	ADD COLUMN queue_wait_max_ms double precision;
COMMENT ON COLUMN throng.metrics.parallel_steps IS 'Steps so far that were carried out beside another of their session.';
COMMENT ON COLUMN throng.metrics.sequential_steps IS 'Steps so far that were carried out alone.';
COMMENT ON COLUMN throng.metrics.step_errors IS 'Steps so far that failed; those that timed out are in step_timeouts.';
COMMENT ON COLUMN throng.metrics.parallel_rate IS 'Share of the sessions so far that ran steps together.';
COMMENT ON COLUMN throng.metrics.chain_speedup IS 'Of those sessions: what their steps used, over the time from their start to their end.';
COMMENT ON COLUMN throng.metrics.speedup IS 'Busy time of the sessions that ended in this second, over the second.';
COMMENT ON COLUMN throng.metrics.timeout_rate IS 'Share of the sessions so far that timed out.';
COMMENT ON COLUMN throng.metrics.queue_wait_p50_ms IS 'Like the next three: from the moment a session could have started to its start.';
