package bus

import (
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// Every subject has its publish form (filled in) beside its subscribe form
// (for all applications, nodes, logins or verbs). No other file spells a subject; a
// test compares this one with the table in doc.go. Whatever an application or a node is
// called is one token here: its login (api.Principal.Login), or its name as api.Token
// writes it. Names that planners and operators give stand as they are.

const prefix = "pacer.v1."

func registerSubject(login string) string { return prefix + "register." + login }
func registerSubscribe() string           { return prefix + "register.*" }

func eventsSubject(app api.AppID) string { return appSubject(app, "events") }
func eventsSubscribe() string            { return prefix + "app.*.events" }

func directiveSubject(app api.AppID) string { return appSubject(app, "directive") }

func appSubject(app api.AppID, what string) string {
	return prefix + "app." + api.Principal{Kind: api.PrincipalApplication, Name: string(app)}.Login() + "." + what
}

func helloSubject(node string) string { return nodeSubject(node, "hello") }
func helloSubscribe() string          { return prefix + "node.*.hello" }

func statusSubject(node string) string { return nodeSubject(node, "status") }
func statusSubscribe() string          { return prefix + "node.*.status" }

func fetchSubject(node string) string { return nodeSubject(node, "fetch") }
func fetchSubscribe() string          { return prefix + "node.*.fetch" }

func planSubject(node string) string { return nodeSubject(node, "plan") }

func logsSubject(node string) string { return nodeSubject(node, "logs") }

func nodeSubject(node, what string) string { return prefix + "node." + api.Token(node) + "." + what }

func controlSubject(login string, verb api.Verb) string {
	return prefix + "control." + login + "." + string(verb)
}
func controlSubjects(login string) string { return prefix + "control." + login + ".*" }
func controlSubscribe() string            { return prefix + "control.*.*" }

func planQuerySubject(login string) string { return controlSubject(login, planQuery) }
func planQuerySubscribe() string           { return prefix + "control.*." + planQuery }

// planQuery stands where a verb does, and has a request of its own.
const planQuery = "plan"

// authSubject is where a nats-server asks whom it may let in.
const authSubject = "$SYS.REQ.USER.AUTH"

// token returns the n-th token of a subject behind the prefix: who or what it is about.
func token(subject string, n int) string {
	parts := strings.Split(strings.TrimPrefix(subject, prefix), ".")
	if n >= len(parts) || !strings.HasPrefix(subject, prefix) {
		return ""
	}
	return parts[n]
}

// from is the login that a subject names, by which the server has let its sender publish.
func from(subject string) string {
	name := token(subject, 1)
	if token(subject, 0) == string(api.PrincipalNode) {
		return string(api.PrincipalNode) + "-" + name
	}
	return name
}

// validToken reports whether s can stand as one token of a subject.
func validToken(s string) bool {
	return s != "" && len(s) <= 200 && !strings.ContainsAny(s, ". *>\t\r\n\x00")
}

// bucketSubject is where a key of the planners' bucket is written.
func bucketSubject(key string) string { return "$KV." + BucketName + "." + key }
