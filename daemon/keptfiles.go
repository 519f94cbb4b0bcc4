package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sparkpacer/pacer/api"
	"github.com/sparkpacer/pacer/infra/bus"
	"github.com/sparkpacer/pacer/infra/store"
)

// A backup holds, beside what the planner has stored, the files by which others know the planner and
// it knows them: without these a planner on a new disk refuses every node and user.

// keptPrefix is that of a backup's keys of such files, by their paths in the state directory.
const keptPrefix = "files/"

// mostKept is the largest such file that is taken.
const mostKept = 4 << 20

// keepFiles puts the files of a state directory into the copy of its store at path.
func keepFiles(state, path string) error {
	copied, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	pairs, err := keptPairs(state, copied)
	if err == nil {
		err = copied.Apply(pairs)
	}
	return errors.Join(err, copied.Close())
}

func keptPairs(state string, copied store.Store) ([]api.Pair, error) {
	var pairs []api.Pair
	add := func(name string, body []byte) {
		if len(body) > 0 {
			pairs = append(pairs, api.Pair{Key: keptPrefix + filepath.ToSlash(name), Value: body})
		}
	}
	shared, err := storeShelf{copied, fileShelf("")}.stored()
	if err != nil {
		return nil, err
	}
	who, err := filepath.Rel(state, string(principalsPath(state)))
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{credentialDir(state), filepath.Join(state, TLSDir)} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			name, err := filepath.Rel(state, filepath.Join(dir, e.Name()))
			if err != nil || !e.Type().IsRegular() || name == who && shared != nil {
				continue
			}
			body, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err == nil && len(body) > mostKept {
				err = fmt.Errorf("%s has %d bytes, at most %d are taken", name, len(body), mostKept)
			}
			if err != nil {
				return nil, err
			}
			add(name, body)
		}
	}
	add(who, shared)
	return pairs, nil
}

// takeFiles takes the files out of a backup that is to become a store.
func takeFiles(db store.Store) (map[string][]byte, error) {
	pairs, err := db.Load(keptPrefix)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for i, p := range pairs {
		name := filepath.FromSlash(strings.TrimPrefix(p.Key, keptPrefix))
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("it has a file %q, which is not of a state directory", p.Key)
		}
		files[name] = p.Value
		pairs[i].Value = nil
	}
	return files, db.Apply(pairs)
}

// writeFiles writes files that are not in a state directory yet, and returns those that are, and differ.
func writeFiles(state string, files map[string][]byte) (differ []string, err error) {
	for name, body := range files {
		path := filepath.Join(state, name)
		old, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = bus.WriteSecret(path, body)
		case err == nil && string(old) != string(body):
			differ = append(differ, path)
		}
		if err != nil {
			return nil, err
		}
	}
	return differ, nil
}
