package attached

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/cgroup"
	"github.com/sparkpacer/pacer/infra/executor"
)

// record is what is kept of an executor that is held.
type record struct {
	Handle executor.Handle `json:"handle"`
	// Hold is what is to be put back; nil where nothing was written.
	Hold *cgroup.Hold `json:"hold,omitempty"`
	// Proof is what its page has to show. It says nothing of the secret, and nothing to another process.
	Proof []byte `json:"proof"`
	// Unpaced is as in Executor.
	Unpaced string `json:"unpaced,omitempty"`
}

// recordSuffix ends the names of records.
const recordSuffix = ".json"

// records is the directory of records.
type records string

func (dir records) path(app api.AppID, id api.ExecutorID) string {
	return filepath.Join(string(dir), cgroup.GroupName(app, id)+recordSuffix)
}

// save writes r so that after a crash the file holds it, or what it held before.
func (dir records) save(r record) error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("attached: %w", err)
	}
	f, err := os.CreateTemp(string(dir), "new-*")
	if err != nil {
		return fmt.Errorf("attached: %w", err)
	}
	_, err = f.Write(body)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), dir.path(r.Handle.App, r.Handle.ID))
	}
	if err != nil {
		return fmt.Errorf("attached: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

func (dir records) remove(h executor.Handle) error {
	if err := os.Remove(dir.path(h.App, h.ID)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("attached: %w", err)
	}
	return nil
}

// load reads all records, in order of their names. Records that cannot be read are left out and named by the error,
// beside which the rest is valid.
func (dir records) load() (list []record, err error) {
	entries, err := os.ReadDir(string(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("attached: %w", err)
	}
	var faults []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), recordSuffix) {
			continue
		}
		var r record
		body, err := os.ReadFile(filepath.Join(string(dir), e.Name()))
		if err == nil {
			err = json.Unmarshal(body, &r)
		}
		if err == nil && dir.path(r.Handle.App, r.Handle.ID) != filepath.Join(string(dir), e.Name()) {
			err = errors.New("it is another executor's")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("attached: %s: %w", e.Name(), err))
			continue
		}
		list = append(list, r)
	}
	return list, errors.Join(faults...)
}

// PutBack puts back what a node controller has found whose records are in dir and that is gone, and
// returns how many executors it has let go. boot names the boot of the machine: what is of another one
// is gone. root is where cgroups are mounted, "" for the usual place.
func PutBack(dir, root, boot string) (int, error) {
	list, err := records(dir).load()
	faults := []error{err}
	n := 0
	for _, r := range list {
		var err error
		if r.Hold != nil && r.Handle.Boot == boot {
			n++
			err = r.Hold.PutBack(root)
		}
		if err == nil {
			err = records(dir).remove(r.Handle)
		}
		faults = append(faults, err)
	}
	return n, errors.Join(faults...)
}
