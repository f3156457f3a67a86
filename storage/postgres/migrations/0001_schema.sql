-- A user without the right to create schemas can be granted an empty one.
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'throng') THEN
		CREATE SCHEMA throng;
		COMMENT ON SCHEMA throng IS 'Results of simulation runs, sent by Throng. Rows are only added; those of runs and checkpoints are also updated.';
	END IF;
END
$$;

CREATE TABLE throng.migrations (
	version integer NOT NULL,
	name    text NOT NULL,
	applied timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (version)
);
COMMENT ON TABLE throng.migrations IS 'Applied versions of the schema.';
COMMENT ON COLUMN throng.migrations.version IS 'Version number, from 1.';
COMMENT ON COLUMN throng.migrations.name IS 'Name of the version.';
COMMENT ON COLUMN throng.migrations.applied IS 'When it was applied.';

CREATE TABLE throng.runs (
	id             text COLLATE "C" NOT NULL,
	title          text NOT NULL,
	scenario       text NOT NULL,
	scenario_hash  text NOT NULL,
	seed           numeric(20) NOT NULL,
	parameters     json NOT NULL,
	settings       json NOT NULL,
	created        timestamptz,
	ended          timestamptz,
	ending         text,
	reason         text,
	cycle          integer NOT NULL,
	cycles         integer NOT NULL,
	done           bigint NOT NULL,
	total          bigint NOT NULL,
	parent         text COLLATE "C",
	fork_cycle     integer NOT NULL,
	inexact        json,
	verdict        json,
	totals         json,
	throng_version text NOT NULL,
	changed        bigint NOT NULL,
	machine        text,
	name           text,
	tags           text[] NOT NULL DEFAULT '{}',
	PRIMARY KEY (id)
);
COMMENT ON TABLE throng.runs IS 'Runs of scenarios, one row each, updated while they run. Names and figures are those of run.json.';
COMMENT ON COLUMN throng.runs.id IS 'Id of the run. It begins with the time of creation and sorts by it.';
COMMENT ON COLUMN throng.runs.title IS 'Title of the scenario.';
COMMENT ON COLUMN throng.runs.scenario IS 'File name of the scenario.';
COMMENT ON COLUMN throng.runs.scenario_hash IS 'SHA-256 of all files of the scenario.';
COMMENT ON COLUMN throng.runs.seed IS 'Random seed, up to 2^64-1. The same scenario, parameters, seed and service answers produce the same sessions and events.';
COMMENT ON COLUMN throng.runs.parameters IS 'Scenario parameters by name.';
COMMENT ON COLUMN throng.runs.settings IS 'Settings of the run, without secrets.';
COMMENT ON COLUMN throng.runs.created IS 'When the run was first started.';
COMMENT ON COLUMN throng.runs.ended IS 'When the run ended; NULL while it is running or interrupted. Set only when all its rows are in this database.';
COMMENT ON COLUMN throng.runs.ending IS 'finished, stopped, failed or out of budget; NULL if ended is NULL.';
COMMENT ON COLUMN throng.runs.reason IS 'Why the run ended, as text.';
COMMENT ON COLUMN throng.runs.cycle IS 'Current cycle, from 0.';
COMMENT ON COLUMN throng.runs.cycles IS 'Planned number of cycles; 0 if the run ends by time.';
COMMENT ON COLUMN throng.runs.done IS 'Sessions that ended, without retakes.';
COMMENT ON COLUMN throng.runs.total IS 'Planned number of sessions; 0 if unknown.';
COMMENT ON COLUMN throng.runs.parent IS 'The run that this one was forked from.';
COMMENT ON COLUMN throng.runs.fork_cycle IS 'Cycle of the parent at which the fork began.';
COMMENT ON COLUMN throng.runs.inexact IS 'From when and why the result may depend on timing; NULL for an exact run.';
COMMENT ON COLUMN throng.runs.verdict IS 'Success criteria with their values; NULL while there are none.';
COMMENT ON COLUMN throng.runs.totals IS 'Totals of the run as of its newest checkpoint or its end.';
COMMENT ON COLUMN throng.runs.throng_version IS 'Version of Throng that sent the row.';
COMMENT ON COLUMN throng.runs.changed IS 'When the run last changed in its local store, in microseconds since 1970. An older state never replaces a newer one.';
COMMENT ON COLUMN throng.runs.machine IS 'Name of the machine that executed the run.';
COMMENT ON COLUMN throng.runs.name IS 'Name that a user gave the run; NULL if none.';
COMMENT ON COLUMN throng.runs.tags IS 'Tags that a user gave the run, sorted.';

CREATE TABLE throng.sessions (
	run           text COLLATE "C" NOT NULL,
	cycle         integer NOT NULL,
	agent_index   integer NOT NULL,
	take          integer NOT NULL,
	agent         text NOT NULL,
	session       text NOT NULL,
	outcome       text NOT NULL,
	class         text,
	step          text,
	because       text,
	error         text,
	steps         integer NOT NULL,
	events        integer NOT NULL,
	acted         boolean NOT NULL,
	started       timestamptz,
	queued_ms     double precision,
	throttled_ms  double precision,
	service_ms    double precision,
	total_ms      double precision,
	latency_ms    double precision,
	requests      integer NOT NULL,
	retries       integer NOT NULL,
	rate_limited  integer NOT NULL,
	replayed      integer NOT NULL,
	unconfirmed   integer NOT NULL,
	confirmed     integer NOT NULL,
	label         text NOT NULL,
	model_calls   integer NOT NULL DEFAULT 0,
	input_tokens  bigint NOT NULL DEFAULT 0,
	cached_input_tokens bigint NOT NULL DEFAULT 0,
	output_tokens bigint NOT NULL DEFAULT 0,
	cost_usd      numeric DEFAULT 0,
	cache_hits    integer NOT NULL DEFAULT 0,
	recorded      integer NOT NULL DEFAULT 0,
	calls_again   integer NOT NULL DEFAULT 0,
	trail         bigint,
	resent        integer NOT NULL DEFAULT 0,
	not_repeated  integer NOT NULL DEFAULT 0,
	PRIMARY KEY (run, cycle, agent_index, take)
);
COMMENT ON TABLE throng.sessions IS 'One row per session: sessions.csv and timings.csv combined.';
COMMENT ON COLUMN throng.sessions.run IS 'Id of the run, as in runs.id.';
COMMENT ON COLUMN throng.sessions.cycle IS 'Cycle, from 0.';
COMMENT ON COLUMN throng.sessions.agent_index IS 'Index of the agent in the population, from 0.';
COMMENT ON COLUMN throng.sessions.take IS 'From 0. A session that was requeued has another take. The last take counts; only that is in the CSV files.';
COMMENT ON COLUMN throng.sessions.agent IS 'Id of the agent.';
COMMENT ON COLUMN throng.sessions.session IS 'Id of the session (session.seed_uuid), the same in all runs with the same seed.';
COMMENT ON COLUMN throng.sessions.outcome IS 'ok, stopped, failed, timeout or canceled.';
COMMENT ON COLUMN throng.sessions.class IS 'Class of the error; NULL if there is none.';
COMMENT ON COLUMN throng.sessions.step IS 'Step that failed, or at which the session stopped.';
COMMENT ON COLUMN throng.sessions.because IS 'Why the session stopped.';
COMMENT ON COLUMN throng.sessions.error IS 'Error message. Not part of the result.';
COMMENT ON COLUMN throng.sessions.steps IS 'Number of executed steps; each iteration of a loop counts.';
COMMENT ON COLUMN throng.sessions.events IS 'Number of its rows in events.';
COMMENT ON COLUMN throng.sessions.acted IS 'Whether the session did what the scenario counts as acting.';
COMMENT ON COLUMN throng.sessions.started IS 'When the session began; NULL if it never did.';
COMMENT ON COLUMN throng.sessions.queued_ms IS 'Time queued: from the moment the session could have started to its start.';
COMMENT ON COLUMN throng.sessions.throttled_ms IS 'Time throttled: limits of services, rate limiters, Retry-After.';
COMMENT ON COLUMN throng.sessions.service_ms IS 'Time used by services and steps.';
COMMENT ON COLUMN throng.sessions.total_ms IS 'Time from start to end.';
COMMENT ON COLUMN throng.sessions.latency_ms IS 'Time from the intended start to the end. Without arrivals, total_ms.';
COMMENT ON COLUMN throng.sessions.requests IS 'Attempts, without those answered by 429.';
COMMENT ON COLUMN throng.sessions.retries IS 'Attempts after the first.';
COMMENT ON COLUMN throng.sessions.rate_limited IS 'Answers with status 429.';
COMMENT ON COLUMN throng.sessions.replayed IS 'Steps whose answer was read from the journal after a restart.';
COMMENT ON COLUMN throng.sessions.unconfirmed IS 'Steps whose changing request was sent again without proof that it was executed only once.';
COMMENT ON COLUMN throng.sessions.confirmed IS 'Steps whose request was sent again and that the service reported as executed before.';
COMMENT ON COLUMN throng.sessions.label IS 'The last that applies of fresh, replayed, resent, confirmed, recorded, not_repeated, unconfirmed.';
COMMENT ON COLUMN throng.sessions.model_calls IS 'Answered model calls.';
COMMENT ON COLUMN throng.sessions.input_tokens IS 'Input tokens of model calls.';
COMMENT ON COLUMN throng.sessions.cached_input_tokens IS 'Input tokens that the provider read from its cache.';
COMMENT ON COLUMN throng.sessions.output_tokens IS 'Output tokens of model calls.';
COMMENT ON COLUMN throng.sessions.cost_usd IS 'Cost of model calls; NULL if a price is unknown.';
COMMENT ON COLUMN throng.sessions.cache_hits IS 'Steps that reused a shared answer of the run.';
COMMENT ON COLUMN throng.sessions.recorded IS 'Steps answered from the recording of another run.';
COMMENT ON COLUMN throng.sessions.calls_again IS 'Model calls in flight at an interruption that were sent again; they may have been billed twice.';
COMMENT ON COLUMN throng.sessions.trail IS 'Path of the session through its steps, see trails; NULL if it had none.';
COMMENT ON COLUMN throng.sessions.resent IS 'Steps whose request was sent again and was certainly executed once.';
COMMENT ON COLUMN throng.sessions.not_repeated IS 'Steps whose request may have been executed and was not sent again because the scenario forbids it.';

CREATE TABLE throng.events (
	run         text COLLATE "C" NOT NULL,
	cycle       integer NOT NULL,
	agent_index integer NOT NULL,
	take        integer NOT NULL,
	sequence    integer NOT NULL,
	agent       text NOT NULL,
	session     text NOT NULL,
	step        text NOT NULL,
	event       text NOT NULL,
	data        json,
	PRIMARY KEY (run, cycle, agent_index, take, sequence)
);
COMMENT ON TABLE throng.events IS 'Results that sessions emitted: events.csv.';
COMMENT ON COLUMN throng.events.run IS 'Id of the run, as in runs.id.';
COMMENT ON COLUMN throng.events.cycle IS 'Cycle, from 0.';
COMMENT ON COLUMN throng.events.agent_index IS 'Index of the agent, as in sessions.';
COMMENT ON COLUMN throng.events.take IS 'Take, as in sessions. Only events of the last take count.';
COMMENT ON COLUMN throng.events.sequence IS 'Order within the session, from 0.';
COMMENT ON COLUMN throng.events.agent IS 'Id of the agent.';
COMMENT ON COLUMN throng.events.session IS 'Id of the session, as in sessions.';
COMMENT ON COLUMN throng.events.step IS 'Step that emitted the event, with iterations.';
COMMENT ON COLUMN throng.events.event IS 'Name of the event.';
COMMENT ON COLUMN throng.events.data IS 'Emitted value, unchanged.';

CREATE TABLE throng.metrics (
	run                     text COLLATE "C" NOT NULL,
	at                      timestamptz NOT NULL,
	cycle                   bigint NOT NULL,
	agents_processed        bigint NOT NULL,
	agents_shopped          bigint NOT NULL,
	avg_latency_ms          double precision,
	writes_per_sec          double precision,
	cpu_percent             double precision,
	memory_mb               double precision,
	process_cpu_percent     double precision,
	phase                   text NOT NULL,
	"limit"                 bigint NOT NULL,
	in_flight               bigint NOT NULL,
	sessions_per_sec        double precision,
	requests_per_sec        double precision,
	latency_p50_ms          double precision,
	latency_p95_ms          double precision,
	latency_p99_ms          double precision,
	latency_max_ms          double precision,
	service_p50_ms          double precision,
	service_p95_ms          double precision,
	service_p99_ms          double precision,
	service_max_ms          double precision,
	throttled_p50_ms        double precision,
	throttled_p95_ms        double precision,
	throttled_p99_ms        double precision,
	throttled_max_ms        double precision,
	request_p50_ms          double precision,
	request_p95_ms          double precision,
	request_p99_ms          double precision,
	request_max_ms          double precision,
	rate_limited            bigint NOT NULL,
	retries                 bigint NOT NULL,
	errors_rate_limited     bigint NOT NULL,
	errors_timeout          bigint NOT NULL,
	errors_server_error     bigint NOT NULL,
	errors_client_error     bigint NOT NULL,
	errors_network          bigint NOT NULL,
	errors_bad_answer       bigint NOT NULL,
	errors_contract         bigint NOT NULL,
	errors_script           bigint NOT NULL,
	errors_loop_limit       bigint NOT NULL,
	errors_panic            bigint NOT NULL,
	errors_config           bigint NOT NULL,
	available_memory_mb     double precision,
	net_in_bytes_per_sec    double precision,
	net_out_bytes_per_sec   double precision,
	disk_free_mb            double precision,
	db_connections          bigint,
	db_server_connections   bigint,
	schedule_lag_ms         double precision,
	unsent_rows             bigint,
	db_max_connections      bigint,
	model_calls             bigint NOT NULL DEFAULT 0,
	input_tokens            bigint NOT NULL DEFAULT 0,
	cached_input_tokens     bigint NOT NULL DEFAULT 0,
	output_tokens           bigint NOT NULL DEFAULT 0,
	cost_usd                numeric DEFAULT 0,
	parallel_steps          bigint,
	sequential_steps        bigint,
	step_errors             bigint,
	step_timeouts           bigint,
	parallel_rate           double precision,
	chain_speedup           double precision,
	speedup                 double precision,
	timeout_rate            double precision,
	queued_p50_ms           double precision,
	queued_p95_ms           double precision,
	queued_p99_ms           double precision,
	queued_max_ms           double precision,
	throttled_by_slots_ms   double precision,
	throttled_by_models_ms  double precision,
	throttled_by_rate_ms    double precision,
	throttled_by_refusal_ms double precision,
	throttled_by_retry_ms   double precision,
	throttled_by_token_ms   double precision,
	throttled_by_journal_ms double precision,
	throttled_by_breaker_ms double precision,
	throttled_by_budget_ms  double precision,
	calls_again             bigint NOT NULL DEFAULT 0,
	db_pool_size            bigint,
	db_in_use               bigint,
	db_idle                 bigint,
	db_waiting              bigint,
	time_services_ms        double precision,
	time_refusals_ms        double precision,
	time_scripts_ms         double precision,
	time_wait_steps_ms      double precision,
	time_pacing_ms          double precision,
	time_journal_ms         double precision,
	time_engine_ms          double precision,
	collector_cpu_percent   double precision,
	journal_writer_ms       double precision,
	window_cpu_ms           double precision,
	late_ms                 double precision,
	core_wait_p99_ms        double precision,
	throttled_by_files_ms   double precision,
	throttled_by_memory_ms  double precision,
	throttled_by_batch_ms   double precision,
	stored_mb               double precision,
	PRIMARY KEY (run, at)
);
COMMENT ON TABLE throng.metrics IS 'State of the run and the machine, one row per second: metrics.csv, where at is called timestamp. NULL is unknown; 1 MB is 1,000,000 bytes.';
COMMENT ON COLUMN throng.metrics.run IS 'Id of the run, as in runs.id.';
COMMENT ON COLUMN throng.metrics.at IS 'End of the interval.';
COMMENT ON COLUMN throng.metrics.cycle IS 'Current cycle.';
COMMENT ON COLUMN throng.metrics.agents_processed IS 'Sessions that ended so far.';
COMMENT ON COLUMN throng.metrics.agents_shopped IS 'Sessions that acted so far.';
COMMENT ON COLUMN throng.metrics.avg_latency_ms IS 'Mean session time, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.writes_per_sec IS 'Rows committed by Throng per second: to the remote database, or to its local store if there is none.';
COMMENT ON COLUMN throng.metrics.cpu_percent IS 'CPU usage of the machine.';
COMMENT ON COLUMN throng.metrics.memory_mb IS 'Resident memory of Throng.';
COMMENT ON COLUMN throng.metrics.process_cpu_percent IS 'CPU usage of Throng, relative to one core.';
COMMENT ON COLUMN throng.metrics.phase IS 'preparing, running, paused, stopping or ended.';
COMMENT ON COLUMN throng.metrics."limit" IS 'Concurrency limit.';
COMMENT ON COLUMN throng.metrics.in_flight IS 'Sessions in flight.';
COMMENT ON COLUMN throng.metrics.sessions_per_sec IS 'Sessions that ended per second.';
COMMENT ON COLUMN throng.metrics.requests_per_sec IS 'Attempts per second, without those answered by 429.';
COMMENT ON COLUMN throng.metrics.latency_p50_ms IS 'Median of the time from a session''s start to its end, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.latency_p95_ms IS '95th percentile of the time from a session''s start to its end, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.latency_p99_ms IS '99th percentile of the time from a session''s start to its end, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.latency_max_ms IS 'Longest time from a session''s start to its end, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.service_p50_ms IS 'Median of the time used by services and steps, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.service_p95_ms IS '95th percentile of the time used by services and steps, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.service_p99_ms IS '99th percentile of the time used by services and steps, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.service_max_ms IS 'Longest time used by services and steps, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.throttled_p50_ms IS 'Median of the time throttled, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.throttled_p95_ms IS '95th percentile of the time throttled, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.throttled_p99_ms IS '99th percentile of the time throttled, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.throttled_max_ms IS 'Longest time throttled, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.request_p50_ms IS 'Median of the time that the requests of a step took, retries included, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.request_p95_ms IS '95th percentile of the time that the requests of a step took, retries included, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.request_p99_ms IS '99th percentile of the time that the requests of a step took, retries included, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.request_max_ms IS 'Longest time that the requests of a step took, retries included, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.rate_limited IS 'Answers with status 429 so far.';
COMMENT ON COLUMN throng.metrics.retries IS 'Attempts after the first so far.';
COMMENT ON COLUMN throng.metrics.errors_rate_limited IS 'Sessions so far that failed with class rate_limited.';
COMMENT ON COLUMN throng.metrics.errors_timeout IS 'Sessions so far that failed with class timeout.';
COMMENT ON COLUMN throng.metrics.errors_server_error IS 'Sessions so far that failed with class server_error.';
COMMENT ON COLUMN throng.metrics.errors_client_error IS 'Sessions so far that failed with class client_error.';
COMMENT ON COLUMN throng.metrics.errors_network IS 'Sessions so far that failed with class network.';
COMMENT ON COLUMN throng.metrics.errors_bad_answer IS 'Sessions so far that failed with class bad_answer.';
COMMENT ON COLUMN throng.metrics.errors_contract IS 'Sessions so far that failed with class contract.';
COMMENT ON COLUMN throng.metrics.errors_script IS 'Sessions so far that failed with class script.';
COMMENT ON COLUMN throng.metrics.errors_loop_limit IS 'Sessions so far that failed with class loop_limit.';
COMMENT ON COLUMN throng.metrics.errors_panic IS 'Sessions so far that failed with class panic.';
COMMENT ON COLUMN throng.metrics.errors_config IS 'Sessions so far that failed with class config.';
COMMENT ON COLUMN throng.metrics.available_memory_mb IS 'Memory still available on the machine.';
COMMENT ON COLUMN throng.metrics.net_in_bytes_per_sec IS 'Received by all interfaces of the machine.';
COMMENT ON COLUMN throng.metrics.net_out_bytes_per_sec IS 'Sent by all interfaces of the machine.';
COMMENT ON COLUMN throng.metrics.disk_free_mb IS 'Free space on the disk of the data folder.';
COMMENT ON COLUMN throng.metrics.db_connections IS 'Open connections of Throng to the remote database, in use and idle; to its local store if there is none.';
COMMENT ON COLUMN throng.metrics.db_server_connections IS 'Connections of all clients of the database server.';
COMMENT ON COLUMN throng.metrics.schedule_lag_ms IS 'How far the run is behind its schedule.';
COMMENT ON COLUMN throng.metrics.unsent_rows IS 'Rows that are not yet in the remote database.';
COMMENT ON COLUMN throng.metrics.db_max_connections IS 'max_connections of the database server.';
COMMENT ON COLUMN throng.metrics.model_calls IS 'Model calls so far, including those made once for the whole run; the same holds for tokens and cost.';
COMMENT ON COLUMN throng.metrics.input_tokens IS 'Input tokens of model calls so far.';
COMMENT ON COLUMN throng.metrics.cached_input_tokens IS 'Input tokens so far that models read from their provider''s cache.';
COMMENT ON COLUMN throng.metrics.output_tokens IS 'Output tokens of model calls so far.';
COMMENT ON COLUMN throng.metrics.cost_usd IS 'Cost of model calls so far; missing if a price is unknown.';
COMMENT ON COLUMN throng.metrics.parallel_steps IS 'Steps executed in parallel with another step of their session so far.';
COMMENT ON COLUMN throng.metrics.sequential_steps IS 'Steps executed alone so far.';
COMMENT ON COLUMN throng.metrics.step_errors IS 'Steps that failed so far, without timeouts.';
COMMENT ON COLUMN throng.metrics.step_timeouts IS 'Steps so far that timed out.';
COMMENT ON COLUMN throng.metrics.parallel_rate IS 'Fraction of sessions so far that executed steps in parallel.';
COMMENT ON COLUMN throng.metrics.chain_speedup IS 'For those sessions: total time of their steps divided by the time from start to end.';
COMMENT ON COLUMN throng.metrics.speedup IS 'Busy time of the sessions that ended in this interval, divided by its length.';
COMMENT ON COLUMN throng.metrics.timeout_rate IS 'Fraction of sessions so far that timed out.';
COMMENT ON COLUMN throng.metrics.queued_p50_ms IS 'Median of the time queued, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.queued_p95_ms IS '95th percentile of the time queued, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.queued_p99_ms IS '99th percentile of the time queued, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.queued_max_ms IS 'Longest time queued, of the sessions that ended in this interval.';
COMMENT ON COLUMN throng.metrics.throttled_by_slots_ms IS 'Throttled time so far, over all requests: waiting for a connection or the limit of a service.';
COMMENT ON COLUMN throng.metrics.throttled_by_models_ms IS 'Throttled time so far, over all requests: waiting for the limit of concurrent model calls.';
COMMENT ON COLUMN throng.metrics.throttled_by_rate_ms IS 'Throttled time so far, over all requests: waiting for the rate limiter of a service, including Retry-After.';
COMMENT ON COLUMN throng.metrics.throttled_by_refusal_ms IS 'Throttled time so far, over all requests: waiting after a 429 from a service without a rate limit.';
COMMENT ON COLUMN throng.metrics.throttled_by_retry_ms IS 'Throttled time so far, over all requests: waiting before another attempt.';
COMMENT ON COLUMN throng.metrics.throttled_by_token_ms IS 'Throttled time so far, over all requests: waiting for the login of another step of the agent.';
COMMENT ON COLUMN throng.metrics.throttled_by_journal_ms IS 'Throttled time so far, over all requests: waiting until an intent was durable.';
COMMENT ON COLUMN throng.metrics.throttled_by_breaker_ms IS 'Throttled time so far, over all requests: waiting for an open circuit breaker.';
COMMENT ON COLUMN throng.metrics.throttled_by_budget_ms IS 'Throttled time so far, over all requests: waiting for reserved budget to be returned.';
COMMENT ON COLUMN throng.metrics.calls_again IS 'Model calls so far that were sent again after an interruption and may have been billed twice.';
COMMENT ON COLUMN throng.metrics.db_pool_size IS 'Connections Throng may open, over all its pools.';
COMMENT ON COLUMN throng.metrics.db_in_use IS 'Connections of Throng in use by a statement or a batch.';
COMMENT ON COLUMN throng.metrics.db_idle IS 'Idle connections of Throng.';
COMMENT ON COLUMN throng.metrics.db_waiting IS 'Statements and batches waiting for a connection.';
COMMENT ON COLUMN throng.metrics.time_services_ms IS 'Session time so far spent waiting for answers of services.';
COMMENT ON COLUMN throng.metrics.time_refusals_ms IS 'Session time so far spent waiting after 429s and errors, and for open circuit breakers.';
COMMENT ON COLUMN throng.metrics.time_scripts_ms IS 'Session time so far spent in script steps.';
COMMENT ON COLUMN throng.metrics.time_wait_steps_ms IS 'Session time so far spent in think time.';
COMMENT ON COLUMN throng.metrics.time_pacing_ms IS 'Session time so far throttled by rates, limits, logins and the budget.';
COMMENT ON COLUMN throng.metrics.time_journal_ms IS 'Session time so far spent waiting for the journal.';
COMMENT ON COLUMN throng.metrics.time_engine_ms IS 'Engine overhead so far: session time between steps.';
COMMENT ON COLUMN throng.metrics.collector_cpu_percent IS 'CPU usage of garbage collection in this interval, relative to one core.';
COMMENT ON COLUMN throng.metrics.journal_writer_ms IS 'Busy time of the journal writer so far.';
COMMENT ON COLUMN throng.metrics.window_cpu_ms IS 'CPU time of the window so far.';
COMMENT ON COLUMN throng.metrics.late_ms IS 'Timer lag of this second; measured times may be too long by as much.';
COMMENT ON COLUMN throng.metrics.core_wait_p99_ms IS '99th percentile of the time a runnable goroutine waited for a core in this interval.';
COMMENT ON COLUMN throng.metrics.throttled_by_files_ms IS 'Throttled time so far, over all requests: waiting for a file descriptor.';
COMMENT ON COLUMN throng.metrics.throttled_by_memory_ms IS 'Throttled time so far, over all requests: waiting for the memory budget.';
COMMENT ON COLUMN throng.metrics.throttled_by_batch_ms IS 'Throttled time so far, over all requests: waiting for a batch of model calls.';
COMMENT ON COLUMN throng.metrics.stored_mb IS 'Space that the run takes in the local store.';

CREATE TABLE throng.checkpoints (
	run        text COLLATE "C" NOT NULL,
	number     integer NOT NULL,
	at         timestamptz,
	cycle      integer NOT NULL,
	done       bigint NOT NULL,
	total      bigint NOT NULL,
	kept       bigint NOT NULL,
	reason     text NOT NULL,
	size_bytes bigint NOT NULL,
	took_ms    double precision,
	PRIMARY KEY (run, number)
);
COMMENT ON TABLE throng.checkpoints IS 'Restorable points of runs. The contents of the newest few of each run are in checkpoint_parts, unless that is switched off; older ones are listed only.';
COMMENT ON COLUMN throng.checkpoints.run IS 'Id of the run, as in runs.id.';
COMMENT ON COLUMN throng.checkpoints.number IS 'From 1 in each run.';
COMMENT ON COLUMN throng.checkpoints.at IS 'When it was taken.';
COMMENT ON COLUMN throng.checkpoints.cycle IS 'Cycle at whose start a resumed run continues.';
COMMENT ON COLUMN throng.checkpoints.done IS 'Sessions that had ended.';
COMMENT ON COLUMN throng.checkpoints.total IS 'Planned number of sessions; 0 if unknown.';
COMMENT ON COLUMN throng.checkpoints.kept IS 'Of done, the sessions of closed cycles: a run that continues from here keeps them.';
COMMENT ON COLUMN throng.checkpoints.reason IS 'Why it was taken.';
COMMENT ON COLUMN throng.checkpoints.size_bytes IS 'Compressed size of its state and memory.';
COMMENT ON COLUMN throng.checkpoints.took_ms IS 'Time from the order until it was written, while sessions kept running; NULL if not measured.';

CREATE TABLE throng.checkpoint_parts (
	run    text COLLATE "C" NOT NULL,
	kind   text COLLATE "C" NOT NULL,
	place  bigint NOT NULL,
	number bigint NOT NULL,
	data   bytea NOT NULL,
	PRIMARY KEY (run, kind, place, number)
);
ALTER TABLE throng.checkpoint_parts ALTER COLUMN data SET STORAGE EXTERNAL;
COMMENT ON TABLE throng.checkpoint_parts IS 'Contents of the newest checkpoints of each run, for throngctl fetch on another machine. Rows are added, never changed, and deleted when no kept checkpoint needs them.';
COMMENT ON COLUMN throng.checkpoint_parts.run IS 'Id of the run.';
COMMENT ON COLUMN throng.checkpoint_parts.kind IS 'source: files of the scenario. answer: a shared answer. memory: memory of an agent. log: log of the mock shop. state: the rest of a checkpoint, sent last; with it the checkpoint is complete.';
COMMENT ON COLUMN throng.checkpoint_parts.place IS 'source, log: first byte. answer: position in the journal. memory: index of the agent. state: number of the checkpoint.';
COMMENT ON COLUMN throng.checkpoint_parts.number IS 'log: bytes. memory: first checkpoint for which it holds, until a higher one. state: version of the format. Otherwise 0.';
COMMENT ON COLUMN throng.checkpoint_parts.data IS 'Compressed, as in the local store; empty for an agent without memory. Without secrets.';

CREATE TABLE throng.trails (
	run     text COLLATE "C" NOT NULL,
	trail   bigint NOT NULL,
	place   integer NOT NULL,
	step    text NOT NULL,
	outcome text NOT NULL,
	PRIMARY KEY (run, trail, place)
);
COMMENT ON TABLE throng.trails IS 'Paths of sessions through their steps, each once per run. sessions.trail says which one a session took.';
COMMENT ON COLUMN throng.trails.run IS 'Id of the run, as in runs.id.';
COMMENT ON COLUMN throng.trails.trail IS 'Hash of the steps and their outcomes, as in sessions.trail.';
COMMENT ON COLUMN throng.trails.place IS 'Order of the steps, from 0.';
COMMENT ON COLUMN throng.trails.step IS 'Step, without iterations: all iterations of a loop are one.';
COMMENT ON COLUMN throng.trails.outcome IS 'ok, failed, timeout, skipped or canceled; in a loop, the worst of its iterations.';

-- How many orders are there per cycle?
CREATE VIEW throng.orders_per_cycle AS
	SELECT run, cycle, count(*) AS sessions, count(*) FILTER (WHERE acted) AS orders, avg(acted::int)::double precision AS share
	FROM throng.sessions s
	WHERE NOT EXISTS (SELECT FROM throng.sessions l
		WHERE (l.run, l.cycle, l.agent_index) = (s.run, s.cycle, s.agent_index) AND l.take > s.take)
	GROUP BY run, cycle;
COMMENT ON VIEW throng.orders_per_cycle IS 'Orders per cycle of a run. An order is a session that did what its scenario counts as acting. Only last takes count.';
COMMENT ON COLUMN throng.orders_per_cycle.run IS 'Id of the run, as in runs.id.';
COMMENT ON COLUMN throng.orders_per_cycle.cycle IS 'Cycle, from 0.';
COMMENT ON COLUMN throng.orders_per_cycle.sessions IS 'Sessions of the cycle in this database.';
COMMENT ON COLUMN throng.orders_per_cycle.orders IS 'Sessions that acted.';
COMMENT ON COLUMN throng.orders_per_cycle.share IS 'Orders divided by sessions, from 0 to 1.';

-- The same for each event by name.
CREATE VIEW throng.events_per_cycle AS
	SELECT run, cycle, event, count(*) AS events, count(DISTINCT agent_index) AS agents
	FROM throng.events e
	WHERE NOT EXISTS (SELECT FROM throng.sessions l
		WHERE (l.run, l.cycle, l.agent_index) = (e.run, e.cycle, e.agent_index) AND l.take > e.take)
	GROUP BY run, cycle, event;
COMMENT ON VIEW throng.events_per_cycle IS 'Events per cycle, by name. Only last takes count; a cycle without an event has no row.';
COMMENT ON COLUMN throng.events_per_cycle.run IS 'Id of the run, as in runs.id.';
COMMENT ON COLUMN throng.events_per_cycle.cycle IS 'Cycle, from 0.';
COMMENT ON COLUMN throng.events_per_cycle.event IS 'Name of the event.';
COMMENT ON COLUMN throng.events_per_cycle.events IS 'Number of events.';
COMMENT ON COLUMN throng.events_per_cycle.agents IS 'Number of agents that emitted at least one.';

-- How far do agents get, and where do they fail?
CREATE VIEW throng.steps_funnel AS
	WITH taken AS (
		SELECT run, trail, count(*) AS sessions
		FROM throng.sessions s
		WHERE trail IS NOT NULL AND NOT EXISTS (SELECT FROM throng.sessions l
			WHERE (l.run, l.cycle, l.agent_index) = (s.run, s.cycle, s.agent_index) AND l.take > s.take)
		GROUP BY run, trail
	), every AS (
		SELECT run, sum(sessions) AS sessions FROM taken GROUP BY run
	)
	SELECT run, max(t.place) AS place, t.step,
		(sum(k.sessions) FILTER (WHERE t.outcome IN ('ok', 'failed', 'timeout')))::bigint AS reached,
		coalesce(sum(k.sessions) FILTER (WHERE t.outcome = 'ok'), 0)::bigint AS passed,
		coalesce(sum(k.sessions) FILTER (WHERE t.outcome IN ('failed', 'timeout')), 0)::bigint AS lost,
		(sum(k.sessions) FILTER (WHERE t.outcome IN ('ok', 'failed', 'timeout')) / max(e.sessions))::double precision AS share
	FROM taken k JOIN throng.trails t USING (run, trail) JOIN every e USING (run)
	GROUP BY run, t.step
	HAVING sum(k.sessions) FILTER (WHERE t.outcome IN ('ok', 'failed', 'timeout')) > 0;
COMMENT ON VIEW throng.steps_funnel IS 'Sessions that reached each step, over all cycles of a run. Only last takes count; a step that no session reached has no row. ORDER BY place.';
COMMENT ON COLUMN throng.steps_funnel.run IS 'Id of the run, as in runs.id.';
COMMENT ON COLUMN throng.steps_funnel.place IS 'Order of the steps: the highest place of the step in any trail.';
COMMENT ON COLUMN throng.steps_funnel.step IS 'The step, without iterations.';
COMMENT ON COLUMN throng.steps_funnel.reached IS 'Sessions that began the step.';
COMMENT ON COLUMN throng.steps_funnel.passed IS 'Sessions in which it succeeded.';
COMMENT ON COLUMN throng.steps_funnel.lost IS 'Sessions in which it failed or timed out.';
COMMENT ON COLUMN throng.steps_funnel.share IS 'Reached divided by all sessions of the run, from 0 to 1.';

-- Which agents succeeded, and which did not?
CREATE VIEW throng.agents_by_outcome AS
	SELECT run, agent_index, agent, count(*) AS sessions,
		count(*) FILTER (WHERE outcome = 'ok') AS ok,
		count(*) FILTER (WHERE outcome = 'stopped') AS stopped,
		count(*) FILTER (WHERE outcome = 'failed') AS failed,
		count(*) FILTER (WHERE outcome = 'timeout') AS timeout,
		count(*) FILTER (WHERE outcome = 'canceled') AS canceled,
		count(*) FILTER (WHERE acted) AS acted,
		CASE WHEN count(*) FILTER (WHERE outcome IN ('failed', 'timeout')) > 0 THEN 'failed'
			WHEN count(*) FILTER (WHERE outcome = 'canceled') > 0 THEN 'canceled'
			WHEN count(*) FILTER (WHERE acted) > 0 THEN 'acted' ELSE 'stopped' END AS outcome
	FROM throng.sessions s
	WHERE NOT EXISTS (SELECT FROM throng.sessions l
		WHERE (l.run, l.cycle, l.agent_index) = (s.run, s.cycle, s.agent_index) AND l.take > s.take)
	GROUP BY run, agent_index, agent;
COMMENT ON VIEW throng.agents_by_outcome IS 'Outcomes of each agent over all cycles of its run. Only last takes count.';
COMMENT ON COLUMN throng.agents_by_outcome.run IS 'Id of the run, as in runs.id.';
COMMENT ON COLUMN throng.agents_by_outcome.agent_index IS 'Index of the agent in the population, from 0.';
COMMENT ON COLUMN throng.agents_by_outcome.agent IS 'Id of the agent.';
COMMENT ON COLUMN throng.agents_by_outcome.sessions IS 'All sessions of the agent.';
COMMENT ON COLUMN throng.agents_by_outcome.ok IS 'Sessions that completed.';
COMMENT ON COLUMN throng.agents_by_outcome.stopped IS 'Sessions that stopped because the agent decided so.';
COMMENT ON COLUMN throng.agents_by_outcome.failed IS 'Sessions that failed.';
COMMENT ON COLUMN throng.agents_by_outcome.timeout IS 'Sessions that timed out.';
COMMENT ON COLUMN throng.agents_by_outcome.canceled IS 'Sessions of retired agents.';
COMMENT ON COLUMN throng.agents_by_outcome.acted IS 'Sessions that did what the scenario counts as acting.';
COMMENT ON COLUMN throng.agents_by_outcome.outcome IS 'Overall: failed if any session failed or timed out, else canceled if any was canceled, else acted if any acted, else stopped.';
