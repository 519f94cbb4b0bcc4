package api

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// AppID names an application, as in "app-20261121043012-0001-3fa94c-8d969eef6ecad3c2": when it
// came in UTC, which one of its planner it is, a mark of that planner's store, and whose it is
// (OwnerOf). A planner without a store leaves out the last two, older ones have left out the last
// one. Ids sort by time. Planners make them (NewAppID), nobody else.
type AppID string

// markBytes is how many bytes the mark of a planner's store has: two stores have the same one
// in one of 16 million cases.
const markBytes = 3

// NewAppID is the id of an application that comes at a moment: the serial-th of the planner whose
// store has that name, "" for one without a store. Planners without common state may both serve
// for a moment, and would give the same serial in the same second; executors of two applications
// would be taken for one's.
func NewAppID(at time.Time, serial uint64, store, submission string) AppID {
	id := fmt.Sprintf("app-%s-%04d", at.UTC().Format("20060102150405"), serial)
	if store != "" {
		sum := sha256.Sum256([]byte("pacer planner " + store))
		id += "-" + hex.EncodeToString(sum[:markBytes]) + "-" + OwnerOf(submission)
	}
	return AppID(id)
}

var madeID = regexp.MustCompile(`^app-[0-9]{14}-[0-9]{4,20}(-[0-9a-f]{6}(-[0-9a-f]{16})?)?$`)

// Made reports whether a planner can have made id: no other text is believed to be one. It is one
// token of a subject, part of a path, and no login of a user, node or planner.
func (id AppID) Made() bool { return len(id) <= MostToken && madeID.MatchString(string(id)) }

// Of reports whether id itself says that it was made for that submission.
func (id AppID) Of(submission string) bool {
	return id.Made() && strings.Count(string(id), "-") == 4 && strings.HasSuffix(string(id), "-"+OwnerOf(submission))
}

// Whose names who had cores that another application asked for: "" is what is not Pacer's.
func (id AppID) Whose() string { return cmp.Or(string(id), "what is not Pacer's") }
