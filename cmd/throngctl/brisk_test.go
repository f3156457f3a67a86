package main

import (
	"slices"
	"strings"
)

// brisk changes the flags of a command so that it is fast, with the sizes of the test.
func brisk(args []string) []string {
	has := func(words ...string) bool {
		return slices.ContainsFunc(args, func(arg string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(arg, w) })
		})
	}
	give := func(flag, value string) {
		if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
			args[i+1] = value
		} else {
			args = append(args, flag, value)
		}
	}
	add := func(flag, value string) {
		if !has(flag) {
			args = append(args, flag, value)
		}
	}
	switch {
	case args[0] == "calibrate" && !has("--presets"):
		give("--duration", "50ms")
		give("--levels", "1,2")
		give("--repeats", "1")
		add("--mock-latency", "none")
		fallthrough
	case args[0] == "run" && has("shopping"):
		if !has("agents=") {
			args = append(args, "--set", "agents=20")
		}
	}
	if has("--checkpoint-interval") { // longer than such a run
		give("--checkpoint-interval", "1ms")
		give("--keep-checkpoints", "1000")
	}
	if args[0] == "run" && has("--at") {
		give("--at", "+10ms")
	}
	if args[0] == "run" && has("mine.yaml") {
		args = append(args, "--set", "agents=1") // the shop takes them all for one visitor
	}
	if slices.Contains([]string{"run", "resume", "fork"}, args[0]) && !has("--replay") {
		add("--mock-latency", "none")
		if has("--hours") {
			give("--hours", "0.0002")
		} else if args[0] == "fork" || has("shopping", "--cycles") {
			give("--cycles", "3")
		}
		if args[0] != "run" && !has("--max-tokens") { // the run's budget was small
			args = append(args, "--max-requests", "0")
		}
	}
	return args
}
