package access

import "github.com/sparkpacer/pacer/api"

// need is what a verb needs.
type need struct {
	role api.Role
	// own says that role is enough for one's own applications only; others' need
	// api.RoleOperate.
	own bool
}

// needs are the verbs that somebody may use who does not operate.
var needs = map[api.Verb]need{
	api.VerbPing:     {role: api.RoleView},
	api.VerbApps:     {role: api.RoleView},
	api.VerbApp:      {role: api.RoleView},
	api.VerbWhy:      {role: api.RoleView},
	api.VerbProfiles: {role: api.RoleView},
	api.VerbProfile:  {role: api.RoleView},
	api.VerbVersions: {role: api.RoleView},
	api.VerbKnee:     {role: api.RoleView},
	api.VerbNodes:    {role: api.RoleView},
	api.VerbSpare:    {role: api.RoleView},
	api.VerbPolicy:   {role: api.RoleView},
	api.VerbReport:   {role: api.RoleView}, // Of their own runs.
	api.VerbWeb:      {role: api.RoleView},
	api.VerbToken:    {role: api.RoleView},
	api.VerbCores:    {role: api.RoleView},
	api.VerbLogs:     {role: api.RoleView, own: true},
	api.VerbRelease:  {role: api.RoleSubmit, own: true},
	api.VerbDeadline: {role: api.RoleSubmit, own: true},
	api.VerbKill:     {role: api.RoleSubmit, own: true},
	api.VerbExit:     {role: api.RoleSubmit, own: true},
	api.VerbTicket:   {role: api.RoleSubmit},
	api.VerbUpload:   {role: api.RoleSubmit},
	api.VerbSubmit:   {role: api.RoleSubmit},
	// Their own: Profile.
	api.VerbProfilePut: {role: api.RoleSubmit},
	api.VerbProfileRm:  {role: api.RoleSubmit},
	api.VerbPin:        {role: api.RoleSubmit},
	api.VerbUnpin:      {role: api.RoleSubmit},
}

// Changes reports whether a request of that verb changes anything.
func Changes(verb api.Verb) bool {
	n, ok := needs[verb]
	return !ok || n.role != api.RoleView
}

// has reports whether p has role, or one that may more.
func has(p api.Principal, role api.Role) bool {
	if p.Operates() {
		return true
	}
	return p.Kind == api.PrincipalUser && (p.Role == role || p.Role == api.RoleSubmit && role == api.RoleView)
}

// Verb returns a KindDenied error unless p may use verb, if only for its own applications.
func Verb(p api.Principal, verb api.Verb) error {
	role := api.RoleOperate
	if n, ok := needs[verb]; ok {
		role = n.role
	}
	if has(p, role) {
		return nil
	}
	return lacks(p, "request "+string(verb), role)
}

// Owns reports whether what belongs to owner is p's to command: all is an operator's.
func Owns(p api.Principal, owner string) bool {
	return p.Operates() || p.Kind == api.PrincipalUser && p.Name == owner
}

// Own returns a KindDenied error unless p may use verb for an application that belongs to
// owner.
func Own(p api.Principal, verb api.Verb, app api.AppID, owner string) error {
	if !needs[verb].own || Owns(p, owner) {
		return nil
	}
	return api.Errorf(api.KindDenied, "application %s is not yours: request %s for others' needs the role %s", app, verb,
		api.RoleOperate)
}

// Profile returns a KindDenied error unless p may ask for owner's profiles, and, where it puts one that
// is shared, for that.
func Profile(p api.Principal, owner string, shares bool) error {
	switch {
	case p.Operates():
		return nil
	case owner != "" && !(p.Kind == api.PrincipalUser && p.Name == owner):
		return lacks(p, "to ask for another user's profiles", api.RoleOperate)
	case shares:
		return lacks(p, "to share a profile", api.RoleOperate)
	}
	return nil
}

// Register returns a KindDenied error unless p may register applications: users that submit,
// and an application again.
func Register(p api.Principal) error {
	if has(p, api.RoleSubmit) || p.Kind == api.PrincipalApplication {
		return nil
	}
	return lacks(p, "to register an application", api.RoleSubmit)
}

// Again returns a KindDenied error unless p may register the application app, which belongs
// to owner, once more.
func Again(p api.Principal, app api.AppID, owner string) error {
	switch {
	case p.Operates(), p.Kind == api.PrincipalApplication && p.Name == string(app), p.Kind == api.PrincipalUser &&
		p.Name == owner:
		return nil
	}
	return api.Errorf(api.KindDenied, "application %s of this submission is not yours", app)
}

func lacks(p api.Principal, what string, role api.Role) error {
	has := "you have none"
	if p.Role != "" {
		has = "yours is " + string(p.Role)
	}
	return api.Errorf(api.KindDenied,
		"%s needs the role %s, %s: ask an operator for `pacer auth issue --user %s --role %s`", what, role, has, p.Name, role)
}
