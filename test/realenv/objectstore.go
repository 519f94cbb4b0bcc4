package realenv

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// bucket is the one that an ObjectStore has.
const bucket = "bucket"

// ObjectStore is an S3 gateway on this machine's loopback (scripts/objectstore.sh), behind a proxy that counts what it
// is asked and may take time for it.
type ObjectStore struct {
	// PerCall is what each call takes besides, PerMiB each MiB that is copied.
	PerCall, PerMiB time.Duration
	// Denied is a key below which every call is refused, "" for none.
	Denied string

	t       testing.TB
	dir     string
	address string

	mu    sync.Mutex
	calls []string
	sizes map[string]int64 // By object.
	put   int64            // Bytes, copied ones too.
}

// NewObjectStore starts an object store, which ends with the test.
func NewObjectStore(t testing.TB) *ObjectStore {
	t.Helper()
	s := &ObjectStore{t: t, dir: t.TempDir(), sizes: map[string]int64{}}
	if err := os.MkdirAll(filepath.Join(s.dir, "objects", bucket), 0o755); err != nil {
		t.Fatal(err)
	}
	behind := FreePort(t)
	_, port, err := net.SplitHostPort(behind)
	if err != nil {
		t.Fatal(err)
	}
	script(t, "objectstore.sh", "run", s.dir, port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: behind})
		r.Out.Host = r.In.Host // The client has signed it.
	}}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(s.count(r))
			if s.Denied != "" && strings.Contains(r.URL.Path+"?"+r.URL.RawQuery, s.Denied) {
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>denied by a test</Message></Error>")
				return
			}
			proxy.ServeHTTP(w, r)
		})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Shutdown(context.Background())
		<-served
	})
	return s
}

// count takes note of a call, and returns what it takes besides.
func (s *ObjectStore) count(r *http.Request) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, query := strings.TrimPrefix(r.URL.Path, "/"+bucket), r.URL.Query()
	size := r.ContentLength
	if n, err := strconv.ParseInt(r.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64); err == nil {
		size = n
	}
	what, took := r.Method, s.PerCall
	source, err := url.PathUnescape(strings.TrimPrefix(r.Header.Get("X-Amz-Copy-Source"), "/"))
	switch {
	case err == nil && source != "":
		what = "COPY"
		size = s.sizes[strings.TrimPrefix(source, bucket)]
		took += time.Duration(float64(s.PerMiB) * float64(size) / (1 << 20))
		s.put, s.sizes[key] = s.put+size, size
	case r.Method == http.MethodPut && query.Has("uploadId"):
		s.put, s.sizes[key] = s.put+size, s.sizes[key]+size
	case r.Method == http.MethodPut:
		s.put, s.sizes[key] = s.put+size, size
	case query.Has("list-type"):
		what, key = "LIST", "/"+query.Get("prefix")
	case r.Method == http.MethodPost && query.Has("delete"):
		what = "DELETE"
	}
	s.calls = append(s.calls, what+" "+key)
	return took
}

// Told returns the calls since it was asked last, as "PUT /d/part-0", and the bytes that were written or copied.
func (s *ObjectStore) Told() (calls []string, put int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls, put, s.calls, s.put = s.calls, s.put, nil, 0
	return calls, put
}

// URL is the address of a key for Spark.
func (s *ObjectStore) URL(key string) string { return "s3a://" + bucket + "/" + key }

// Keys are those of the objects below a key, in order, without those that begin with "_".
func (s *ObjectStore) Keys(below string) (keys []string) {
	s.t.Helper()
	top := filepath.Join(s.dir, "objects", bucket, below)
	err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), "_") {
			keys = append(keys, strings.TrimPrefix(path, top+"/"))
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	slices.Sort(keys)
	return keys
}

// Read returns an object.
func (s *ObjectStore) Read(key string) string {
	s.t.Helper()
	f, err := os.Open(filepath.Join(s.dir, "objects", bucket, key))
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// Jars are those by which the environment's Spark reaches it; cloud says whether spark-hadoop-cloud's is among them.
func (s *ObjectStore) Jars(cloud bool) []string {
	s.t.Helper()
	core, _ := filepath.Glob(filepath.Join(SparkHome(s.t), "jars", "spark-core_2.13-*.jar"))
	root, err := moduleRoot()
	var out []byte
	if err == nil && len(core) == 1 {
		version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(core[0]), "spark-core_2.13-"), ".jar")
		out, err = exec.Command(filepath.Join(root, "scripts", "objectstore.sh"), "jars", version).Output()
	}
	jars := strings.Fields(string(out))
	if err != nil || len(jars) == 0 {
		s.t.Fatalf("the jars of an object store for %q: %v", core, err)
	}
	if !cloud {
		jars = jars[:len(jars)-1]
	}
	return jars
}

// Settings are Hadoop's by which it is reached.
func (s *ObjectStore) Settings() map[string]string {
	return map[string]string{"fs.s3a.endpoint": "http://" + s.address, "fs.s3a.endpoint.region": "us-east-1",
		"fs.s3a.path.style.access": "true", "fs.s3a.access.key": "pacer", "fs.s3a.secret.key": "pacer-on-loopback",
		"fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"}
}

// Flags are those of a submission that reaches it, with spark-hadoop-cloud or without.
func (s *ObjectStore) Flags(cloud bool) []string {
	s.t.Helper()
	flags := []string{"--jars", strings.Join(s.Jars(cloud), ",")}
	for key, value := range s.Settings() {
		flags = append(flags, "--conf", "spark.hadoop."+key+"="+value)
	}
	return flags
}
