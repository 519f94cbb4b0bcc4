package realenv

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// NewImage imports an image of this machine's shell with variables into the Docker daemon of DOCKER_HOST. It returns
// the image's name, and is removed with the test.
func NewImage(t testing.TB, env ...string) string {
	t.Helper()
	libraries, err := exec.Command("ldd", "/bin/sh").Output()
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, path := range append([]string{"/bin/sh"}, regexp.MustCompile(`/\S+`).FindAllString(string(libraries), -1)...) {
		body, err := os.ReadFile(path)
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: path[1:], Mode: 0o755, Size: int64(len(body)), Typeflag: tar.TypeReg})
		}
		if err == nil {
			_, err = w.Write(body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	socket := strings.TrimPrefix(os.Getenv("DOCKER_HOST"), "unix://")
	if socket == "" {
		socket = "/var/run/docker.sock"
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	daemon := &http.Client{Transport: &http.Transport{DialContext: dial}}
	ask := func(method, path string, query url.Values, body io.Reader) {
		r, err := http.NewRequestWithContext(context.Background(), method, "http://docker"+path+"?"+query.Encode(), body)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := daemon.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if said, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode >= http.StatusBadRequest {
			t.Errorf("%s %s: %s, %v: %s", method, path, answer.Status, err, said)
		}
	}
	name := fmt.Sprintf("pacer-test-%d", os.Getpid())
	query := url.Values{"fromSrc": {"-"}, "repo": {name}}
	for _, variable := range env {
		key, value, _ := strings.Cut(variable, "=")
		query.Add("changes", fmt.Sprintf("ENV %s=%q", key, value))
	}
	ask(http.MethodPost, "/images/create", query, &archive)
	t.Cleanup(func() { ask(http.MethodDelete, "/images/"+name, url.Values{"force": {"1"}}, nil) })
	return name
}
