// Package web serves a planner by HTTP: the API below /api/v1, which openapi.yaml describes, and the page that shows it
// (web/page).
//
// The API's resources are the bus's verbs, asked with the principal of who asks: rights, audit lines and kinds
// of errors are the bus's too. Its JSON is that of package api, but that what is not known is null.
package web

import _ "embed" // openapi.yaml and problems.txt.

//go:embed openapi.yaml
var openAPI []byte

//go:embed problems.txt
var problemText string

// OpenAPI is openapi.yaml.
func OpenAPI() []byte { return openAPI }
