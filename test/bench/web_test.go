package main

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/deciders/report"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/units"
	"github.com/sparkpacer/pacer/web"
	"github.com/sparkpacer/pacer/web/webtest"
)

// watchers look for watchedSeconds in virtual time, each on a connection in memory, at as many applications on half as
// many nodes: at 1,000 where PACER_BENCH is set.
const watchers, watchedSeconds, watchedApps = 20, 60, 20

// TestWatched prints what it costs that somebody looks, and how old what they see gets; the row web reads it.
func TestWatched(t *testing.T) {
	apps := watchedApps
	if os.Getenv("PACER_BENCH") != "" {
		apps = 1000
	}
	most := map[string]float64{"watch.asks_per_s.0": 0, "watch.asks_per_s.20": 1.1, "watch.kib_per_s": 64, "watch.age_s.max": 2.5}
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, clusterSize{nodes: apps / 2, apps: apps, spread: 2})
		defer time.Sleep(2 * time.Second) // What its store does beside ends within a second.
		defer func() { _ = c.db.Close() }()
		watch(t, c, func(name string, value float64, n int) {
			if t.Logf("figure %s %g %d", name, value, n); value > most[name] {
				t.Errorf("%s is %g, want %g at most", name, value, most[name])
			}
		})
	})
}

// asked is a planner's engine that answers those who look, and the moments at which it did.
type asked struct {
	web.Planner
	mu      sync.Mutex
	cluster *cluster
	at      []time.Time
	noise   *rand.Rand
}

// Look implements web.Planner.
func (a *asked) Look(since uint64, reply func(api.Changes)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = append(a.at, time.Now())
	answer, _, _ := a.cluster.step(planner.Look{To: 1, Since: since})
	changes := answer.(api.Changes)
	changes.At = time.Now()
	for i := range changes.Apps { // The cluster's applications are all alike, which no others are.
		x := &changes.Apps[i]
		x.CoreSeconds += units.Work(1000 * a.noise.Float64())
		x.MeanCores += units.Cores(a.noise.Float64())
		x.Predicted += units.Seconds(10 * a.noise.Float64())
		x.QuotaChanges += a.noise.IntN(100)
	}
	reply(changes)
}

// Control implements web.Planner: whoever asks may look.
func (a *asked) Control(_ api.Principal, _ api.Verb, _ api.ControlRequest, reply func(api.ControlReply)) {
	reply(api.ControlReply{V: api.Version})
}

func (a *asked) asks() float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return float64(len(a.at))
}

// second lets a second pass in the cluster.
func (a *asked) second() {
	time.Sleep(time.Second)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cluster.second()
}

func watch(t *testing.T, c *cluster, add func(name string, value float64, n int)) {
	a := &asked{noise: rand.New(rand.NewPCG(1, 2)), cluster: c}
	a.cluster.kept = &report.Kept{}
	a.cluster.join()
	who := func(string) (api.Principal, error) { return api.Principal{}, nil }
	s := web.New(web.Config{Serves: func() (web.Planner, error) { return a, nil }, Who: who})
	token, _ := s.Sessions.Token(api.Principal{}, api.TokenRequest{})
	network := webtest.NewNetwork()
	server, client := &http.Server{Handler: s}, &http.Client{Transport: &http.Transport{DialContext: network.Dial}}
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(network) })
	defer done.Wait()
	defer func() { _ = server.Close() }()
	for range watchedSeconds {
		a.second()
	}
	add("watch.asks_per_s.0", a.asks()/watchedSeconds, watchedSeconds)
	var mu sync.Mutex
	oldest := time.Duration(0)
	for range watchers {
		done.Go(func() {
			follow(t, client, token, func(age time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				oldest = max(oldest, age)
			})
		})
		a.second()
	}
	asks, bytes := a.asks(), network.Read.Load()
	for range watchedSeconds {
		a.second()
	}
	add("watch.asks_per_s.20", (a.asks()-asks)/watchedSeconds, watchedSeconds)
	add("watch.kib_per_s", float64(network.Read.Load()-bytes)/1024/watchers/watchedSeconds, watchers*watchedSeconds)
	mu.Lock()
	add("watch.age_s.max", oldest.Seconds(), watchers*watchedSeconds)
	mu.Unlock()
	a.mu.Lock() // Those who look on are still there.
	running := a.cluster.running()
	a.mu.Unlock()
	if running != a.cluster.of.apps {
		t.Errorf("%d applications run", running)
	}
	s.Close()
	client.CloseIdleConnections()
}

// follow looks until the stream ends, and tells how old what it shows was just before it was told more.
func follow(t *testing.T, client *http.Client, token string, tell func(time.Duration)) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/api/v1/watch", nil)
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := client.Do(r)
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 16<<20)
	var state struct {
		At time.Time `json:"at"`
	}
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if !state.At.IsZero() {
			tell(time.Since(state.At))
		}
		if err := json.Unmarshal([]byte(data), &state); err != nil {
			t.Error(err)
		}
	}
}
