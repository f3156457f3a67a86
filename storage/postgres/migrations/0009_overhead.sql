ALTER TABLE throng.metrics
	ADD COLUMN time_services_ms   double precision,
	ADD COLUMN time_refusals_ms   double precision,
	ADD COLUMN time_scripts_ms    double precision,
	ADD COLUMN time_wait_steps_ms double precision,
	ADD COLUMN time_pacing_ms     double precision,
	ADD COLUMN time_journal_ms    double precision,
	ADD COLUMN time_engine_ms     double precision,
	ADD COLUMN collector_cpu_percent double precision,
	ADD COLUMN journal_writer_ms     double precision,
	ADD COLUMN window_cpu_ms         double precision,
	ADD COLUMN late_ms               double precision,
	ADD COLUMN core_wait_p99_ms      double precision;
COMMENT ON COLUMN throng.metrics.time_services_ms IS 'So far, over all sessions: the time that services took to answer; the next six are the rest of the sessions'' time.';
COMMENT ON COLUMN throng.metrics.time_refusals_ms IS 'Waits after 429s and errors, and for open breakers.';
COMMENT ON COLUMN throng.metrics.time_scripts_ms IS 'Python steps.';
COMMENT ON COLUMN throng.metrics.time_wait_steps_ms IS 'Think time that the scenario asks for.';
COMMENT ON COLUMN throng.metrics.time_pacing_ms IS 'Rates, bounds, sign-ins and the budget held requests back.';
COMMENT ON COLUMN throng.metrics.time_journal_ms IS 'Until intents were durable and finished sessions queued.';
COMMENT ON COLUMN throng.metrics.time_engine_ms IS 'Between steps: the engine itself.';
COMMENT ON COLUMN throng.metrics.collector_cpu_percent IS 'Of the garbage collection in this second; 100 is one core.';
COMMENT ON COLUMN throng.metrics.journal_writer_ms IS 'How long the writer of the journal was busy so far.';
COMMENT ON COLUMN throng.metrics.window_cpu_ms IS 'CPU time of the window so far.';
COMMENT ON COLUMN throng.metrics.late_ms IS 'How late this second''s tick came: by as much measured times may be wrong.';
COMMENT ON COLUMN throng.metrics.core_wait_p99_ms IS 'How long what could run waited for a core in this second, p99.';
