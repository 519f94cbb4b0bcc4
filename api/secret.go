package api

import "regexp"

// mask stands for a value that is not shown.
const mask = "(masked)"

// secretKey finds the keys of Spark, of the systems that it reads from and of programs'
// environments whose values are secrets, and secretOption such a key with what is set to it
// inside an option. Spark's own spark.redaction.regex finds fewer.
var (
	secretKey    = regexp.MustCompile(secretWords)
	secretOption = regexp.MustCompile(`(?s)(` + secretWords + `[^=]*=).*`)
)

const secretWords = `(?is:secret|passw|passphrase|token|credential|` +
	`(?:access|account|api|auth|encryption|private|shared|signing)[-._]?key)`

// Masked is value, or what is shown in its place if the key says that it is a secret. Whatever
// is logged, printed or kept to be read later goes through it or one of the methods below.
func Masked(key, value string) string {
	if secretKey.MatchString(key) {
		return mask
	}
	return value
}

// secret reports whether l holds a value that is masked.
func (l *Launch) secret() bool {
	for _, option := range l.JavaOptions {
		if secretOption.MatchString(option) {
			return true
		}
	}
	for name := range l.Env {
		if secretKey.MatchString(name) {
			return true
		}
	}
	return l.Attach != nil && l.Attach.Secret != ""
}

// Masked is l with its secrets masked, and how long withheld ones are. It shares with l what it
// does not change.
func (l *Launch) Masked() *Launch {
	if l == nil || !l.secret() {
		return l
	}
	shown := l.with(mask)
	shown.Withheld = min(l.Withheld, 1)
	return shown
}

// Kept is l as a store keeps it: with nothing in place of its secrets' values. It is l itself
// where it has none.
func (l *Launch) Kept() *Launch {
	if l == nil || !l.secret() {
		return l
	}
	kept := l.with("")
	lacks := l.Bytes() - kept.Bytes()
	if lacks == 0 {
		return l
	}
	kept.Withheld += lacks
	return kept
}

// Complete is l with the secrets of whole, which is the launch of the same driver.
func (l *Launch) Complete(whole *Launch) *Launch {
	completed := *l
	completed.JavaOptions, completed.Env, completed.Withheld = whole.JavaOptions, whole.Env, 0
	if l.Attach != nil && whole.Attach != nil {
		completed.Attach = l.Attach.with(whole.Attach.Secret)
	}
	return &completed
}

// with is l with a text in place of each secret's value.
func (l *Launch) with(text string) *Launch {
	other := *l
	other.JavaOptions = make([]string, len(l.JavaOptions))
	for i, option := range l.JavaOptions {
		other.JavaOptions[i] = secretOption.ReplaceAllString(option, "${1}"+text)
	}
	other.Env = make(map[string]string, len(l.Env))
	for name, value := range l.Env {
		if secretKey.MatchString(name) {
			value = text
		}
		other.Env[name] = value
	}
	if l.Attach != nil && l.Attach.Secret != "" {
		other.Attach = l.Attach.with(text)
	}
	return &other
}

// with is a with another secret.
func (a *Attach) with(secret string) *Attach {
	other := *a
	other.Secret = secret
	return &other
}

// Masked is p with the secrets of its applications masked. It shares with p what it does
// not change, and is p where there are none.
func (p *Plan) Masked() *Plan {
	if p == nil {
		return nil
	}
	shown := p
	for i := range p.Apps {
		launch := p.Apps[i].Launch.Masked()
		if launch == p.Apps[i].Launch {
			continue
		}
		if shown == p {
			copied := *p
			copied.Apps = append([]PlanApp(nil), p.Apps...)
			shown = &copied
		}
		shown.Apps[i].Launch = launch
	}
	return shown
}
