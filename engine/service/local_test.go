package service

import "testing"

func TestIsLocal(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:11434/v1": true, "http://localhost:1234/v1": true, "http://[::1]:8000/v1": true, "http://192.168.1.20/v1": true,
		"http://10.0.0.7:8000": true, "http://172.16.3.4": true, "http://172.32.0.1": false, "http://[fd00::1]/v1": true, "http://169.254.1.1": true,
		"http://ollama:11434/v1": true, "http://gpu.local/v1": true, "http://host.docker.internal:11434/v1": true, "http://[::ffff:10.0.0.1]/v1": true,
		"https://api.openai.com/v1": false, "http://8.8.8.8/v1": false, "https://local.example.com/v1": false, "mock:model": false, "": false, "::": false,
		"http://[2001:db8::1]/v1": false, "https://10.example.com": false,
	} {
		if got := IsLocal(address); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
}
