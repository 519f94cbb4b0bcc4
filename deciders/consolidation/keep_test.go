package consolidation

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sparkpacer/pacer/test/draws"
)

// Tables that are kept come back the same; of nothing come tables that know nothing.
func TestTablesAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := learnt(t, Default(), anyVMs(t))
		kept := q.Encode()
		back, err := Decode(kept)
		if err != nil || !bytes.Equal(back.Encode(), kept) {
			t.Fatalf("%d bytes: %v", len(kept), err)
		}
	})
	full := NewTables()
	for s := range full.Out {
		for a := range full.Out[s] {
			full.Out[s][a], full.In[s][a] = 1, -1
		}
	}
	if n := len(full.Encode()); n > 80<<10 {
		t.Errorf("all there can be takes %d bytes", n)
	}
	if q, err := Decode(nil); err != nil || len(q.Encode()) != 1 {
		t.Errorf("of nothing: %v", err)
	}
}

// Another layout, and what no table can have, is an error with tables that know nothing.
func TestWhatCannotBeReadIsLearntAnew(t *testing.T) {
	good := NewTables()
	good.In[1][2] = 3
	for _, kept := range [][]byte{{2}, {layout, 1}, append(good.Encode(), 0xff, 0xff, 0, 0, 0, 0), append(good.Encode(), 0, 0, 0x7f, 0xc0, 0, 0)} {
		if q, err := Decode(kept); err == nil || len(q.Encode()) != 1 && kept[0] != layout {
			t.Errorf("%v is read", kept)
		}
	}
}
