package bus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/synadia-io/orbit.go/jetstreamext"

	"github.com/sparkpacer/pacer/api"
)

const (
	// BucketName is that of the key-value bucket in which planners share their state.
	BucketName = "pacer-planner"
	// mostReplicas is how many servers of a cluster have it.
	mostReplicas = 3
	// graveTime is how long a server keeps that a key was deleted: nobody reads a bucket for
	// longer.
	graveTime = "1h"
	// operation is a header of NATS that its client has no name for.
	operation, deletion = "KV-Operation", "DEL"
)

// apiLevel is that of the first servers that write several messages or none (2.12).
const apiLevel = 2

// Bucket is a key-value bucket of JetStream. It is safe for concurrent use.
type Bucket struct {
	conn   *Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	// Replicas is how many servers have it.
	Replicas int
}

// ErrNoBucket says that there is no bucket, and none was made.
var ErrNoBucket = errors.New("the bucket is not there")

// JetStream reports whether the server that c is connected to has JetStream, of a release that
// OpenBucket can use; otherwise why not. Its error says that this cannot be known now.
func (c *Conn) JetStream(ctx context.Context) (why string, err error) {
	has, level := c.nats.ConnectedServerJetStream()
	if !c.nats.IsConnected() {
		return "", api.Errorf(api.KindTransient, "no connection to %s", c.address)
	}
	if has && level < apiLevel {
		return fmt.Sprintf("nats-server %s is older than 2.12", c.nats.ConnectedServerVersion()), nil
	}
	js, err := jetstream.New(c.nats)
	if err != nil {
		return "", c.callError("ask for JetStream", err)
	}
	info, err := js.AccountInfo(ctx)
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return "the NATS server has no JetStream", nil
	case err != nil && !has && c.nats.IsConnected() && c.nats.ConnectedClusterName() == "":
		return "the NATS server has no JetStream that the planner may use", nil
	case err != nil:
		return "", c.callError("ask for JetStream", err)
	case info.API.Level < apiLevel:
		return "the NATS server is older than 2.12", nil
	}
	return "", nil
}

// bucketConfig is the stream below the bucket: of each key the newest value, for ever.
func bucketConfig(replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "KV_" + BucketName, Description: "state of Pacer's planners", Subjects: []string{bucketSubject(">")},
		MaxMsgsPerSubject: 1, MaxMsgs: -1, MaxBytes: -1, MaxMsgSize: -1, MaxConsumers: -1, Discard: jetstream.DiscardNew,
		Replicas: replicas, DenyDelete: true, AllowRollup: true, AllowMsgTTL: true, AllowAtomicPublish: true,
	}
}

// OpenBucket returns the bucket in which planners share their state. It makes a bucket that is not there, with a copy
// on each of three servers of a cluster, if create says so; otherwise its error is ErrNoBucket. A cluster that has less
// servers now has one copy where alone says so: they may only have started. A bucket that does not keep what a planner
// needs it refuses.
func (c *Conn) OpenBucket(ctx context.Context, create, alone bool) (*Bucket, error) {
	js, err := jetstream.New(c.nats)
	if err != nil {
		return nil, c.callError("open "+BucketName, err)
	}
	stream, err := js.Stream(ctx, bucketConfig(1).Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if !create {
			return nil, ErrNoBucket
		}
		replicas := mostReplicas
		if alone || c.nats.ConnectedClusterName() == "" {
			replicas = 1
		}
		stream, err = js.CreateStream(ctx, bucketConfig(replicas))
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			stream, err = js.Stream(ctx, bucketConfig(1).Name) // Another planner was faster.
		}
	}
	if err != nil {
		return nil, c.callError("open bucket "+BucketName, err)
	}
	config := stream.CachedInfo().Config
	if config.Replicas < mostReplicas && stream.CachedInfo().Cluster != nil {
		// It may have been made when servers were missing.
		config.Replicas = mostReplicas
		if grown, err := js.UpdateStream(ctx, config); err == nil {
			stream = grown
		}
		config = stream.CachedInfo().Config
	}
	if err := fits(config); err != nil {
		return nil, err
	}
	return &Bucket{conn: c, js: js, stream: stream, Replicas: config.Replicas}, nil
}

// fits says what of a bucket loses what is written, or has it refused.
func fits(is jetstream.StreamConfig) error {
	want := bucketConfig(is.Replicas)
	var faults []string
	check := func(ok bool, what string) {
		if !ok {
			faults = append(faults, what)
		}
	}
	check(len(is.Subjects) == 1 && is.Subjects[0] == want.Subjects[0], "subjects")
	check(is.Retention == want.Retention && is.MaxAge == 0 && is.MaxMsgs <= 0 && is.MaxBytes <= 0,
		"a bound after which values are dropped or refused")
	check(is.MaxMsgsPerSubject == 1, "more than one value of a key")
	check(is.AllowAtomicPublish && is.AllowMsgTTL, "no atomic batches or times to live")
	check(!is.AllowDirect, "answers of servers that do not lead it")
	check(!is.Sealed && is.Mirror == nil && len(is.Sources) == 0 && is.Storage == jetstream.FileStorage && !is.NoAck,
		"a seal, a source, or no storage on disks")
	if faults != nil {
		return api.Errorf(api.KindInvalid,
			"bucket %s is not as a planner makes it: %s; mend that, or remove it with what is in it", BucketName,
			strings.Join(faults, ", "))
	}
	return nil
}

// Newest implements store.Shared: what the leader of the bucket's servers says.
func (b *Bucket) Newest(ctx context.Context, key string) ([]byte, uint64, error) {
	m, err := b.stream.GetLastMsgForSubject(ctx, keySubject(key))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, 0, nil
	case errors.Is(err, jetstream.ErrStreamNotFound):
		err = ErrNoBucket
	}
	if err != nil {
		return nil, 0, b.conn.callError("read "+key+" of bucket "+BucketName, err)
	}
	if m.Header.Get(operation) != "" {
		return nil, m.Sequence, nil
	}
	return append([]byte{}, m.Data...), m.Sequence, nil
}

// Write implements store.Shared.
func (b *Bucket) Write(ctx context.Context, changes []api.Pair, last uint64) (uint64, error) {
	var batch []*nats.Msg
	for _, c := range changes {
		m := nats.NewMsg(keySubject(c.Key))
		if strings.HasPrefix(m.Subject, bucketSubject(digestToken)) {
			m.Header.Set(keyHeader, escape(c.Key))
		}
		if m.Data = c.Value; c.Value == nil {
			m.Header.Set(operation, deletion)
			m.Header.Set(jetstream.MsgTTLHeader, graveTime)
		}
		batch = append(batch, m)
	}
	if len(batch) > 0 {
		batch[len(batch)-1].Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(last, 10))
	}
	ack, err := jetstreamext.PublishMsgBatch(ctx, b.js, batch, jetstreamext.BatchFlowControl{})
	var refused *jetstream.APIError
	switch {
	case err == nil:
		return ack.Sequence, nil
	case errors.As(err, &refused) && slices.Contains(overtaken, refused.ErrorCode):
		return 0, api.Errorf(api.KindConflict, "write to bucket %s: %s was changed by another one", BucketName,
			changes[len(changes)-1].Key)
	}
	return 0, b.conn.callError("write to bucket "+BucketName, err)
}

// overtaken is what a server says of a write that expects another revision.
var overtaken = []jetstream.ErrorCode{jetstream.JSErrCodeStreamWrongLastSequence,
	jetstream.JSErrCodeStreamWrongLastSequenceConstant}

// answerTime is after how long without a word servers are asked again for what is in the bucket, the first time. A
// cluster of busy servers loses one question in fifty to have a consumer made.
const answerTime = 500 * time.Millisecond

// errSilent says that servers have said nothing for as long, or left something out.
var errSilent = errors.New("servers do not answer")

// Read implements store.Shared.
func (b *Bucket) Read(ctx context.Context, until uint64, visit func(api.Pair)) error {
	err := errSilent
	for within := answerTime; errors.Is(err, errSilent) && ctx.Err() == nil; within *= 2 {
		err = b.read(ctx, within, until, visit)
	}
	if err == nil {
		return nil
	}
	return b.conn.callError("read bucket "+BucketName, err)
}

// read is a try of Read, in which each answer comes within that time.
func (b *Bucket) read(ctx context.Context, within time.Duration, until uint64, visit func(api.Pair)) error {
	var consumer jetstream.Consumer
	err := answered(ctx, within, func(ctx context.Context) (err error) {
		consumer, err = b.js.CreateConsumer(ctx, bucketConfig(1).Name,
			jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
				FilterSubject: bucketSubject(">"), AckPolicy: jetstream.AckNonePolicy, Replicas: 1, MemoryStorage: true,
				InactiveThreshold: 10 * time.Second})
		return err
	})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(512))
	if err != nil {
		return err
	}
	defer messages.Stop()
	for seen, n := uint64(0), uint64(1); seen < until; n++ {
		var m jetstream.Msg
		err := answered(ctx, within, func(ctx context.Context) (err error) {
			m, err = messages.Next(jetstream.NextContext(ctx))
			return err
		})
		if err != nil {
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		if meta.Sequence.Consumer != n {
			return errSilent
		}
		text := m.Headers().Get(keyHeader)
		if text == "" {
			text = strings.TrimPrefix(m.Subject(), bucketSubject(""))
		}
		key, err := unescape(text)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Subject(), err)
		}
		pair := api.Pair{Key: key}
		if m.Headers().Get(operation) == "" {
			pair.Value = append([]byte{}, m.Data()...)
		}
		visit(pair)
		seen = max(seen, meta.Sequence.Stream)
	}
	return nil
}

// answered bounds a question: its error is errSilent after that time.
func answered(ctx context.Context, within time.Duration, ask func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := ask(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	return err
}

// mostSubject is the longest subject under which a key is written as it is. A server cuts off who
// sends a line of more than 4,096 bytes: that has the subject, an address for the answer and two
// numbers.
const mostSubject = 4000

// A key whose subject would be longer is written under its digest, in two tokens as no other key
// is, and stands in a header.
const (
	digestToken = "sha256."
	keyHeader   = "Pacer-Key"
)

// keySubject is where a key is written.
func keySubject(key string) string {
	subject := bucketSubject(escape(key))
	if len(subject) > mostSubject {
		sum := sha256.Sum256([]byte(key))
		subject = bucketSubject(digestToken + hex.EncodeToString(sum[:]))
	}
	return subject
}

// escape writes a key with the characters that one may have: others as = and two hexadecimal
// digits.
func escape(key string) string {
	var b strings.Builder
	for _, c := range []byte(key) {
		if plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}

func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '/' || c == '-' || c == '_'
}

// unescape is the key that escape has written.
func unescape(text string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if plain(text[i]) {
			b.WriteByte(text[i])
			continue
		}
		if text[i] != '=' || i+2 >= len(text) {
			return "", errors.New("no key of a planner's")
		}
		c, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
		if err != nil {
			return "", errors.New("no key of a planner's")
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), nil
}
