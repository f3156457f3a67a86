package machines

import "testing"

func TestAgain(t *testing.T) {
	for _, c := range []struct {
		flags Flags
		want  string
	}{
		{Flags{}, ""},
		{Flags{Fleet: "local:2", Workers: 2}, " --fleet local:2"},
		{Flags{Fleet: ":7422", Advertise: "desk.example", ShareSecrets: []string{"A", "B"}}, " --fleet :7422 --advertise desk.example --share-secrets A,B"},
		{Flags{NATS: "tls://ann:pw@nats.example:4222", NATSCreds: "nats.creds"}, " --nats tls://nats.example:4222 --nats-creds nats.creds"},
	} {
		if got := c.flags.Again(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.flags, got, c.want)
		}
	}
}
