package bus

import (
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// Every subject has its publish form (filled in) beside its subscribe form
// (for all applications, nodes or verbs). No other file spells a subject; a
// test compares this one with the table in doc.go.

const prefix = "pacer.v1."

func registerSubject() string   { return prefix + "app.register" }
func registerSubscribe() string { return prefix + "app.register" }

func eventsSubject(app api.AppID) string { return prefix + "app." + string(app) + ".events" }
func eventsSubscribe() string            { return prefix + "app.*.events" }

func directiveSubject(app api.AppID) string { return prefix + "app." + string(app) + ".directive" }
func directiveSubscribe() string            { return prefix + "app.*.directive" }

func helloSubject(node string) string { return prefix + "node." + node + ".hello" }
func helloSubscribe() string          { return prefix + "node.*.hello" }

func statusSubject(node string) string { return prefix + "node." + node + ".status" }
func statusSubscribe() string          { return prefix + "node.*.status" }

func planSubject(node string) string { return prefix + "node." + node + ".plan" }
func planSubscribe() string          { return prefix + "node.*.plan" }

func logsSubject(node string) string { return prefix + "node." + node + ".logs" }
func logsSubscribe() string          { return prefix + "node.*.logs" }

func controlSubject(verb api.Verb) string { return prefix + "control." + string(verb) }
func controlSubscribe() string            { return prefix + "control.*" }

func planQuerySubject() string   { return prefix + "control.plan" }
func planQuerySubscribe() string { return prefix + "control.plan" }

func presenceSubject() string   { return prefix + "planner" }
func presenceSubscribe() string { return prefix + "planner" }

// token returns the application, node or verb that a subject names.
func token(subject string) string {
	parts := strings.Split(subject, ".")
	if len(parts) < 4 {
		return ""
	}
	return parts[3]
}

// validToken reports whether s can stand as one token of a subject.
func validToken(s string) bool {
	return s != "" && len(s) <= 200 && !strings.ContainsAny(s, ". *>\t\r\n\x00")
}
