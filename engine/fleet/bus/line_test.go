package bus

import (
	"slices"
	"strings"
	"testing"
)

func TestJoinLines(t *testing.T) {
	for _, text := range []string{
		"throng://127.0.0.1:7422/token", "throng://localhost:7422/token", "throng://::1:7422/token", "throng://host:7422/token/print",
		"throng://2001:db8::1:7422/token/print", "nats://host:4222/fleet", "tls://a:4222,tls://b:4222/fleet",
	} {
		l, err := parseLine(" " + text + "\n")
		if err != nil || l.String() != text {
			t.Errorf("%s is %s, %v", text, l, err)
		}
	}
	if l, err := parseLine("throng://[2001:db8::1]:7422/token/print"); err != nil || l.address != "[2001:db8::1]:7422" {
		t.Errorf("%v, %v", l, err)
	}
	for text, want := range map[string]string{
		"":                            "not a join line",
		"http://host/x":               "not a join line",
		"nats://host:4222":            "not a join line",
		"throng://host":               "incomplete",
		"throng://host:7422":          "incomplete",
		"throng://:7422/token/print":  "incomplete",
		"throng://host:/token/print":  "incomplete",
		"throng://host:1/token/a/b":   "incomplete",
		"throng://host:7422/token":    "no fingerprint",
		"throng://0.0.0.0:7422/token": "no fingerprint",
	} {
		if _, err := parseLine(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestAddressesOfTheCoordinator(t *testing.T) {
	for _, test := range []struct{ listen, advertise, want string }{
		{"127.0.0.1:1", "", "127.0.0.1:1"},
		{"10.0.0.1:1", "host", "host:1"},
		{":1", "host:2", "host:2"},
		{":1", "[::1]", "[::1]:1"},
	} {
		got, hosts, err := reachable(test.listen, test.advertise)
		if err != nil || got != test.want || !slices.Contains(hosts, strings.Trim(got[:strings.LastIndex(got, ":")], "[]")) && test.advertise != "[::1]" {
			t.Errorf("%v: %s, %v, %v", test, got, hosts, err)
		}
	}
	all, _, err := reachable("0.0.0.0:7", "")
	if err != nil || strings.HasPrefix(all, "0.0.0.0") {
		t.Errorf("%s, %v", all, err)
	}
}

func FuzzMessages(f *testing.F) {
	key := []byte("key")
	f.Add(appendTicket(key, ticket(1)))
	f.Add(appendOrder("a", order{1, []byte("x")}))
	f.Add(appendAcks(nil, []ack{{ackDone, "$JS.ACK.s.c.1.2.3.4.5", []byte("t")}}))
	f.Add(appendPart(kindPart, part{1, 2, 5, []byte("abc")}))
	f.Add([]byte("$JS.ACK.d.h.s.c.1.2.3.4.5"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := proven(key, b); err == nil && string(appendTicket(key, k)) != string(b) {
			t.Errorf("ticket %v", k)
		}
		if o, err := readOrder("a", b); err == nil && string(appendOrder("a", o)) != string(b) {
			t.Errorf("order %v", o)
		}
		if p, err := readPart(b); err == nil && string(appendPart(b[0], p)) != string(b) {
			t.Errorf("part %v", p)
		}
		if len(b) > 0 {
			if all, err := readAcks(b[1:]); err == nil && string(appendAcks(nil, all)[1:]) != string(b[1:]) {
				t.Errorf("acks %v", all)
			}
		}
		_, _ = readDelivery(string(b))
		_, _ = parseLine(string(b))
	})
}

func TestDeliveries(t *testing.T) {
	want := delivery{"s", "c", 3, 40}
	for _, reply := range []string{"$JS.ACK.s.c.3.40.5.6.7", "$JS.ACK.domain.account.s.c.3.40.5.6.7", "$JS.ACK.domain.account.s.c.3.40.5.6.7.random"} {
		if got, err := readDelivery(reply); err != nil || got != want {
			t.Errorf("%s is %v, %v", reply, got, err)
		}
	}
	for _, reply := range []string{"", "$JS.ACK.s.c.3.40.5.6", "$JS.ACK.s.c.x.40.5.6.7", "$JS.ACK.s.c.3.x.5.6.7", "x.ACK.s.c.3.40.5.6.7"} {
		if got, err := readDelivery(reply); err == nil {
			t.Errorf("%s is %v", reply, got)
		}
	}
}

// TestClustersBeyondThisMachine checks which clusters need TLS.
func TestClustersBeyondThisMachine(t *testing.T) {
	for urls, want := range map[string]bool{
		"nats://127.0.0.1:4222": true, "nats://u:p@localhost:4222,nats://[::1]:4222": true, "nats://localhost": true,
		"nats://10.0.0.1:4222": false, "nats://127.0.0.1:4222,nats://nats.example.com:4222": false, "tls://nats.example.com": false,
	} {
		if got := onlyHere(urls); got != want {
			t.Errorf("%s is only on this machine: %v", urls, got)
		}
		if got := len((Access{}).options(urls)) == 0; got != want {
			t.Errorf("%s without TLS: %v", urls, got)
		}
	}
}
