package web

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"

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
func servePage(mux *http.ServeMux) {
	_ = fs.WalkDir(page.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(page.Files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		tag, kind := `"`+hex.EncodeToString(sum[:8])+`"`, kindOf(name)
		at := "/" + name
		if name == "index.html" {
			at = "/{$}"
		}
		mux.HandleFunc("GET "+at, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-cache")
			w.Header().Set("ETag", tag)
			if r.Header.Get("If-None-Match") == tag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			send(w, r, http.StatusOK, kind, body)
		})
		return nil
	})
}

// kindOf is the media type of a file by its name, whatever the machine knows of types.
func kindOf(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	default:
		return mime.TypeByExtension(ext)
	}
}
