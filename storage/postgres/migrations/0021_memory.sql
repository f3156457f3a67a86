ALTER TABLE throng.metrics
	ADD COLUMN held_by_files_ms  double precision,
	ADD COLUMN held_by_memory_ms double precision;
COMMENT ON COLUMN throng.metrics.held_by_files_ms IS 'For a file descriptor: too many files were open.';
COMMENT ON COLUMN throng.metrics.held_by_memory_ms IS 'For memory: answers in flight and kept memory had used up their budget.';
