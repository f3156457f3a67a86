package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

var workersFolder = filepath.Join("..", "..", "..", "examples", "workers")

const joinVariable = "THRONG_JOIN"

// load decodes YAML strictly: the types of this test have all keys that the files may use.
func load(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Load([]byte(text), into, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
}

// namedImage returns the image that files name: that of the version in FyneApp.toml.
func namedImage(t *testing.T) string {
	t.Helper()
	return imageName + ":" + standIn(t, "linux").value(t, "Version")
}

// checkWorker checks the arguments of a command that starts a worker.
func checkWorker(t *testing.T, args []string) {
	t.Helper()
	if len(args) == 0 || args[0] != "worker" {
		t.Errorf("got the arguments %q, want worker first", args)
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "--join") {
			t.Errorf("%s: the join line has a token, which all users of a machine see in its list of processes", arg)
		}
	}
}

func TestCompose(t *testing.T) {
	var file struct {
		Name     string
		Services map[string]struct {
			Image           string
			Command         []string
			EnvFile         []string `yaml:"env_file"`
			Restart         string
			StopGracePeriod string   `yaml:"stop_grace_period"`
			ReadOnly        bool     `yaml:"read_only"`
			CapDrop         []string `yaml:"cap_drop"`
			SecurityOpt     []string `yaml:"security_opt"`
			Tmpfs           []string
			Deploy          struct {
				Replicas  int
				Resources struct{ Limits, Reservations struct{ CPUs, Memory string } }
			}
		}
	}
	load(t, read(t, filepath.Join(workersFolder, "compose.yaml")), &file)
	w, ok := file.Services["worker"]
	if !ok || len(file.Services) != 1 {
		t.Fatalf("got the services %v, want worker", file.Services)
	}
	checkWorker(t, w.Command)
	if want := namedImage(t); w.Image != want {
		t.Errorf("got the image %s, want %s", w.Image, want)
	}
	data := fmt.Sprintf("/%s:uid=%d,gid=%[2]d,mode=0700", imageData, imageUser)
	if !w.ReadOnly || !slices.Contains(w.Tmpfs, data) || !slices.Contains(w.Tmpfs, "/tmp") {
		t.Errorf("read only: %t, tmpfs %q, want %s and /tmp", w.ReadOnly, w.Tmpfs, data)
	}
	if w.Deploy.Replicas < 2 || w.Deploy.Resources.Limits.CPUs == "" || w.Deploy.Resources.Limits.Memory == "" {
		t.Errorf("got %+v", w.Deploy)
	}
	if w.Restart != "always" || w.StopGracePeriod != "2m" || !slices.Equal(w.CapDrop, []string{"ALL"}) || !slices.Equal(w.SecurityOpt, []string{"no-new-privileges:true"}) {
		t.Errorf("got %+v", w)
	}
	for _, name := range w.EnvFile {
		checkEnvironment(t, read(t, filepath.Join(workersFolder, name)))
	}
	if len(w.EnvFile) != 1 {
		t.Errorf("got the environment files %q", w.EnvFile)
	}
}

// checkEnvironment checks that a file of variables has the join line.
func checkEnvironment(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains("\n"+text, "\n"+joinVariable+"=throng://") {
		t.Errorf("there is no %s in:\n%s", joinVariable, text)
	}
}

// object has the keys that the files for Kubernetes use, of a Secret (v1) and a Deployment (apps/v1).
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Type       string
	StringData map[string]string `yaml:"stringData"`
	Metadata   metadata
	Spec       struct {
		Replicas int
		Selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Strategy struct {
			RollingUpdate map[string]int `yaml:"rollingUpdate"`
		}
		Template struct {
			Metadata metadata
			Spec     pod
		}
	}
}

type metadata struct {
	Name   string
	Labels map[string]string
}

type pod struct {
	AutomountServiceAccountToken  bool `yaml:"automountServiceAccountToken"`
	EnableServiceLinks            bool `yaml:"enableServiceLinks"`
	TerminationGracePeriodSeconds int  `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               struct {
		RunAsNonRoot   bool              `yaml:"runAsNonRoot"`
		RunAsUser      int               `yaml:"runAsUser"`
		RunAsGroup     int               `yaml:"runAsGroup"`
		FSGroup        int               `yaml:"fsGroup"`
		SeccompProfile map[string]string `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	Containers []struct {
		Name, Image string
		Args        []string
		EnvFrom     []struct {
			SecretRef struct{ Name string } `yaml:"secretRef"`
		} `yaml:"envFrom"`
		SecurityContext struct {
			AllowPrivilegeEscalation bool `yaml:"allowPrivilegeEscalation"`
			Privileged               bool
			ReadOnlyRootFilesystem   bool `yaml:"readOnlyRootFilesystem"`
			Capabilities             struct{ Drop []string }
		} `yaml:"securityContext"`
		Resources    struct{ Requests, Limits struct{ CPU, Memory string } }
		VolumeMounts []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name     string
		EmptyDir struct {
			SizeLimit string `yaml:"sizeLimit"`
		} `yaml:"emptyDir"`
	}
}

func TestKubernetes(t *testing.T) {
	var objects []object
	for text := range strings.SplitSeq(read(t, filepath.Join(workersFolder, "kubernetes.yaml")), "\n---\n") {
		var o object
		load(t, text, &o)
		objects = append(objects, o)
	}
	if len(objects) != 2 || objects[0].APIVersion+objects[0].Kind != "v1Secret" || objects[1].APIVersion+objects[1].Kind != "apps/v1Deployment" {
		t.Fatalf("got %+v", objects)
	}
	secret, spec := objects[0], objects[1].Spec
	checkEnvironment(t, joinVariable+"="+secret.StringData[joinVariable])
	for key, value := range spec.Selector.MatchLabels {
		if spec.Template.Metadata.Labels[key] != value {
			t.Errorf("the selector has %s: %s, and the pods %v", key, value, spec.Template.Metadata.Labels)
		}
	}
	p := spec.Template.Spec
	if len(p.Containers) != 1 || len(spec.Selector.MatchLabels) == 0 || spec.Replicas < 2 || p.TerminationGracePeriodSeconds != 120 {
		t.Fatalf("got %+v", spec)
	}
	if s := p.SecurityContext; !s.RunAsNonRoot || s.RunAsUser != imageUser || s.RunAsGroup != imageUser || s.FSGroup != imageUser || s.SeccompProfile["type"] != "RuntimeDefault" {
		t.Errorf("got %+v", s)
	}
	c := p.Containers[0]
	checkWorker(t, c.Args)
	if want := namedImage(t); c.Image != want {
		t.Errorf("got the image %s, want %s", c.Image, want)
	}
	if len(c.EnvFrom) != 1 || c.EnvFrom[0].SecretRef.Name != secret.Metadata.Name {
		t.Errorf("variables are from %+v, want %s", c.EnvFrom, secret.Metadata.Name)
	}
	if s := c.SecurityContext; s.AllowPrivilegeEscalation || s.Privileged || !s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("got %+v", s)
	}
	if c.Resources.Limits.Memory == "" || c.Resources.Limits.CPU == "" || c.Resources.Requests.Memory == "" {
		t.Errorf("got %+v", c.Resources)
	}
	var mounted []string
	for i, m := range c.VolumeMounts {
		mounted = append(mounted, m.MountPath)
		if i >= len(p.Volumes) || p.Volumes[i].Name != m.Name || p.Volumes[i].EmptyDir.SizeLimit == "" {
			t.Errorf("%s is not the volume %d of %+v", m.Name, i, p.Volumes)
		}
	}
	if want := []string{"/" + imageData, "/tmp"}; !slices.Equal(mounted, want) {
		t.Errorf("mounted are %q, want %q", mounted, want)
	}
}

func TestWorkerUnit(t *testing.T) {
	text := read(t, filepath.Join("..", "..", "..", workerUnit))
	values := map[string][]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), "="); ok && !strings.HasPrefix(key, "#") {
			values[key] = append(values[key], value)
		}
	}
	start := strings.Fields(strings.Join(values["ExecStart"], " "))
	if len(start) < 2 || start[0] != "throngctl" {
		t.Fatalf("ExecStart is %q", start)
	}
	checkWorker(t, start[1:])
	for key, want := range map[string]string{
		"DynamicUser": "yes", "EnvironmentFile": "/etc/throng/worker.env", "Restart": "always", "KillSignal": "SIGTERM", "TimeoutStopSec": "120",
		"NoNewPrivileges": "yes", "ProtectSystem": "strict", "CapabilityBoundingSet": "", "WantedBy": "multi-user.target",
	} {
		if got := values[key]; len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("there is no systemd here to check the unit with")
	}
	unit := filepath.Join(t.TempDir(), filepath.Base(workerUnit))
	program, err := exec.LookPath("true") // throngctl may not be installed
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(unit, []byte(strings.Replace(text, "\nExecStart=throngctl", "\nExecStart="+program, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", unit).CombinedOutput(); err != nil || len(out) != 0 {
		t.Errorf("systemd-analyze: %v\n%s", err, out)
	}
}
