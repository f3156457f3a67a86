package main

import (
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	for line, want := range map[string]arguments{
		"":                        {data: "usual"},
		"shop.yaml":               {data: "usual", file: "shop.yaml"},
		"--data runs shop.yaml":   {data: "runs", file: "shop.yaml"},
		"shop.yaml --data=my/run": {data: "my/run", file: "shop.yaml"},
		"--help":                  {data: "usual", help: true},
		"--version":               {data: "usual", version: true},
	} {
		if got, err := parse(strings.Fields(line), "usual"); err != nil || got != want {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
	for line, says := range map[string]string{
		"--data": "needs a folder", "--data=": "needs a folder", "--dta x": "unknown flag", "a b": "one scenario",
	} {
		if _, err := parse(strings.Fields(line), ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", line, err)
		}
	}
}
