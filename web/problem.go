package web

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"

	"github.com/sparkpacer/pacer/api"
)

// statuses are those of the kinds of errors; of others it is 500.
var statuses = map[api.Kind]int{
	api.KindInvalid: http.StatusBadRequest, api.KindNotFound: http.StatusNotFound,
	api.KindInfeasible: http.StatusUnprocessableEntity, api.KindConflict: http.StatusConflict,
	api.KindStale: http.StatusConflict, api.KindTransient: http.StatusServiceUnavailable,
	api.KindVersion: http.StatusBadRequest, api.KindDenied: http.StatusForbidden,
}

// errTooLarge is that of a request whose body is larger than any may be.
var errTooLarge = api.Errorf(api.KindInvalid, "the body is too large: at most %d bytes are taken", mostBody)

// anonymousError is the error of a request that does not say who asks, or says it wrongly.
type anonymousError struct{ error }

// anonymous is err as an anonymousError, nil for none.
func anonymous(err error) error {
	if err == nil {
		return nil
	}
	return anonymousError{err}
}

// problemOf is an error as RFC 9457 has it, and its status.
func problemOf(err error) (status int, p object) {
	kind := api.KindOf(err)
	status = cmp.Or(statuses[kind], http.StatusInternalServerError)
	if _, ok := errors.AsType[anonymousError](err); ok {
		status, kind = http.StatusUnauthorized, api.KindDenied
	}
	if errors.Is(err, errTooLarge) {
		status = http.StatusRequestEntityTooLarge
	}
	return status, object{"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": err.Error(),
		"kind": kind.String()}
}

// fail answers with an error.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	status, p := problemOf(err)
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="pacer"`)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	body, _ := json.Marshal(p) // Texts and numbers.
	send(w, r, status, "application/problem+json", body)
}

// worthwhile is how many bytes are worth compressing.
const worthwhile = 1400

// send sends a body, compressed to a client that takes that.
func send(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Vary", "Accept-Encoding")
	if len(body) < worthwhile || !zips(r) {
		w.WriteHeader(status)
		_, _ = w.Write(body) // The client may be gone.
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z := gzip.NewWriter(w)
	_, _ = z.Write(body) // As above.
	_ = z.Close()
}

// gzipped finds the coding in a header that lists it without a quality, as all browsers do.
var gzipped = regexp.MustCompile(`(^|,)\s*gzip\s*(,|$)`)

// zips reports whether a client takes gzip.
func zips(r *http.Request) bool { return gzipped.MatchString(r.Header.Get("Accept-Encoding")) }
