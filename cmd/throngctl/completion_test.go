package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/throngctl/internal/completion"
	"github.com/throng-sim/throng/cmd/throngctl/internal/manual"
)

// TestCompletion checks the completions of incomplete command lines.
func TestCompletion(t *testing.T) {
	data := t.TempDir()
	if code, out, stderr := ctl(t, "run", "shopping", "--data", data, "--set", "agents=3", "--mock-latency", "none"); code != exitDone {
		t.Fatal(out, stderr)
	}
	_, out, _ := ctl(t, "runs", "--data", data)
	run := strings.Fields(strings.Split(out, "\n")[1])[0]
	for line, want := range map[string][]string{
		"run|s":                        {"shopping", "study"},
		"run|":                         {"analysis", "conversation", "shopping", "study", "world"},
		"runs|--js":                    {"--json"},
		"run|shopping|--governor|ad":   {"adaptive"},
		"run|shopping|--governor=late": {"--governor=latency"},
		"run|--governor|=|man":         {"manual"},
		"run|--metrics|o":              {"on", "off"},
		"run|--metrics|off|w":          {"world"},
		"run|--metrics|w":              nil, // parsed as the flag's value
		"run|--sequential|on|sh":       {"shopping"},
		"run|--resume|":                {"newest", run, "Marketplace shoppers"},
		"status|--data|" + data + "|2": {run},
		"resume|--da":                  {"--data", "--database-url", "--database-host", "--database-port", "--database-name", "--database-user", "--database-sslmode", "--database-ca", "--database-connections", "--database-share", "--database-acquire", "--database-life", "--database-idle", "--database-timeout"},
		"delete|--unsent|":             {"send", "drop"},
		"settings|retries":             {"retries="},
		"settings|database-po":         {"database-port="},
		"settings|otl":                 {"otlp="},
		"settings|log":                 {"log-level="},
		"set|max-c":                    {"max-concurrent="},
		"guide|dash":                   {"dashboard"},
		"schema|scenario":              {"scenario", "scenarios"},
		"secret|":                      {"set", "forget", "check"},
		"completion|z":                 {"zsh"},
		"completion|p":                 {"powershell"},
		"agents|--state|f":             {"failed"},
		"run|--payload|":               nil,
		"no-such-command|":             nil,
		"check":                        {"checkpoints", "checkpoint", "check"},
		"__com":                        nil,
		"run|--mock-latency|re":        {"remote"},
		"run|shopping|--no-such|":      nil,
		"export|--what|ti":             {"timings"},
		"run|shopping|--breaker|":      {"probe", "wait", "off"},
		"timeline|" + run[:12]:         {run},
		"learn|Mark":                   {"Marketplace shoppers"},
	} {
		var got []string
		for _, one := range (completion.Completer{Root: model().Node, Data: data}).Complete(t.Context(), strings.Split(line, "|")) {
			got = append(got, one.Value)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) && (len(got) > 0 || len(want) > 0) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestCompletionInBash checks that bash completes with the generated script, and that zsh and fish can parse theirs.
func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed, as on Windows; Debian, Fedora, Arch and macOS have it")
	}
	dir := t.TempDir()
	if err := os.Symlink(self(t), filepath.Join(dir, "throngctl")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", `source <(throngctl completion bash)
complete -p throngctl
COMP_WORDS=(throngctl export "Marketplace\\ sh"); COMP_CWORD=2; _throngctl; echo "names: ${COMPREPLY[*]}"
COMP_WORDS=(throngctl export "\"Market"); COMP_CWORD=2; _throngctl; echo "quoted: ${COMPREPLY[*]}"
COMP_WORDS=(throngctl guide dash); COMP_CWORD=2; _throngctl; echo "guide: ${COMPREPLY[*]}"
COMP_WORDS=(throngctl run shopping --governor=ad); COMP_CWORD=3; _throngctl; echo "governor: ${COMPREPLY[*]}"`)
	data := t.TempDir()
	newRun(t, data)
	cmd.Env = append(os.Environ(), asToolEnv+"=1", "THRONG_DATA="+data, "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if want := "complete -o default -F _throngctl throngctl\nnames: Marketplace\\ shoppers\nquoted: Marketplace shoppers\nguide: dashboard\ngovernor: adaptive\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
	for _, shell := range []string{"zsh", "fish"} {
		_, script, _ := ctl(t, "completion", shell)
		path, err := exec.LookPath(shell)
		if err != nil || script == "" {
			t.Logf("%s is not available to parse its script: %v", shell, err)
			continue
		}
		if out, err := exec.CommandContext(t.Context(), path, "-n", write(t, filepath.Join(dir, "script"), script)).CombinedOutput(); err != nil {
			t.Errorf("%s cannot parse its script: %v\n%s", shell, err, out)
		}
	}
	if code, _, _ := ctl(t, "completion", "tcsh"); code != exitUsage {
		t.Errorf("an unknown shell: exit code %d", code)
	}
}

// TestCompletionInPowerShell checks that the script completes both names of the program, and that its queries are answered,
// even if the last word is empty: PowerShell does not pass empty arguments to programs.
func TestCompletionInPowerShell(t *testing.T) {
	code, script, stderr := ctl(t, "completion", "powershell")
	if code != exitDone || script != read(t, "completion", "powershell.ps1") {
		t.Fatalf("exit code %d: %s\n%s", code, stderr, script)
	}
	asked := regexp.MustCompile(`\$words = @\('(\w+)', "(--\w+=)\$last", '--'\)`).FindStringSubmatch(script)
	if asked == nil || !strings.Contains(script, "-CommandName 'throngctl', 'throngctl.exe'") || !strings.Contains(script, "& $program $words 2>$null") {
		t.Fatalf("the script has another query:\n%s", script)
	}
	for line, want := range map[string]string{
		"run|":                         "analysis\tbuilt in",
		"run|shop":                     "shopping\tbuilt in",
		"run|shopping|--governor|":     "manual\t",
		"run|shopping|--governor=late": "--governor=latency\t",
		"guide|dash":                   "dashboard\t",
		"resum":                        "resume\t",
	} {
		words := strings.Split(line, "|")
		before, last := words[:len(words)-1], words[len(words)-1]
		code, out, stderr := ctl(t, append([]string{asked[1], asked[2] + last, "--"}, before...)...)
		if code != exitDone || !strings.HasPrefix(out, want) {
			t.Errorf("%s: exit code %d, %q, want %q\n%s", line, code, out, want, stderr)
		}
	}
	unquoted := regexp.MustCompile(`(?s)'[^']*'|"[^"]*"|#[^\n]*`).ReplaceAllString(script, "")
	if strings.ContainsAny(unquoted, `'"`) {
		t.Errorf("unbalanced quote:\n%s", unquoted)
	}
	for _, pair := range []string{"{}", "()", "[]"} {
		if strings.Count(unquoted, pair[:1]) != strings.Count(unquoted, pair[1:]) {
			t.Errorf("%s do not match:\n%s", pair, unquoted)
		}
	}
	special := regexp.MustCompile(regexp.MustCompile(`-match '([^']+)'`).FindStringSubmatch(script)[1])
	for value, want := range map[string]bool{"--governor=latency": false, "20261122-0715-ab": false, "a b": true, "it's": true, "a,b": true, "$a": true} {
		if special.MatchString(value) != want {
			t.Errorf("%s is quoted: %v, want %v", value, !want, want)
		}
	}
	t.Run("read", func(t *testing.T) {
		pwsh, err := exec.LookPath("pwsh")
		if err != nil {
			t.Skip("PowerShell is not installed")
		}
		path := write(t, filepath.Join(t.TempDir(), "script.ps1"), script)
		reads := "$ErrorActionPreference = 'Stop'; [void][scriptblock]::Create((Get-Content -Raw '" + path + "'))"
		if out, err := exec.CommandContext(t.Context(), pwsh, "-NoProfile", "-Command", reads).CombinedOutput(); err != nil {
			t.Errorf("PowerShell cannot parse its script: %v\n%s", err, out)
		}
	})
}

// TestManual checks that the manual page has all commands, flags, variables and exit codes, and that mandoc accepts it.
func TestManual(t *testing.T) {
	code, page, stderr := ctl(t, "man")
	if code != exitDone || stderr != "" {
		t.Fatal(code, stderr)
	}
	for _, leaf := range model().Leaves(true) {
		if !strings.Contains(page, `\fB`+manual.Escape(strings.TrimPrefix(leaf.Parent.Name+" ", "throngctl ")+leaf.Name)+`\fR`) {
			t.Errorf("there is no command %s", leaf.Name)
		}
		for _, f := range leaf.Flags {
			if !strings.Contains(page, `\fB\-\-`+manual.Escape(f.Name)+`\fR`) {
				t.Errorf("there is no flag --%s", f.Name)
			}
		}
	}
	for _, s := range config.RunSettings() {
		for _, name := range slices.Concat(s.Env, s.EnvNot) {
			if !strings.Contains(page, name) {
				t.Errorf("there is no variable %s", name)
			}
		}
	}
	for _, want := range []string{"EXIT STATUS", `\fB130\fR`, "THRONG_DATA", "THRONG_DATABASE_URL", "settings.json", "NO_COLOR"} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %s", want)
		}
	}
	t.Run("lint", func(t *testing.T) {
		mandoc, err := exec.LookPath("mandoc")
		if err != nil {
			t.Skip("there is no mandoc to look at it")
		}
		out, _ := exec.CommandContext(t.Context(), mandoc, "-T", "lint", write(t, filepath.Join(t.TempDir(), "throngctl.1"), page)).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "missing date") { // test binaries have no commit date
				t.Error(line)
			}
		}
	})
}
