package bus

import (
	"log/slog"
	"time"
)

// Config says how the coordinator is reached. Its zero value is a server for workers on this machine.
type Config struct {
	// Listen is the address for workers, such as ":7422". Beyond loopback, connections use TLS. The default is a free port of
	// 127.0.0.1.
	Listen string
	// TLS uses TLS on loopback too.
	TLS bool
	// Advertise is the host, or host:port, in the join line, if it differs from what Listen says.
	Advertise string
	// Folder keeps the fleet's keys and token, so that workers reconnect to a coordinator that was restarted. "" keeps them in
	// memory.
	Folder string
	// URL is that of an existing NATS cluster, nats://… or tls://…, which is then used in place of an own server. It may contain a
	// user and a password, or a token, which are not part of the join line.
	URL string
	// Access are the credentials for the cluster.
	Access Access
	// Fleet is the fleet's name in a cluster. The default is a random one.
	Fleet string
	// Timeout is how long one message to a worker or to the cluster may take (default 5 s).
	Timeout time.Duration
	// Reconnect is how long a lost connection to a cluster is restored (default 10 minutes).
	Reconnect time.Duration
	// CertificateLife is how long a worker's certificate is valid (default 24 hours). Workers renew theirs at half of it.
	CertificateLife time.Duration
	// MaxPartial limits the memory of requests and answers that are transferred in parts (default 2 GiB). One of them may have half
	// of it.
	MaxPartial int64
	// Log receives warnings. The default drops them.
	Log *slog.Logger
}

// Access are credentials for a cluster. The zero value has none.
type Access struct {
	Credentials string // a file with a user's JWT and key
	User        string
	Password    string
	Token       string
	Authorities string // a PEM file with the CAs of the cluster's certificates, if the system does not know them
}

// WorkerConfig says how a worker joins. Its zero value works.
type WorkerConfig struct {
	// Name is the wanted name. The coordinator may append a number. The default is the name of the machine.
	Name string
	// Access are the credentials, if the coordinator uses a cluster.
	Access Access
	// Timeout is how long a request may wait for its answer (default 5 s).
	Timeout time.Duration
	// Reconnect is how long a lost connection is restored (default 10 minutes).
	Reconnect time.Duration
	// Log receives warnings. The default drops them.
	Log *slog.Logger
}

// Defaults of the configurations.
const (
	defaultTimeout    = 5 * time.Second
	defaultReconnect  = 10 * time.Minute
	defaultLife       = 24 * time.Hour
	defaultMaxPartial = 2 << 30
)

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.Reconnect <= 0 {
		c.Reconnect = defaultReconnect
	}
	if c.CertificateLife <= 0 {
		c.CertificateLife = defaultLife
	}
	if c.MaxPartial <= 0 {
		c.MaxPartial = defaultMaxPartial
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c WorkerConfig) withDefaults() WorkerConfig {
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.Reconnect <= 0 {
		c.Reconnect = defaultReconnect
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
