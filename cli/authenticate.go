package cli

import (
	"crypto/rand"
	"strings"
)

// Settings by which driver and executors authenticate each other: Spark's settings, and the variable of their
// environments in which both look for the secret first.
const (
	confAuthenticate = "spark.authenticate"
	confSecret       = "spark.authenticate.secret"
	variableSecret   = "_SPARK_AUTH_SECRET"
	// elsewhere is the setting where the variable has the secret: Spark wants one. The jar
	// refuses it for a secret (SparkSecurity).
	elsewhere = "environment:" + variableSecret
	// ownSecret is how Pacer's secrets begin: a pacer submit that an application runs finds that
	// one's in its environment, and goes by one of its own.
	ownSecret = "pacer-"
)

// authenticate has the driver take nobody but its executors for one of them, with a secret of
// this application's own, as far as the user has not set that. It returns the environment of
// spark-submit. The secret is no setting: Spark's sessions copy all settings into the properties
// of each job, and those go into the log (docs/spark.md, S59).
func (l *launch) authenticate() (env []string) {
	switch on := l.given(confAuthenticate, ""); {
	case l.attaches(): // Its cluster manager makes the secret, and external shuffle services are to agree.
		return l.Environ
	case on == "":
		l.settings[confAuthenticate] = "true"
	case !strings.EqualFold(on, "true"):
		return l.Environ
	}
	if l.given(confSecret, "") != "" {
		return l.Environ
	}
	l.settings[confSecret] = elsewhere
	if given := l.getenv(variableSecret); given != "" && !strings.HasPrefix(given, ownSecret) {
		return l.Environ
	}
	secret := ownSecret + rand.Text() + rand.Text() // 256 bits.
	return append(l.Environ[:len(l.Environ):len(l.Environ)], variableSecret+"="+secret)
}
