package bus

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// own is the fleet's name on an embedded server, which has only one fleet.
const own = "fleet"

// names are the subjects, streams and buckets of a fleet. All have the fleet's name in them: fleets may share a cluster.
type names struct{ fleet string }

func (n names) tickets() string { return n.fleet + "-tickets" }

func (n names) ordersBucket() string { return n.fleet + "-orders" }

func (n names) bundlesBucket() string { return n.fleet + "-bundles" }

// offers is the subject of the tickets for a worker, or for all if to is "".
func (n names) offers(to string) string {
	if to == "" {
		return n.fleet + ".shards.any"
	}
	return n.fleet + ".shards.w." + to
}

// consumer is the name of the consumer of the same tickets.
func (n names) consumer(to string) string {
	if to == "" {
		return "any"
	}
	return "w-" + to
}

func (n names) enroll() string { return n.fleet + ".enroll" }

// enrolling begins the subjects on which a process that enrolls receives its answer.
func (n names) enrolling(id string) string { return n.fleet + ".enrolling." + id }

func (n names) request(worker string) string { return n.fleet + ".request." + worker }

func (n names) inbox(worker string) string { return n.fleet + ".inbox." + worker }

// confirmations begins the subjects on which the coordinator receives the server's answers to what it publishes.
func (n names) confirmations() string { return n.fleet + ".confirmations" }

func (n names) order(worker string) string { return "$KV." + n.ordersBucket() + "." + worker }

func (n names) pull(to string) string {
	return "$JS.API.CONSUMER.MSG.NEXT." + n.tickets() + "." + n.consumer(to)
}

func (n names) withdrawal() string { return "$JS.API.STREAM.MSG.DELETE." + n.tickets() }

func (n names) readOrder(worker string) string {
	return "$JS.API.DIRECT.GET.KV_" + n.ordersBucket() + "." + n.order(worker)
}

func (n names) readBundles() string { return "$JS.API.DIRECT.GET.OBJ_" + n.bundlesBucket() }

func (n names) bundleInfo(name string) string {
	return n.readBundles() + "." + n.bundleMeta(name)
}

func (n names) bundleMeta(name string) string {
	return "$O." + n.bundlesBucket() + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
}

func (n names) bundleParts(id string) string { return "$O." + n.bundlesBucket() + ".C." + id }

// ofWorker are the rights of a worker's connection.
func (n names) ofWorker(name string) *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{
			n.request(name), n.pull(name), n.pull(""), n.readOrder(name), n.readBundles(), n.readBundles() + ".>",
		}},
		Subscribe: &server.SubjectPermission{Allow: []string{n.inbox(name) + ".>", n.order(name)}},
	}
}

// ofToken are the rights of a connection that has only a token.
func (n names) ofToken(id string) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{n.enroll()}},
		Subscribe: &server.SubjectPermission{Allow: []string{n.enrolling(id) + ".>"}},
	}
}

// workerName makes a name that is usable in subjects, keys and certificates. Host names have dots, for example.
func workerName(wanted string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, wanted)
	name = strings.Trim(name[:min(len(name), 48)], "-")
	if name == "" {
		return "worker"
	}
	return name
}

// numbered returns the n-th name of workers that want the same one.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	const most = 40 // so that the number fits into a name
	return fmt.Sprintf("%s-%d", name[:min(len(name), most)], n)
}
