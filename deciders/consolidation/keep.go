package consolidation

import (
	"encoding/binary"
	"fmt"
	"math"
)

// layout is that of kept tables: its number, then what is known, in order: two bytes of the place, four of the value.
const layout, entry = 1, 6

// Encode returns t as Decode reads it.
func (t *Tables) Encode() []byte {
	all := []byte{layout}
	for which, of := range []*Table{&t.Out, &t.In} {
		for i := range States * States {
			v := of[i/States][i%States]
			if v == v {
				all = binary.BigEndian.AppendUint16(all, uint16(which*States*States+i))
				all = binary.BigEndian.AppendUint32(all, math.Float32bits(v))
			}
		}
	}
	return all
}

// Decode reads tables that were kept; of nothing it makes such that know nothing.
func Decode(kept []byte) (*Tables, error) {
	t := NewTables()
	if len(kept) == 0 {
		return t, nil
	}
	if kept[0] != layout || len(kept)%entry != 1 {
		return t, fmt.Errorf("tables of layout %d in %d bytes, want layout %d", kept[0], len(kept), layout)
	}
	for at := kept[1:]; len(at) > 0; at = at[entry:] {
		i, v := int(binary.BigEndian.Uint16(at)), math.Float32frombits(binary.BigEndian.Uint32(at[2:]))
		if i >= 2*States*States || !(v > -1e6 && v < 1e6) {
			return NewTables(), fmt.Errorf("tables with %v at place %d", v, i)
		}
		of := &t.Out
		if i >= States*States {
			of, i = &t.In, i-States*States
		}
		of[i/States][i%States] = v
	}
	return t, nil
}
