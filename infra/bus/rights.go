package bus

import (
	"time"

	"github.com/sparkpacer/pacer/api"
)

// replyWindow bounds how long a responder may answer one request.
const replyWindow = time.Minute

// rights are the subjects that a principal reaches.
type rights struct {
	publish, subscribe []string
	// responds says that it may answer each request that it gets, once.
	responds bool
}

// rightsOf are p's; a planner has no bounds.
func rightsOf(p api.Principal) rights {
	login := p.Login()
	r := rights{subscribe: []string{inboxOf(login) + ".>"}}
	switch p.Kind {
	case api.PrincipalApplication:
		id := api.AppID(p.Name)
		r.publish = []string{registerSubject(login), eventsSubject(id)}
		r.subscribe = append(r.subscribe, directiveSubject(id))
	case api.PrincipalNode:
		r.publish = []string{helloSubject(p.Name), statusSubject(p.Name), fetchSubject(p.Name),
			controlSubject(login, api.VerbProve)}
		r.subscribe = append(r.subscribe, planSubject(p.Name), logsSubject(p.Name))
		r.responds = true
	case api.PrincipalTicket:
		r.publish = []string{registerSubject(login)}
	case api.PrincipalJoin:
		r.publish = []string{controlSubject(login, api.VerbIssue)}
	case api.PrincipalUser:
		// The planner says who may not register, and why.
		r.publish = []string{controlSubjects(login), registerSubject(login)}
	}
	return r
}

// inboxOf is where the replies to a login go.
func inboxOf(login string) string { return "_INBOX_" + login }
