package run_test

import (
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// check tests a property in virtual time. f returns an error text, so that rapid can shrink its input.
func check(t *rapid.T, real *testing.T, f func(t *testing.T) error) {
	t.Helper()
	var err error
	synctest.Test(real, func(t *testing.T) { err = f(t) })
	if err != nil {
		t.Fatal(err)
	}
}
