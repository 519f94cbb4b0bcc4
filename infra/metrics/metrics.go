package metrics

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"time"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sparkpacer/pacer/api"
)

// Build registers pacer_build_info and the metrics of the Go runtime and the
// process.
func Build(r prometheus.Registerer, version string) error {
	info := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "pacer_build_info",
		Help:        "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": version, "go_version": runtime.Version()}}, func() float64 { return 1 })
	return register(r, info, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
}

// Certificate registers the moment at which the certificate ends that a daemon answers with, which read tells at each
// scrape; there is no series while it tells an error.
func Certificate(r prometheus.Registerer, read func() (time.Time, error)) error {
	return register(r, certificate(read))
}

type certificate func() (time.Time, error)

var expiry = desc("pacer_certificate_expiry_timestamp_seconds",
	"When the certificate ends with which this daemon answers, in seconds since 1970.")

// Describe implements prometheus.Collector.
func (c certificate) Describe(out chan<- *prometheus.Desc) { out <- expiry }

// Collect implements prometheus.Collector.
func (c certificate) Collect(out chan<- prometheus.Metric) {
	if until, err := c(); err == nil {
		out <- gauge(expiry, float64(until.Unix()))
	}
}

// Path is that of the metrics; HealthPath is where a daemon says whether it is well, ReadyPath whether it does its work
// now.
const (
	Path       = "/metrics"
	HealthPath = "/healthz"
	ReadyPath  = "/readyz"
)

// mostScrapes is how many gather the metrics at once: one more is answered 503.
const mostScrapes = 4

// Handler serves the metrics, and for each path of checks 200 "ok", or 503 with the reason that the check gives.
func Handler(g prometheus.Gatherer, checks map[string]func() error) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, promhttp.HandlerFor(g, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError,
		MaxRequestsInFlight: mostScrapes}))
	for path, check := range checks {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			if err := check(); err != nil {
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = fmt.Fprintln(w, "unavailable")
				return
			}
			_, _ = fmt.Fprintln(w, "ok")
		})
	}
	return mux
}

func register(r prometheus.Registerer, all ...prometheus.Collector) error {
	var faults []error
	for _, c := range all {
		faults = append(faults, r.Register(c))
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

func gauge(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return metric(d, prometheus.GaugeValue, v, labels)
}

func total(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return metric(d, prometheus.CounterValue, v, labels)
}

func metric(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels []string) prometheus.Metric {
	values := make([]string, len(labels))
	for i, l := range labels {
		values[i] = label(l)
	}
	return prometheus.MustNewConstMetric(d, kind, v, values...)
}

// label is what others have called something as a label has it: valid UTF-8, on one line, and of at
// most api.MostName bytes. Series of two things differ by the ids in them.
func label(s string) string {
	return api.Clip(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r // That of a byte which is no character, too.
	}, s), api.MostName)
}
