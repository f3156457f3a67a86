package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/throng-sim/throng/engine"
)

// arrivedQueries read the rows of a run, one text per row, without its ID, times, labels and everything else that depends on
// timing.
var arrivedQueries = []string{
	`SELECT concat_ws(',', 'run', title, scenario_hash, seed, cycle, cycles, done, total, coalesce(ending, 'not ended'), coalesce(inexact::text, 'exact'))
		FROM throng.runs WHERE id = $1`,
	`SELECT concat_ws(',', 'session', cycle, agent_index, take, agent, session, outcome, coalesce(class, ''), coalesce(step, ''), coalesce(because, ''), steps, events, acted)
		FROM throng.sessions WHERE run = $1 ORDER BY cycle, agent_index, take`,
	`SELECT concat_ws(',', 'event', cycle, agent_index, take, sequence, agent, session, step, event, coalesce(data::text, ''))
		FROM throng.events WHERE run = $1 ORDER BY cycle, agent_index, take, sequence`,
}

// Arrived returns the rows of a run's result as texts, which are equal for two runs with the same result.
func Arrived(ctx context.Context, c Config, run engine.RunID) (all []string, err error) {
	err = c.alone(ctx, func(conn *pgx.Conn) error {
		for _, query := range arrivedQueries {
			rows, err := conn.Query(ctx, query, string(run))
			if err != nil {
				return err
			}
			texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				return err
			}
			all = append(all, texts...)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", run, err)
	}
	return all, nil
}

// alone runs f on a new connection. Errors are explained for users.
func (c Config) alone(ctx context.Context, f func(conn *pgx.Conn) error) error {
	config, err := c.parse()
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err == nil {
		err = errors.Join(f(conn), conn.Close(context.WithoutCancel(ctx)))
	}
	return explain(err, config.ConnConfig)
}
