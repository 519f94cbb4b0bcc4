package bus_test

import (
	"bytes"
	"testing"

	"github.com/sparkpacer/pacer/infra/bus"
)

// A file that one planner keeps another one reads, whole, until one of them removes it.
func TestPlannersHaveFilesTogether(t *testing.T) {
	s, c, own := jetStream(t)
	ctx := soonContext(t)
	b, err := c.OpenBucket(ctx, true, false)
	if err != nil {
		t.Fatal(err)
	}
	first, err := b.OpenObjects(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if sizes, err := first.Sizes(ctx); err != nil || len(sizes) != 0 {
		t.Errorf("a new bucket has %v, %v", sizes, err)
	}
	body := bytes.Repeat([]byte("content "), 300_000)
	for name, body := range map[string][]byte{"ann/1": body, "bob/2": nil} {
		if err := first.Put(ctx, name, bytes.NewReader(body)); err != nil {
			t.Fatal(err)
		}
	}
	if b, err = dial(t, bus.Options{Address: s.URL(), Credential: own}).OpenBucket(ctx, false, false); err != nil {
		t.Fatal(err)
	}
	second, err := b.OpenObjects(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if sizes, err := second.Sizes(ctx); err != nil || len(sizes) != 2 || sizes["ann/1"] != int64(len(body)) || sizes["bob/2"] != 0 {
		t.Errorf("the other planner has %v, %v", sizes, err)
	}
	var got bytes.Buffer
	if err := second.Get(ctx, "ann/1", &got); err != nil || !bytes.Equal(got.Bytes(), body) {
		t.Errorf("it reads %d bytes of %d, %v", got.Len(), len(body), err)
	}
	for range 2 {
		if err := second.Delete(ctx, "ann/1"); err != nil {
			t.Error(err)
		}
	}
	if sizes, err := first.Sizes(ctx); err != nil || len(sizes) != 1 || first.Get(ctx, "ann/1", &got) == nil {
		t.Errorf("what was removed is there: %v, %v", sizes, err)
	}
}
