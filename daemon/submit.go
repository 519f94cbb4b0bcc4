package daemon

import (
	"slices"
	"time"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/planner"
	"github.com/sparkpacer/pacer/planner/access"
)

// userOf is whose an application is. It is called on the loop's goroutine.
func (t *term) userOf(id api.AppID) string {
	if a := t.engine.View().App(id); a != nil {
		return a.Tenant.Owner.User
	}
	return ""
}

// upload takes a piece of a file of a driver in.
func (t *term) upload(by api.Principal, r api.ControlRequest) api.ControlReply {
	err := access.Verb(by, api.VerbUpload)
	if err == nil {
		err = r.Validate()
	}
	var told api.FilePiece
	if err == nil {
		var piece *api.FilePiece
		if r.Query != nil && r.Query.Submit != nil {
			piece = r.Query.Submit.Piece
		}
		told, err = t.uploads.take(ownerName(by), piece)
	}
	return api.ControlReply{Error: api.ToWire(err), Piece: &told}
}

// ownerName is whose the files of by are, as their applications are.
func ownerName(by api.Principal) string {
	if by.Kind == api.PrincipalUser {
		return by.Name
	}
	return ""
}

// lacks says which files of a driver or a group that by submits are not there.
func (t *term) lacks(by api.Principal, r api.ControlRequest) error {
	if r.Query == nil || r.Query.Submit == nil {
		return nil // The planner refuses it.
	}
	s, files := r.Query.Submit, []api.ComponentFile(nil)
	if s.Driver != nil {
		if err := s.Driver.Validate(); err != nil {
			return err
		}
		files = s.Driver.Files
	}
	if s.Group != nil {
		if err := s.Group.Validate(s.Driver); err != nil {
			return err
		}
	}
	if s.DryRun {
		return nil
	}
	return t.uploads.lacks(ownerName(by), append(slices.Clone(files), s.Group.Files()...))
}

// fetch answers a node that starts a driver: with a ticket for its submission, or a piece of a file.
func (t *term) fetch(r api.FetchRequest, reply func(api.FetchReply)) {
	planner.DriverOf(r.Node, r.App, t.loop, func(d planner.DriverAnswer) {
		go func() { // It reads the disk, or writes it.
			answer := api.FetchReply{V: api.Version}
			err := d.Err
			switch {
			case err != nil:
			case r.Key != "" && d.Component.Name != api.DriverName:
				err = api.Errorf(api.KindDenied, "node %s runs no driver of %s", r.Node, r.App)
			case r.Key != "":
				err = t.access.issueDriver(userLogin(d.User), d.Component.Submission, r.Key, time.Now())
			case !slices.ContainsFunc(d.Component.Files, func(f api.ComponentFile) bool { return f.SHA256 == r.File.SHA256 }):
				err = api.Errorf(api.KindDenied, "file %s is none of what %s has there", r.File.SHA256, r.App)
			default:
				answer.File, err = t.uploads.read(d.User, r.File)
			}
			answer.Error = api.ToWire(err)
			reply(answer)
		}()
	})
}

// issueDriver takes a ticket for a submission of a user's, whose secret the node has made that starts the driver. It
// takes the place of that of a driver before it.
func (a *plannerAccess) issueDriver(user, submission, key string, now time.Time) error {
	if a.open || user == "" {
		return nil
	}
	if !api.ValidKey(key) {
		return api.Errorf(api.KindInvalid, "the key of the ticket is none")
	}
	p := a.principals
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.keyring.Who(user); err != nil {
		return err
	}
	t := &ticket{Submission: submission, User: user, Key: key, Until: now.Add(ticketUnused).UTC().Truncate(time.Second)}
	return p.keep(t.principal().Login(), t)
}
