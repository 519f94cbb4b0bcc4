package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"path"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/web/page"
)

// secure sets what holds for all answers: nobody frames them, guesses their kind, reads them from another site or is
// told where the page is.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

var policy = page.Policy()

// servePage serves the files of the page. A browser asks for each anew whether it is another one by now.
func servePage(w http.ResponseWriter, r *http.Request) {
	name := cmp.Or(r.URL.Path[1:], "index.html")
	body, err := page.Files.ReadFile(name)
	if err != nil {
		fail(w, r, api.Errorf(api.KindNotFound, "there is no %s", api.Clip(r.URL.Path, api.MostToken)))
		return
	}
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	send(w, r, http.StatusOK, mime.TypeByExtension(path.Ext(name)), body)
}
