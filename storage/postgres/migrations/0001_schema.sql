-- Somebody who may not make schemas can be given an empty one.
DO $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'throng') THEN
		CREATE SCHEMA throng;
		COMMENT ON SCHEMA throng IS 'Results of simulation runs, sent by Throng. Rows are only ever added; those of runs and checkpoints also change.';
	END IF;
END
$$;

CREATE TABLE throng.migrations (
	version integer     PRIMARY KEY,
	name    text        NOT NULL,
	applied timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE throng.migrations IS 'Which versions of the schema were applied.';

CREATE TABLE throng.runs (
	id             text COLLATE "C" PRIMARY KEY,
	title          text        NOT NULL,
	scenario       text        NOT NULL,
	scenario_hash  text        NOT NULL,
	seed           numeric(20) NOT NULL,
	parameters     json        NOT NULL,
	settings       json        NOT NULL,
	created        timestamptz,
	ended          timestamptz,
	ending         text,
	reason         text,
	cycle          integer     NOT NULL,
	cycles         integer     NOT NULL,
	done           bigint      NOT NULL,
	total          bigint      NOT NULL,
	parent         text COLLATE "C",
	fork_cycle     integer     NOT NULL,
	inexact        json,
	verdict        json,
	totals         json,
	throng_version text        NOT NULL,
	changed        bigint      NOT NULL
);
COMMENT ON TABLE throng.runs IS 'Executions of scenarios, one row each, brought up to date while they go on. Names and figures are those of run.json.';
COMMENT ON COLUMN throng.runs.scenario IS 'Name of the scenario''s file.';
COMMENT ON COLUMN throng.runs.scenario_hash IS 'SHA-256 of all files of the scenario.';
COMMENT ON COLUMN throng.runs.seed IS 'The same scenario, parameters, seed and answers of services give the same sessions and events. Up to 2^64-1.';
COMMENT ON COLUMN throng.runs.parameters IS 'By name, as they were given.';
COMMENT ON COLUMN throng.runs.settings IS 'Without secrets.';
COMMENT ON COLUMN throng.runs.ended IS 'NULL while the run goes on, or was interrupted. Set only when all rows of the run are here.';
COMMENT ON COLUMN throng.runs.ending IS 'finished, stopped, failed or out of budget; NULL like ended.';
COMMENT ON COLUMN throng.runs.reason IS 'Why it ended, in words.';
COMMENT ON COLUMN throng.runs.cycle IS 'The open cycle; they count from 0.';
COMMENT ON COLUMN throng.runs.cycles IS 'How many are planned; 0 when the run ends by the clock.';
COMMENT ON COLUMN throng.runs.done IS 'Sessions that ended, without further takes.';
COMMENT ON COLUMN throng.runs.total IS 'Sessions that are planned; 0 when not known.';
COMMENT ON COLUMN throng.runs.parent IS 'The run that this one was forked from.';
COMMENT ON COLUMN throng.runs.fork_cycle IS 'The cycle of the parent at whose start a fork began.';
COMMENT ON COLUMN throng.runs.inexact IS 'Since when, and why, the result may depend on timing; NULL for an exact run.';
COMMENT ON COLUMN throng.runs.verdict IS 'The success criteria with their values; NULL while there is none.';
COMMENT ON COLUMN throng.runs.totals IS 'Figures of the run as of its newest checkpoint or its end.';
COMMENT ON COLUMN throng.runs.throng_version IS 'Of the Throng that sent the row.';
COMMENT ON COLUMN throng.runs.changed IS 'When the run changed last where it was made, in microseconds since 1970: an older state never replaces a newer one.';

CREATE TABLE throng.sessions (
	run           text COLLATE "C" NOT NULL,
	cycle         integer NOT NULL,
	agent_index   integer NOT NULL,
	take          integer NOT NULL,
	agent         text    NOT NULL,
	session       text    NOT NULL,
	outcome       text    NOT NULL,
	class         text,
	step          text,
	because       text,
	error         text,
	steps         integer NOT NULL,
	events        integer NOT NULL,
	acted         boolean NOT NULL,
	started       timestamptz,
	queue_wait_ms double precision,
	held_ms       double precision,
	service_ms    double precision,
	total_ms      double precision,
	requests      integer NOT NULL,
	retries       integer NOT NULL,
	rate_limited  integer NOT NULL,
	replayed      integer NOT NULL,
	uncertain     integer NOT NULL,
	confirmed     integer NOT NULL,
	label         text    NOT NULL,
	PRIMARY KEY (run, cycle, agent_index, take)
);
COMMENT ON TABLE throng.sessions IS 'How each session ended: sessions.csv and timings.csv together.';
COMMENT ON COLUMN throng.sessions.agent_index IS 'The agent''s place in the population, from 0.';
COMMENT ON COLUMN throng.sessions.take IS 'From 0. A session that was requeued by hand has a further take; the last one counts, and only that is in the CSV files.';
COMMENT ON COLUMN throng.sessions.agent IS 'The agent''s id.';
COMMENT ON COLUMN throng.sessions.session IS 'UUID of the session, as services were told; the same for all takes.';
COMMENT ON COLUMN throng.sessions.outcome IS 'ok, stopped, failed, timeout or cancelled.';
COMMENT ON COLUMN throng.sessions.class IS 'Class of the error; NULL without one.';
COMMENT ON COLUMN throng.sessions.step IS 'The step that failed, or at which the session stopped.';
COMMENT ON COLUMN throng.sessions.because IS 'Why it stopped.';
COMMENT ON COLUMN throng.sessions.error IS 'For people; never part of a result.';
COMMENT ON COLUMN throng.sessions.events IS 'How many rows of events it has.';
COMMENT ON COLUMN throng.sessions.acted IS 'Whether it did what the scenario counts as acting.';
COMMENT ON COLUMN throng.sessions.queue_wait_ms IS 'From the moment it could have started to its start.';
COMMENT ON COLUMN throng.sessions.held_ms IS 'Throttled by Throng: gates, rate limiters, waits that a service asked for.';
COMMENT ON COLUMN throng.sessions.service_ms IS 'Used by services and steps.';
COMMENT ON COLUMN throng.sessions.total_ms IS 'From its start to its end.';
COMMENT ON COLUMN throng.sessions.requests IS 'Attempts; a 429 is none.';
COMMENT ON COLUMN throng.sessions.replayed IS 'Steps whose answer was taken from the journal after a restart.';
COMMENT ON COLUMN throng.sessions.uncertain IS 'Steps whose request was sent again after a restart, and may have been carried out twice.';
COMMENT ON COLUMN throng.sessions.confirmed IS 'Of those that were sent again: the service said that it had done it already.';
COMMENT ON COLUMN throng.sessions.label IS 'The strongest of fresh, replayed, uncertain, confirmed.';

CREATE TABLE throng.events (
	run         text COLLATE "C" NOT NULL,
	cycle       integer NOT NULL,
	agent_index integer NOT NULL,
	take        integer NOT NULL,
	sequence    integer NOT NULL,
	agent       text    NOT NULL,
	session     text    NOT NULL,
	step        text    NOT NULL,
	event       text    NOT NULL,
	data        json,
	PRIMARY KEY (run, cycle, agent_index, take, sequence)
);
COMMENT ON TABLE throng.events IS 'Rows of results that sessions emitted: events.csv.';
COMMENT ON COLUMN throng.events.take IS 'As in sessions: only events of the last take count.';
COMMENT ON COLUMN throng.events.sequence IS 'Order within the session, from 0.';
COMMENT ON COLUMN throng.events.data IS 'As it was emitted, to the letter.';

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
	phase                   text   NOT NULL,
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
	held_p50_ms             double precision,
	held_p95_ms             double precision,
	held_p99_ms             double precision,
	held_max_ms             double precision,
	rate_limited            bigint NOT NULL,
	retries                 bigint NOT NULL,
	errors_rate_limited     bigint NOT NULL,
	errors_timeout          bigint NOT NULL,
	errors_server_error     bigint NOT NULL,
	errors_client_error     bigint NOT NULL,
	errors_network          bigint NOT NULL,
	errors_bad_answer       bigint NOT NULL,
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
	PRIMARY KEY (run, at)
);
COMMENT ON TABLE throng.metrics IS 'State of run and machine, a row per second: metrics.csv, whose timestamp is at. NULL is not known.';
COMMENT ON COLUMN throng.metrics.agents_processed IS 'Sessions that ended so far.';
COMMENT ON COLUMN throng.metrics.agents_shopped IS 'Of those, the sessions that acted.';
COMMENT ON COLUMN throng.metrics.avg_latency_ms IS 'Like all latencies: of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.writes_per_sec IS 'Rows committed to the remote database by Throng; to its local store while there is none.';
COMMENT ON COLUMN throng.metrics.cpu_percent IS 'Of the whole machine.';
COMMENT ON COLUMN throng.metrics.memory_mb IS 'Resident memory of Throng; megabytes are those of a million bytes.';
COMMENT ON COLUMN throng.metrics.process_cpu_percent IS 'Of Throng; 100 is one core.';
COMMENT ON COLUMN throng.metrics."limit" IS 'How many sessions may be in flight.';
COMMENT ON COLUMN throng.metrics.rate_limited IS 'Answers with status 429 so far, like retries and the errors by class.';
COMMENT ON COLUMN throng.metrics.db_connections IS 'Connections in use by Throng.';
COMMENT ON COLUMN throng.metrics.db_server_connections IS 'Connections of all clients of the database server.';
COMMENT ON COLUMN throng.metrics.schedule_lag_ms IS 'How far the run is behind its schedule.';
COMMENT ON COLUMN throng.metrics.unsent_rows IS 'Rows that were not yet in this database.';

CREATE TABLE throng.checkpoints (
	run        text COLLATE "C" NOT NULL,
	number     integer NOT NULL,
	at         timestamptz,
	cycle      integer NOT NULL,
	done       bigint  NOT NULL,
	total      bigint  NOT NULL,
	reason     text    NOT NULL,
	size_bytes bigint  NOT NULL,
	PRIMARY KEY (run, number)
);
COMMENT ON TABLE throng.checkpoints IS 'Restorable points of runs. What they restore is kept where the run was made, the newest few of each run.';
COMMENT ON COLUMN throng.checkpoints.number IS 'From 1 in each run.';
COMMENT ON COLUMN throng.checkpoints.cycle IS 'The run goes on at the start of this cycle.';
COMMENT ON COLUMN throng.checkpoints.done IS 'Sessions that had ended.';
COMMENT ON COLUMN throng.checkpoints.size_bytes IS 'Of its state and memory, compressed.';
