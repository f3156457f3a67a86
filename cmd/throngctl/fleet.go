package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/cmd/throngctl/internal/machines"
)

// openFleet starts the fleet that the flags name for a launch, and waits for its first workers. The caller calls end after the run.
func (t *terminal) openFleet(ctx context.Context, flags *machines.Flags, l *app.Launch) (end func() error, err error) {
	end = func() error { return nil }
	if used, err := flags.Used(); err != nil || !used {
		return end, err
	}
	local, err := crew.Local(flags.Fleet)
	if err := errors.Join(err, crew.CheckLaunch(l, max(local, flags.Workers)), crew.CheckShared(*l, flags.ShareSecrets)); err != nil {
		return end, err
	}
	program, err := os.Executable()
	if err != nil {
		return end, err
	}
	team, count, err := flags.Open(ctx, crew.Config{
		Secrets: l.Secrets, Data: t.data, Program: program, Env: t.hooks.env, WorkerEnv: t.hooks.workerEnv, Log: t.log, Say: func(text string) { t.hear(errors.New(text)) },
	})
	if err != nil {
		return end, err
	}
	l.Crew = team
	if flags.Fleet == "" || team.Locals() == 0 {
		crew.Warn(l, func(text string) { fmt.Fprintln(t.err, "note:", text) })
		fmt.Fprintf(t.err, "to join from another machine: THRONG_JOIN=%s throngctl worker\n", team.JoinLine())
		waiting := "the first worker"
		if count > 1 {
			waiting = fmt.Sprint(count, " workers")
		}
		fmt.Fprintf(t.err, "waiting for %s (Ctrl+C cancels)\n", waiting)
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	ready := make(chan error, 1)
	go func() { ready <- team.Await(ctx, count) }()
	for {
		select {
		case err := <-ready:
			t.sayTrouble()
			if err != nil {
				return end, errors.Join(err, team.Close())
			}
			return team.Close, nil
		case note := <-t.trouble:
			fmt.Fprintf(t.err, "note: %v\n", note)
		case <-t.signals:
			giveUp(exitError(exitInterrupted))
		}
	}
}
