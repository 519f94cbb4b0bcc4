package planner

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
)

// The part of the loop's time that a principal may take: so much in a second, and so much at once after a rest. A
// principal in debt waits, but for requests that take no longer than cheap while no other principal's wait.
const (
	shareSecond = 50 * time.Millisecond
	shareBurst  = time.Second
	cheap       = 10 * time.Millisecond
)

// request is what the loop is to take.
type request struct {
	event func(Ticket) Event
	reply func(any)
	// lane is where it is answered if it is a question.
	lane interface {
		Run(login string, work func())
	}
	// login is of whom it is, owner whose that is, weight how much it is, urgent that it is a status or a heartbeat;
	// since is when it came.
	login  string
	owner  string
	weight int
	urgent bool
	since  time.Duration
}

// refuse answers with err as every reply type: the reply function takes the one
// of its own.
func (r request) refuse(err *api.Error) {
	for _, body := range [...]any{api.RegisterReply{}, api.EventsReply{}, api.HelloReply{}, api.ControlReply{},
		api.PlanReply{}, api.Changes{}} {
		r.reply(refusal(body, err))
	}
}

// mostWeight is how much of a principal waits for the loop, by request.weight: a thousand small requests. A request
// weighs one more for every weightBytes.
const mostWeight, weightBytes = 1024, 4096

// line is what waits for the loop: statuses and heartbeats first, then the requests of each principal in
// order, owners in turn, and of each its principals in turn. Moments are times since the loop's start, which do not
// decrease.
type line struct {
	urgent []request
	of     map[string]*share   // By login.
	owners []string            // Owners of the logins whose requests wait, by whose turn it is.
	turns  map[string][]string // The logins of each owner, by whose turn it is.
	sweep  int
}

// share is a principal's part of the loop.
type share struct {
	waiting []request
	weight  int // Of all its requests, urgent ones too.
	credit  time.Duration
	at      time.Duration // When that was.
	last    time.Duration // Time of its last request, or of an answer of the last turn.
	answer  time.Duration // Time that an answer to it may take.
}

// part is what a login has had of a turn: the time of its requests and their answers, that of the answers alone,
// and that of the longest one.
type part struct{ took, answers, answer time.Duration }

func (p part) and(more part) part {
	return part{p.took + more.took, p.answers + more.answers, max(p.answer, more.answer)}
}

// own is the login of the planner's own requests, which are always taken.
var own = api.Principal{}.Login()

// firstAnswer is what an answer to a login may take before it is known.
const firstAnswer = 150 * time.Microsecond

// leastShares is how many shares are kept in any case.
const leastShares = 1024

func newLine() line {
	return line{of: make(map[string]*share), turns: make(map[string][]string), sweep: leastShares}
}

// share is that of a login, with its credit at now.
func (l *line) share(login string, now time.Duration) *share {
	s := l.of[login]
	if s == nil {
		if len(l.of) >= l.sweep {
			for login, s := range l.of {
				if s.weight == 0 && s.due(now) >= shareBurst {
					delete(l.of, login)
				}
			}
			l.sweep = max(leastShares, 2*len(l.of))
		}
		s = &share{credit: shareBurst, at: now, answer: firstAnswer}
		l.of[login] = s
	}
	s.credit, s.at = s.due(now), now
	return s
}

// due is s's credit at now.
func (s *share) due(now time.Duration) time.Duration {
	return min(shareBurst, s.credit+time.Duration(shareSecond.Seconds()*float64(now-s.at)))
}

// add queues r, or says with KindTransient that too much of its principal waits. A heartbeat does not pass
// what its driver has said before, and one of a principal comes first at a time.
func (l *line) add(r request, now time.Duration) error {
	if r.login == own {
		l.urgent = append(l.urgent, r)
		return nil
	}
	s := l.share(r.login, now)
	if s.weight+r.weight > mostWeight {
		return api.Errorf(api.KindTransient, "too much of %s waits for the planner already: try again in a moment", r.login)
	}
	s.weight += r.weight
	if r.urgent && s.weight == r.weight && s.credit >= 0 {
		l.urgent = append(l.urgent, r)
		return nil
	}
	if s.waiting = append(s.waiting, r); len(s.waiting) == 1 {
		l.turn(r.owner, r.login)
	}
	return nil
}

// turn gives a login of an owner a turn, behind those who have one.
func (l *line) turn(owner, login string) {
	if len(l.turns[owner]) == 0 {
		l.owners = append(l.owners, owner)
	}
	l.turns[owner] = append(l.turns[owner], login)
}

// take takes a login's turn away, and has its owner wait for the next one.
func (l *line) take(owner, login string) {
	i, at := slices.Index(l.turns[owner], login), slices.Index(l.owners, owner)
	l.turns[owner], l.owners = slices.Delete(l.turns[owner], i, i+1), slices.Delete(l.owners, at, at+1)
	if len(l.turns[owner]) == 0 {
		delete(l.turns, owner)
	} else {
		l.owners = append(l.owners, owner)
	}
}

// next takes the request out whose turn it is. Where there is none, wait is after how long there may be one, 0
// for when another one comes.
func (l *line) next(now time.Duration) (r request, ok bool, wait time.Duration) {
	if len(l.urgent) > 0 {
		r, l.urgent = l.urgent[0], l.urgent[1:]
		if r.login != own {
			l.share(r.login, now).weight -= r.weight
		}
		return r, true, 0
	}
	owner, login, wait := l.whose(now)
	if wait > 0 {
		return request{}, false, wait
	}
	s := l.of[login]
	if s == nil {
		return request{}, false, 0
	}
	r, s.waiting = s.waiting[0], s.waiting[1:]
	s.weight -= r.weight
	if l.take(owner, login); len(s.waiting) > 0 {
		l.turn(owner, login)
	}
	return r, true, 0
}

// whose is whose turn it is, "" for nobody's, or after how long it may be somebody's.
func (l *line) whose(now time.Duration) (owner, login string, wait time.Duration) {
	for _, of := range l.owners {
		for _, next := range l.turns[of] {
			s := l.share(next, now)
			if s.credit >= 0 {
				return of, next, 0
			}
			if s.last <= cheap && login == "" {
				owner, login = of, next
			}
			until := time.Duration(float64(-s.credit)/shareSecond.Seconds()) + time.Millisecond
			if wait == 0 || until < wait {
				wait = until
			}
		}
	}
	if login != "" {
		wait = 0
	}
	return owner, login, wait
}

// spend charges a login what a request of its has taken.
func (l *line) spend(login string, now, took time.Duration) {
	if login == own {
		return
	}
	s := l.share(login, now)
	s.credit, s.last = s.credit-took, took
}

// answer is what an answer to a login may take.
func (l *line) answer(login string) time.Duration {
	if s := l.of[login]; s != nil {
		return s.answer
	}
	return 0
}

// charge charges those who had parts of a turn for their answers, and for the rest of its end, such as the Plans
// that were sent, by what they had: whatever had next to nothing of the turn has caused next to none of that.
func (l *line) charge(parts map[string]part, now, rest time.Duration) {
	all := time.Duration(len(parts)) * time.Microsecond
	for _, p := range parts {
		all += p.took
	}
	for login, p := range parts {
		if login == own {
			continue
		}
		s := l.share(login, now)
		s.credit -= p.answers + time.Duration(float64(rest)*float64(p.took+time.Microsecond)/float64(all))
		s.last, s.answer = max(s.last, p.answer), max(p.answer, s.answer-s.answer/8)
	}
}

// all takes all requests out.
func (l *line) all() (waiting []request) {
	waiting, l.urgent = l.urgent, nil
	for _, owner := range l.owners {
		for _, login := range l.turns[owner] {
			waiting = append(waiting, l.of[login].waiting...)
		}
	}
	*l = newLine()
	return waiting
}
