package bus

import (
	"context"
	"errors"
	"io"

	"github.com/nats-io/nats.go/jetstream"
)

// ObjectsName is that of the object bucket in which planners that share their state have the files of drivers.
const ObjectsName = "pacer-uploads"

// Objects are the files of that bucket, by name. They are safe for concurrent use.
type Objects struct {
	conn  *Conn
	store jetstream.ObjectStore
}

// OpenObjects returns the bucket, with as many copies as the planners' own has; it makes one that is not there.
func (b *Bucket) OpenObjects(ctx context.Context) (*Objects, error) {
	s, err := b.js.ObjectStore(ctx, ObjectsName)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		s, err = b.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: ObjectsName,
			Description: "files of drivers that nodes start for Pacer", Replicas: b.Replicas})
		if errors.Is(err, jetstream.ErrBucketExists) {
			s, err = b.js.ObjectStore(ctx, ObjectsName) // Another planner was faster.
		}
	}
	if err != nil {
		return nil, b.conn.callError("open object bucket "+ObjectsName, err)
	}
	return &Objects{b.conn, s}, nil
}

// Sizes are the files that are there, with their bytes.
func (o *Objects) Sizes(ctx context.Context) (map[string]int64, error) {
	all, err := o.store.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, o.conn.callError("list "+ObjectsName, err)
	}
	sizes := map[string]int64{}
	for _, info := range all {
		sizes[info.Name] = int64(info.Size)
	}
	return sizes, nil
}

// Put keeps a file: all of it, or nothing.
func (o *Objects) Put(ctx context.Context, name string, from io.Reader) error {
	if _, err := o.store.Put(ctx, jetstream.ObjectMeta{Name: name}, from); err != nil {
		return o.conn.callError("write to "+ObjectsName, err)
	}
	return nil
}

// Get writes a file to an open one; it is damaged, or not there, where it returns an error.
func (o *Objects) Get(ctx context.Context, name string, to io.Writer) error {
	r, err := o.store.Get(ctx, name)
	if err == nil {
		_, err = io.Copy(to, r)
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return o.conn.callError("read "+ObjectsName, err)
	}
	return nil
}

// Delete removes a file; one that is not there is none.
func (o *Objects) Delete(ctx context.Context, name string) error {
	if err := o.store.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return o.conn.callError("delete from "+ObjectsName, err)
	}
	return nil
}
