package mock

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// These variables make the test program a shop that is killed at a mutation.
const envLog, envKillAt = "MOCK_TEST_LOG", "MOCK_TEST_KILL_AT"

// mortalShop runs in its own process, prints its address, and kills itself after the n-th mutation is written and before it is answered.
func mortalShop() error {
	killAt, err := strconv.ParseInt(os.Getenv(envKillAt), 10, 64)
	if err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	s, err := Start(Config{Seed: 17, Secret: "secret", Log: os.Getenv(envLog), OnMutation: func(n int64) {
		if n == killAt {
			_ = self.Kill()
			select {}
		}
	}})
	if err != nil {
		return err
	}
	fmt.Println(strings.TrimPrefix(s.URL(), "http://"))
	select {}
}

// TestKilledShopComesBack kills the shop at each mutation of a journey, restarts it from its log, and repeats the
// unanswered requests with their keys. It checks that no change is lost or duplicated.
func TestKilledShopComesBack(t *testing.T) {
	steady := indoors(t, Config{Seed: 17})
	journey := []ask{
		{method: "POST", path: "/api/shopping/session", session: someID(1)},
		{method: "POST", path: "/api/cart/items", body: steady.productJSON(3, 2)},
		{method: "POST", path: "/api/cart/coupons", body: steady.couponJSON(steady.firstCoupon("ann"))},
		{method: "POST", path: "/api/orders"},
		{method: "POST", path: "/api/cart/items", body: steady.productJSON(5, 1)},
	}
	for i := range journey {
		a := &journey[i]
		a.user, a.key, a.tag = "ann", fmt.Sprint("key", i), stamp(1, fmt.Sprint("step", i), 1)
		steady.ask(*a)
	}
	for killAt := 1; killAt <= len(journey); killAt++ {
		log := filepath.Join(t.TempDir(), "shop.log")
		shop := exec.CommandContext(t.Context(), os.Args[0])
		shop.Env = append(os.Environ(), envLog+"="+log, envKillAt+"="+strconv.Itoa(killAt))
		shop.Stderr = os.Stderr
		out, err := shop.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := shop.Start(); err != nil {
			t.Fatal(err)
		}
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		unanswered := 0
		for ; unanswered < len(journey); unanswered++ {
			response, err := client.Do(journey[unanswered].request(t.Context(), steady, "http://"+strings.TrimSpace(address)))
			if err != nil {
				break
			}
			if err := response.Body.Close(); err != nil || response.StatusCode > 299 {
				t.Fatalf("%+v: %s %v", journey[unanswered], response.Status, err)
			}
		}
		if err := shop.Wait(); err == nil || unanswered != killAt-1 {
			t.Fatalf("killed at %d: %d requests were answered, the shop ended with %v", killAt, unanswered, err)
		}
		again := indoors(t, Config{Seed: 17, Log: log})
		for i, a := range journey[unanswered:] {
			g := again.ask(a)
			if replayed := g.header.Get("Idempotency-Replayed") == "true"; g.status > 299 || replayed != (i == 0) {
				t.Errorf("killed at %d: %s %s: %d, replayed %v", killAt, a.method, a.path, g.status, replayed)
			}
		}
		if got, want := again.state(), steady.state(); got != want {
			t.Errorf("killed at %d: state\n%s\nwant\n%s", killAt, got, want)
		}
		if err := again.log.close(); err != nil {
			t.Fatal(err)
		}
	}
}
