// Package machines has the commands and flags for runs on more than one machine.
package machines

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/fleet/bus"
)

// Flags say which processes execute the sessions of a run.
type Flags struct {
	Fleet        string   `placeholder:"WHERE" help:"Spread the run over workers: local:N starts N processes on this machine; an address, such as :7422, lets workers of other machines join."`
	Workers      int      `placeholder:"N" help:"Workers to wait for before the first session (default: 1, or all of local:N)."`
	Advertise    string   `placeholder:"HOST" help:"Name or address of this machine for the join line, if workers reach it under another one, with a port if that differs."`
	NATS         string   `name:"nats" placeholder:"URL" help:"Spread the run over workers that join through this NATS cluster, such as tls://nats.example.com:4222. Other users of this machine can see a password in it, but not in --nats-creds."`
	NATSCreds    string   `name:"nats-creds" placeholder:"FILE" help:"File with the credentials for the NATS cluster."`
	ShareSecrets []string `placeholder:"NAME" sep:"," help:"Secrets to send to the workers, which keep them in memory."`
}

// Used reports whether a fleet executes the run. The error is a mistake in the flags.
func (f *Flags) Used() (bool, error) {
	switch {
	case f.Fleet != "" && f.NATS != "":
		return false, &engine.FieldError{Field: "nats", Problem: "the workers join through a cluster, or through this machine", Hint: "leave out --fleet or --nats"}
	case f.Fleet == "" && f.NATS == "" && (f.Workers != 0 || f.NATSCreds != "" || f.Advertise != "" || len(f.ShareSecrets) > 0):
		return false, &engine.FieldError{Field: "fleet", Problem: "there are flags for workers, but no fleet", Hint: "such as --fleet local:4 or --fleet :7422"}
	case f.NATS != "" && len(f.ShareSecrets) > 0:
		return false, &engine.FieldError{
			Field: "share-secrets", Problem: "a NATS cluster would hold the secrets", Hint: "put them into the environment of each worker, or use --fleet in place of --nats",
		}
	case f.Advertise != "" && (f.NATS != "" || strings.HasPrefix(f.Fleet, "local:")):
		return false, &engine.FieldError{Field: "advertise", Problem: "there is no join line with an address of this machine", Hint: "leave it out"}
	case f.Workers < 0:
		return false, &engine.FieldError{Field: "workers", Problem: "a negative number of workers", Hint: "1 or more"}
	case f.NATS == "" && f.NATSCreds != "":
		return false, &engine.FieldError{Field: "nats-creds", Problem: "there are credentials, but no cluster", Hint: "add --nats"}
	}
	_, err := crew.Local(f.Fleet)
	return f.Fleet != "" || f.NATS != "", err
}

// Again returns the flags with which another command resumes the run in the same way, such as " --fleet :7422"; "" without a fleet. A
// password in the address of a cluster is left out.
func (f *Flags) Again() (text string) {
	add := func(flag, value string) {
		if value != "" {
			text += " --" + flag + " " + value
		}
	}
	add("fleet", f.Fleet)
	add("advertise", f.Advertise)
	if f.NATS != "" {
		add("nats", bus.WithoutSecrets(f.NATS))
	}
	add("nats-creds", f.NATSCreds)
	add("share-secrets", strings.Join(f.ShareSecrets, ","))
	return text
}

// Open starts the fleet. count is how many workers to wait for.
func (f *Flags) Open(ctx context.Context, cfg crew.Config) (team *crew.Fleet, count int, err error) {
	cfg.Where, cfg.Advertise, cfg.Cluster, cfg.Credentials, cfg.Share = f.Fleet, f.Advertise, f.NATS, f.NATSCreds, f.ShareSecrets
	local, err := crew.Local(f.Fleet)
	if err != nil {
		return nil, 0, err
	}
	if local > 0 && f.Workers > local {
		return nil, 0, &engine.FieldError{Field: "workers", Problem: fmt.Sprintf("%s starts only %d", f.Fleet, local), Hint: "leave out --workers"}
	}
	cfg.Workers = cmp.Or(f.Workers, local, 1)
	team, err = crew.Open(ctx, cfg)
	return team, cfg.Workers, err
}
