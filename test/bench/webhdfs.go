package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sparkpacer/pacer/test/realenv"
)

// link is a small WebHDFS server with one file, of which it gives each address that asks a number of bytes a second. So
// each node has a link of its own that all its executors share.
type link struct {
	address string
	size    int64
	rate    float64

	mu   sync.Mutex
	free map[string]time.Time // When an address has had what it asked for.
}

// linkLine is a line of the file, linkPart what is given at a time. Time that a busy machine has lost is made good up
// to linkLate.
const (
	linkLine = 64
	linkPart = 64 << 10
	linkLate = 250 * time.Millisecond
)

// startLink starts a link in the hub of a network.
func startLink(t testing.TB, n *realenv.Network, size int64, rate float64) *link {
	t.Helper()
	l := &link{address: n.Address + ":9870", size: size, rate: rate, free: map[string]time.Time{}}
	var listener net.Listener
	if err := realenv.Within(n.Namespace(realenv.Hub), func() (err error) {
		listener, err = net.Listen("tcp", l.address)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: l, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	t.Cleanup(func() {
		_ = s.Close()
		<-served
	})
	return l
}

// url is the file's.
func (l *link) url() string { return "webhdfs://" + l.address + "/input/lines.txt" }

// ServeHTTP implements http.Handler: the operations that Spark asks for when it lists and reads a file.
func (l *link) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	path := strings.TrimPrefix(r.URL.Path, "/webhdfs/v1")
	status := l.status(path)
	answer := func(body any) {
		w.Header()["Content-Type"] = nil // A client without JAX-RS, as Spark's, cannot look at one.
		_ = json.NewEncoder(w).Encode(body)
	}
	object := func(name string, of any) map[string]any { return map[string]any{name: of} }
	switch op := strings.ToUpper(q.Get("op")); {
	case op == "GETHOMEDIRECTORY":
		answer(object("Path", "/user/pacer"))
	case op == "GETDELEGATIONTOKEN":
		answer(object("Token", nil))
	case status == nil:
		w.WriteHeader(http.StatusNotFound)
		answer(object("RemoteException", map[string]string{"exception": "FileNotFoundException",
			"javaClassName": "java.io.FileNotFoundException", "message": "no file " + path}))
	case op == "GETFILESTATUS":
		answer(object("FileStatus", status))
	case op == "LISTSTATUS":
		answer(object("FileStatuses", object("FileStatus", []any{status})))
	case op == "GETFILEBLOCKLOCATIONS" || op == "GET_BLOCK_LOCATIONS" && q.Has("offset"):
		// By name localhost is nowhere: Spark takes no place from it.
		answer(object("BlockLocations", object("BlockLocation", []any{map[string]any{"cachedHosts": []string{},
			"corrupt": false, "hosts": []string{"localhost"}, "names": []string{"localhost:9866"}, "offset": 0,
			"length": l.size, "storageTypes": []string{"DISK"}, "topologyPaths": []string{"/default-rack/localhost:9866"}}})))
	case op == "OPEN" && !q.Has("data"):
		w.Header().Set("Location", "http://"+l.address+r.URL.RequestURI()+"&data=true")
		w.WriteHeader(http.StatusTemporaryRedirect)
	case op == "OPEN":
		l.open(w, r)
	default:
		w.WriteHeader(http.StatusBadRequest)
		answer(object("RemoteException", map[string]string{"exception": "UnsupportedOperationException",
			"javaClassName": "java.lang.UnsupportedOperationException", "message": "no operation " + op}))
	}
}

// status is what is told of the file or its directory, nil for anything else.
func (l *link) status(path string) map[string]any {
	kind, size, suffix := "FILE", l.size, ""
	switch path {
	case "/input/lines.txt":
	case "/", "/input":
		kind, size = "DIRECTORY", 0
	default:
		return nil
	}
	return map[string]any{"accessTime": 0, "blockSize": 128 << 20, "group": "g", "length": size, "modificationTime": 1,
		"owner": "o", "pathSuffix": suffix, "permission": "644", "replication": 1, "type": kind, "childrenNum": 0,
		"fileId": 1, "storagePolicy": 0}
}

// open gives what is asked for of the file, at the address's rate.
func (l *link) open(w http.ResponseWriter, r *http.Request) {
	number := func(name string, otherwise int64) int64 {
		if n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64); err == nil {
			return n
		}
		return otherwise
	}
	from := min(l.size, number("offset", 0))
	to := min(l.size, from+number("length", l.size))
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", fmt.Sprint(to-from))
	text := strings.Repeat(strings.Repeat("x", linkLine-1)+"\n", 1+linkPart/linkLine)
	for from < to {
		n := min(linkPart, to-from)
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Until(l.due(host, n))):
		}
		at := from % linkLine
		if _, err := io.WriteString(w, text[at:at+n]); err != nil {
			return
		}
		from += n
	}
}

// due is when an address may have so many more bytes: those who ask first have them first.
func (l *link) due(host string, bytes int64) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.free[host]
	if late := time.Now().Add(-linkLate); at.Before(late) {
		at = late
	}
	at = at.Add(time.Duration(float64(bytes) / l.rate * float64(time.Second)))
	l.free[host] = at
	return at
}
