package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// problem is an error as RFC 9457 has it.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Kind   string `json:"kind"`
}

// statuses are those of the kinds of errors; of others it is 500.
var statuses = map[api.Kind]int{
	api.KindInvalid: http.StatusBadRequest, api.KindNotFound: http.StatusNotFound,
	api.KindInfeasible: http.StatusUnprocessableEntity, api.KindConflict: http.StatusConflict,
	api.KindStale: http.StatusConflict, api.KindTransient: http.StatusServiceUnavailable,
	api.KindVersion: http.StatusBadRequest, api.KindDenied: http.StatusForbidden,
}

// anonymousError is the error of who does not say who it is, or says it wrongly.
type anonymousError struct{ why string }

func (e anonymousError) Error() string { return e.why }

func problemOf(err error) problem {
	kind := api.KindOf(err)
	status, known := statuses[kind]
	if !known {
		status = http.StatusInternalServerError
	}
	if _, ok := errors.AsType[anonymousError](err); ok {
		status, kind = http.StatusUnauthorized, api.KindDenied
	}
	return problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: err.Error(),
		Kind: kind.String()}
}

// fail answers with an error.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	switch p.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="pacer"`)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	body, _ := json.Marshal(p) // Texts and numbers.
	send(w, r, p.Status, "application/problem+json", body)
}

// worthwhile is how many bytes are worth compressing.
const worthwhile = 1400

// send sends a body, compressed for who takes that.
func send(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Vary", "Accept-Encoding")
	if len(body) >= worthwhile && zips(r) {
		w.Header().Set("Content-Encoding", "gzip")
		body = zipped(body)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // Who asks may be gone.
}

// zips reports whether who asks takes gzip.
func zips(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if name == "gzip" && strings.TrimSpace(quality) != "q=0" {
			return true
		}
	}
	return false
}

func zipped(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body) // A buffer takes all.
	_ = z.Close()
	return b.Bytes()
}
