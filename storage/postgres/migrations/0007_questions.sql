-- What the sessions did, for those who ask how far agents come. Few trails are those of all sessions of a run.
CREATE TABLE throng.trails (
	run     text COLLATE "C" NOT NULL,
	trail   bigint  NOT NULL,
	place   integer NOT NULL,
	step    text    NOT NULL,
	outcome text    NOT NULL,
	PRIMARY KEY (run, trail, place)
);
COMMENT ON TABLE throng.trails IS 'The ways that sessions took through their steps, each once in a run: sessions.trail says which one a session took.';
COMMENT ON COLUMN throng.trails.run IS 'As in runs.id.';
COMMENT ON COLUMN throng.trails.trail IS 'As in sessions.trail: a hash of the steps and their outcomes.';
COMMENT ON COLUMN throng.trails.place IS 'Order of the steps on the way, from 0.';
COMMENT ON COLUMN throng.trails.step IS 'The step, without iterations: all rounds of a loop are one.';
COMMENT ON COLUMN throng.trails.outcome IS 'ok, failed, timeout, skipped or cancelled; the worst of the rounds of a loop that were begun.';

ALTER TABLE throng.sessions ADD COLUMN trail bigint;
COMMENT ON COLUMN throng.sessions.trail IS 'The way it took through its steps: see trails. NULL where it had none, or was sent by a Throng before this column.';

ALTER TABLE throng.metrics
	ADD COLUMN db_pool_size bigint,
	ADD COLUMN db_in_use    bigint,
	ADD COLUMN db_idle      bigint,
	ADD COLUMN db_waiting   bigint;
COMMENT ON COLUMN throng.metrics.db_pool_size IS 'How many connections Throng may open, over all its pools.';
COMMENT ON COLUMN throng.metrics.db_in_use IS 'Connections of Throng that a statement or a batch has.';
COMMENT ON COLUMN throng.metrics.db_idle IS 'Connections of Throng that are open and have nothing to do.';
COMMENT ON COLUMN throng.metrics.db_waiting IS 'Statements and batches that wait for a connection.';
COMMENT ON COLUMN throng.metrics.db_connections IS 'Connections that Throng has open, in use and idle.';

-- How many orders does a cycle bring?
CREATE VIEW throng.orders_per_cycle AS
	SELECT run, cycle, count(*) AS sessions, count(*) FILTER (WHERE acted) AS orders, avg(acted::int)::double precision AS share
	FROM throng.sessions s
	WHERE NOT EXISTS (SELECT FROM throng.sessions l
		WHERE (l.run, l.cycle, l.agent_index) = (s.run, s.cycle, s.agent_index) AND l.take > s.take)
	GROUP BY run, cycle;
COMMENT ON VIEW throng.orders_per_cycle IS 'What the cycles of a run brought; an order is a session that did what its scenario counts as acting. Only last takes count.';
COMMENT ON COLUMN throng.orders_per_cycle.run IS 'As in runs.id.';
COMMENT ON COLUMN throng.orders_per_cycle.cycle IS 'From 0.';
COMMENT ON COLUMN throng.orders_per_cycle.sessions IS 'Sessions of the cycle that are here.';
COMMENT ON COLUMN throng.orders_per_cycle.orders IS 'Of those, the ones that acted.';
COMMENT ON COLUMN throng.orders_per_cycle.share IS 'Orders over sessions, from 0 to 1.';

-- The same for each event by its name, whether or not it is what counts as acting.
CREATE VIEW throng.events_per_cycle AS
	SELECT run, cycle, event, count(*) AS events, count(DISTINCT agent_index) AS agents
	FROM throng.events e
	WHERE NOT EXISTS (SELECT FROM throng.sessions l
		WHERE (l.run, l.cycle, l.agent_index) = (e.run, e.cycle, e.agent_index) AND l.take > e.take)
	GROUP BY run, cycle, event;
COMMENT ON VIEW throng.events_per_cycle IS 'How often each event was emitted in each cycle. Only last takes count; a cycle without such an event has no row.';
COMMENT ON COLUMN throng.events_per_cycle.run IS 'As in runs.id.';
COMMENT ON COLUMN throng.events_per_cycle.cycle IS 'From 0.';
COMMENT ON COLUMN throng.events_per_cycle.event IS 'The name of the event.';
COMMENT ON COLUMN throng.events_per_cycle.events IS 'How many there are.';
COMMENT ON COLUMN throng.events_per_cycle.agents IS 'How many agents emitted at least one.';

-- How far do agents come, and where do they get lost?
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
COMMENT ON VIEW throng.steps_funnel IS 'How many sessions of a run reached each step, over all its cycles. Only last takes count; a step that nobody reached has no row. ORDER BY place.';
COMMENT ON COLUMN throng.steps_funnel.run IS 'As in runs.id.';
COMMENT ON COLUMN throng.steps_funnel.place IS 'Order of the steps: the furthest place that the step has on a way.';
COMMENT ON COLUMN throng.steps_funnel.step IS 'The step, without iterations.';
COMMENT ON COLUMN throng.steps_funnel.reached IS 'Sessions that began it.';
COMMENT ON COLUMN throng.steps_funnel.passed IS 'Sessions in which it ended well.';
COMMENT ON COLUMN throng.steps_funnel.lost IS 'Sessions in which it failed or timed out.';
COMMENT ON COLUMN throng.steps_funnel.share IS 'Reached over all sessions of the run, from 0 to 1.';

-- Which agents did well, and which did not?
CREATE VIEW throng.agents_by_outcome AS
	SELECT run, agent_index, agent, count(*) AS sessions,
		count(*) FILTER (WHERE outcome = 'ok') AS ok,
		count(*) FILTER (WHERE outcome = 'stopped') AS stopped,
		count(*) FILTER (WHERE outcome = 'failed') AS failed,
		count(*) FILTER (WHERE outcome = 'timeout') AS timeout,
		count(*) FILTER (WHERE outcome = 'cancelled') AS cancelled,
		count(*) FILTER (WHERE acted) AS acted,
		CASE WHEN count(*) FILTER (WHERE outcome IN ('failed', 'timeout')) > 0 THEN 'failed'
			WHEN count(*) FILTER (WHERE outcome = 'cancelled') > 0 THEN 'cancelled'
			WHEN count(*) FILTER (WHERE acted) > 0 THEN 'acted' ELSE 'stopped' END AS outcome
	FROM throng.sessions s
	WHERE NOT EXISTS (SELECT FROM throng.sessions l
		WHERE (l.run, l.cycle, l.agent_index) = (s.run, s.cycle, s.agent_index) AND l.take > s.take)
	GROUP BY run, agent_index, agent;
COMMENT ON VIEW throng.agents_by_outcome IS 'How the sessions of each agent ended, over all cycles of its run. Only last takes count.';
COMMENT ON COLUMN throng.agents_by_outcome.run IS 'As in runs.id.';
COMMENT ON COLUMN throng.agents_by_outcome.agent_index IS 'The agent''s place in the population, from 0.';
COMMENT ON COLUMN throng.agents_by_outcome.agent IS 'The agent''s id.';
COMMENT ON COLUMN throng.agents_by_outcome.sessions IS 'All its sessions.';
COMMENT ON COLUMN throng.agents_by_outcome.ok IS 'Sessions that went through to the end.';
COMMENT ON COLUMN throng.agents_by_outcome.stopped IS 'Sessions that stopped because the agent decided so.';
COMMENT ON COLUMN throng.agents_by_outcome.failed IS 'Sessions that failed.';
COMMENT ON COLUMN throng.agents_by_outcome.timeout IS 'Sessions that timed out.';
COMMENT ON COLUMN throng.agents_by_outcome.cancelled IS 'Sessions that a person retired.';
COMMENT ON COLUMN throng.agents_by_outcome.acted IS 'Sessions that did what the scenario counts as acting.';
COMMENT ON COLUMN throng.agents_by_outcome.outcome IS 'In one word: failed if any session failed or timed out, else cancelled if any was, else acted if any did, else stopped.';

-- Every column says what it is.
COMMENT ON COLUMN throng.migrations.version IS 'Number of the migration, from 1.';
COMMENT ON COLUMN throng.migrations.name IS 'What it is about.';
COMMENT ON COLUMN throng.migrations.applied IS 'When it was.';
COMMENT ON COLUMN throng.runs.id IS 'Name of the run; it begins with the time of its creation and sorts by it.';
COMMENT ON COLUMN throng.runs.title IS 'Of the scenario.';
COMMENT ON COLUMN throng.runs.created IS 'When it was launched first.';
COMMENT ON COLUMN throng.sessions.run IS 'As in runs.id.';
COMMENT ON COLUMN throng.sessions.cycle IS 'From 0.';
COMMENT ON COLUMN throng.sessions.steps IS 'How many steps it has a record of, each round of a loop counted.';
COMMENT ON COLUMN throng.sessions.started IS 'When it began; NULL where it never did.';
COMMENT ON COLUMN throng.sessions.retries IS 'Attempts behind the first ones.';
COMMENT ON COLUMN throng.sessions.rate_limited IS 'Answers with status 429.';
COMMENT ON COLUMN throng.sessions.input_tokens IS 'That models read.';
COMMENT ON COLUMN throng.sessions.output_tokens IS 'That models wrote.';
COMMENT ON COLUMN throng.events.run IS 'As in runs.id.';
COMMENT ON COLUMN throng.events.cycle IS 'From 0.';
COMMENT ON COLUMN throng.events.agent_index IS 'As in sessions.';
COMMENT ON COLUMN throng.events.agent IS 'The agents id.';
COMMENT ON COLUMN throng.events.session IS 'UUID of the session, as in sessions.';
COMMENT ON COLUMN throng.events.step IS 'The step that emitted it, with iterations.';
COMMENT ON COLUMN throng.events.event IS 'Its name.';
COMMENT ON COLUMN throng.metrics.run IS 'As in runs.id.';
COMMENT ON COLUMN throng.metrics.at IS 'When the second ended.';
COMMENT ON COLUMN throng.metrics.cycle IS 'The open cycle.';
COMMENT ON COLUMN throng.metrics.phase IS 'preparing, running, paused, draining or ended.';
COMMENT ON COLUMN throng.metrics.in_flight IS 'Sessions that had begun and not ended.';
COMMENT ON COLUMN throng.metrics.sessions_per_sec IS 'Sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.requests_per_sec IS 'Attempts in this second; a 429 is none.';
COMMENT ON COLUMN throng.metrics.latency_p50_ms IS 'Median of the time from a sessions start to its end, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.latency_p95_ms IS '95th percentile of the time from a sessions start to its end, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.latency_p99_ms IS '99th percentile of the time from a sessions start to its end, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.latency_max_ms IS 'Largest of the time from a sessions start to its end, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.service_p50_ms IS 'Median of what services and steps used, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.service_p95_ms IS '95th percentile of what services and steps used, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.service_p99_ms IS '99th percentile of what services and steps used, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.service_max_ms IS 'Largest of what services and steps used, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.held_p50_ms IS 'Median of the time that Throng held a session back, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.held_p95_ms IS '95th percentile of the time that Throng held a session back, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.held_p99_ms IS '99th percentile of the time that Throng held a session back, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.held_max_ms IS 'Largest of the time that Throng held a session back, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.retries IS 'Attempts behind the first ones, so far.';
COMMENT ON COLUMN throng.metrics.errors_rate_limited IS 'Sessions so far that failed with this class.';
COMMENT ON COLUMN throng.metrics.errors_timeout IS 'Sessions so far that failed with this class.';
COMMENT ON COLUMN throng.metrics.errors_server_error IS 'Sessions so far that failed with this class.';
COMMENT ON COLUMN throng.metrics.errors_client_error IS 'Sessions so far that failed with this class.';
COMMENT ON COLUMN throng.metrics.errors_network IS 'Sessions so far that failed with this class.';
COMMENT ON COLUMN throng.metrics.errors_bad_answer IS 'Sessions so far that failed with this class.';
COMMENT ON COLUMN throng.metrics.errors_script IS 'Sessions so far that failed with this class.';
COMMENT ON COLUMN throng.metrics.errors_loop_limit IS 'Sessions so far that failed with this class.';
COMMENT ON COLUMN throng.metrics.errors_panic IS 'Sessions so far that failed with this class.';
COMMENT ON COLUMN throng.metrics.errors_config IS 'Sessions so far that failed with this class.';
COMMENT ON COLUMN throng.metrics.available_memory_mb IS 'What the system can still give.';
COMMENT ON COLUMN throng.metrics.net_in_bytes_per_sec IS 'Over all interfaces of the machine.';
COMMENT ON COLUMN throng.metrics.net_out_bytes_per_sec IS 'Over all interfaces of the machine.';
COMMENT ON COLUMN throng.metrics.disk_free_mb IS 'On the disk of the data folder.';
COMMENT ON COLUMN throng.metrics.db_max_connections IS 'max_connections of the database server.';
COMMENT ON COLUMN throng.metrics.input_tokens IS 'That models read, so far.';
COMMENT ON COLUMN throng.metrics.output_tokens IS 'That models wrote, so far.';
COMMENT ON COLUMN throng.metrics.cost_usd IS 'What the calls of models cost so far; NULL where a price is not known.';
COMMENT ON COLUMN throng.metrics.step_timeouts IS 'Steps so far that timed out.';
COMMENT ON COLUMN throng.metrics.queue_wait_p95_ms IS '95th percentile of the wait from the moment a session could have started to its start, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.queue_wait_p99_ms IS '99th percentile of the wait from the moment a session could have started to its start, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.metrics.queue_wait_max_ms IS 'Largest of the wait from the moment a session could have started to its start, of the sessions that ended in this second.';
COMMENT ON COLUMN throng.checkpoints.run IS 'As in runs.id.';
COMMENT ON COLUMN throng.checkpoints.at IS 'When it was taken.';
COMMENT ON COLUMN throng.checkpoints.total IS 'Sessions that were planned; 0 when not known.';
COMMENT ON COLUMN throng.checkpoints.reason IS 'Why it was taken.';
