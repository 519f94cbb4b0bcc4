package ledger

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/sparkpacer/pacer/api"
)

// Layout is that of the store, which this build alone reads:
//
//	planner/epoch         counters: newest epoch, application number and term; the store's name; what an operator wants
//	app/ID                a running application (appRecord)
//	app/ID/marks          what every event changes of it (markRecord)
//	app/ID/folded         stage attempts that were folded (profiles.Recorder)
//	app/ID/profile        the profile that it is matched to (api.Profile)
//	app/ID/stage/S.A      attempt A of its stage S (StageRecord)
//	app/ID/counters/S.A   what nodes told of it in all ([]Counters)
//	app/ID/usage          the CPU time of its executors, in core-seconds
//	app/ID/samples/S.A/N  a piece of that one's samples (appendSamples)
//	plan/NODE             a node and the epoch of its Plan (NodeRecord)
//	profile/NAME          a profile that is nobody's or shared (profileRecord)
//	profile/NAME/OWNER    a user's
//	history/ID            an application that is over (Ended)
//	runs/N                runs of applications that are over (Run), for longer than these
//	queue/KEY             what the queue's policy has learnt, in its own form
//	facet/FACET/ID        what a facet keeps of an application (Facet); in the place of ID there may be a NODE, or a
//	                      profile's NAME or NAME/OWNER
//
// Names are escaped as in a URL's path.
// All values but samples, counters and usage (appendNumbers) are JSON with the layout as
// "v". A Plan's content follows from its applications' records and is made again from
// them: a stage's event need not write a record for each of its nodes. Not kept:
// silences, who is connected; these come back with the next statuses; secrets, which drivers
// tell again (LaunchTold). Samples, and
// counters of running stages, may lack what came in the last seconds (flushEvery).
const Layout = 6

const (
	counterKey    = "planner/epoch"
	appPrefix     = "app/"
	planPrefix    = "plan/"
	profilePrefix = "profile/"
	historyPrefix = "history/"
	runsPrefix    = "runs/"
	queuePrefix   = "queue/"
	facetPrefix   = "facet/"
	// asidePrefix begins the keys of records that could not be read. They are not read again.
	asidePrefix = "aside/"
)

// Prefixes are those of all keys that a ledger saves: what is stored under
// them, and only that, is handed to New.
func Prefixes() []string {
	return []string{"planner/", appPrefix, planPrefix, profilePrefix, historyPrefix, runsPrefix, queuePrefix,
		facetPrefix}
}

// errLayout says that a record was written by another release, as all beside it were.
var errLayout = errors.New("its layout is another release's")

// otherLayout refuses a record of another layout.
func otherLayout(v int) error {
	return fmt.Errorf("%w: version %d, this planner reads %d: %s", errLayout, v, Layout, api.OtherRelease)
}

// ofLayout says what is wrong with the first byte of a record that is not JSON.
func ofLayout(b []byte) error {
	switch {
	case len(b) == 0:
		return errors.New("it is empty")
	case b[0] != Layout:
		return otherLayout(int(b[0]))
	}
	return nil
}

// part writes a name as one part of a key, without slashes and control characters: of at most three
// times its bytes, so that a key has less than api.MostKey.
func part[Name ~string](name Name) string { return url.PathEscape(string(name)) }

func appKey(id api.AppID) string                      { return appPrefix + part(id) }
func planKey(node string) string                      { return planPrefix + part(node) }
func historyKey(id api.AppID) string                  { return historyPrefix + part(id) }
func queueKey(key string) string                      { return queuePrefix + part(key) }
func ownProfile(id api.AppID) string                  { return appKey(id) + "/profile" }
func foldedKey(id api.AppID) string                   { return appKey(id) + "/folded" }
func stagePrefix(id api.AppID) string                 { return appKey(id) + "/stage/" }
func marksKey(id api.AppID) string                    { return appKey(id) + "/marks" }
func usageKey(id api.AppID) string                    { return appKey(id) + "/usage" }
func countersPrefix(id api.AppID) string              { return appKey(id) + "/counters/" }
func stageKey(id api.AppID, k api.StageKey) string    { return stagePrefix(id) + keyText(k) }
func countersKey(id api.AppID, k api.StageKey) string { return countersPrefix(id) + keyText(k) }
func samplesPrefix(id api.AppID) string               { return appKey(id) + "/samples/" }
func pieceKey(id api.AppID, k api.StageKey, number int) string {
	return samplesPrefix(id) + keyText(k) + "/" + strconv.Itoa(number)
}
func profileKey(id profileID) string {
	key := profilePrefix + part(id.name)
	if id.owner != "" {
		key += "/" + part(api.Shortened(id.owner))
	}
	return key
}

// profileID names a stored profile. A profile that is nobody's or shared has no owner.
type profileID struct{ name, owner string }

func keyText(k api.StageKey) string { return strconv.Itoa(k.Stage) + "." + strconv.Itoa(k.Attempt) }

// counterRecord is what is stored of a ledger itself.
type counterRecord struct {
	V      int    `json:"v"`
	Epoch  uint64 `json:"epoch"`
	Serial uint64 `json:"serial"`
	// Planner is the store's name, Term how often a planner has started on it.
	Planner string `json:"planner,omitempty"`
	Term    uint64 `json:"term,omitempty"`
	// Division is what an operator wants of all nodes.
	Division *api.Division `json:"division,omitempty"`
	// QueuePolicy is what an operator wants of the queue.
	QueuePolicy *api.QueuePolicy `json:"queue_policy,omitempty"`
}
