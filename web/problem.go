package web

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// problem is a kind of problem: its status, and what it means to a program that meets it.
type problem struct {
	status int
	says   string
}

// problems are all of them by the last part of their address: kinds of errors, and three that HTTP alone has. Each is a
// line of problems.txt: name, status, text.
var problems = func() map[string]problem {
	all := map[string]problem{}
	for line := range strings.Lines(problemText) {
		word := strings.SplitN(line, " ", 3)
		status, _ := strconv.Atoi(word[1])
		all[word[0]] = problem{status, word[2]}
	}
	return all
}()

// problemPath is below which each of them is explained, without a token.
const problemPath = apiPath + "/problems/"

func explain(w http.ResponseWriter, r *http.Request) {
	p, known := problems[r.PathValue("name")]
	if !known {
		fail(w, r, api.Errorf(api.KindNotFound, "there is no such problem, but %v", slices.Sorted(maps.Keys(problems))))
		return
	}
	send(w, r, http.StatusOK, "text/plain; charset=utf-8", []byte(p.says))
}

// refusal is an error of which HTTP says more than its kind.
type refusal struct {
	problem string
	error
}

func (r refusal) Unwrap() error { return r.error }

// tooLarge is the error of a request whose body is larger than its route takes.
func tooLarge(most int) error {
	return refusal{"too-large", api.Errorf(api.KindInvalid, "the body is too large: at most %d bytes are taken", most)}
}

// anonymous is err as that of a request that does not say who asks, or says it wrongly; nil for none.
func anonymous(err error) error {
	if err == nil {
		return nil
	}
	return refusal{"anonymous", api.Errorf(api.KindDenied, "%v", err)}
}

// problemOf is an error as RFC 9457 has it, and its status.
func problemOf(err error) (status int, p object) {
	kind := api.KindOf(err).String()
	name := strings.ReplaceAll(kind, " ", "-")
	if r, ok := errors.AsType[refusal](err); ok {
		name = r.problem
	}
	if _, known := problems[name]; !known {
		name = "internal"
	}
	status = problems[name].status
	return status, object{"type": problemPath + name, "title": http.StatusText(status), "status": status,
		"detail": err.Error(), "kind": kind}
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
