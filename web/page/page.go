package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"regexp"
)

// Files are the page's, index.html first of all. They never change while a program runs.
//
//go:embed index.html icon.svg *.css *.js lib/*/*.mjs lib/*/*.js lib/*/*.css
var Files embed.FS

var importMap = regexp.MustCompile(`(?s)<script type="importmap">(.*?)</script>`)

// Policy is the Content-Security-Policy under which the page works: all of it is from the page's own server, no text
// becomes HTML or a script, and no other page may frame it.
func Policy() string {
	index, _ := Files.ReadFile("index.html") // It is embedded.
	hash := ""
	if m := importMap.FindSubmatch(index); m != nil {
		sum := sha256.Sum256(m[1])
		hash = " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src 'self'" + hash + "; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'"
}
