package profiles

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sparkpacer/pacer/api"
)

// inColumns is the member of a packed object that stands for a list of objects, as the lists of their members.
const inColumns = "\x00"

// packedDigits are those that numbers keep of what runs have taught: no two runs agree in more. coarse are the
// members of which runs differ by more.
const packedDigits = 4

var coarse = map[string]int{"residuals": 2, "doubt": 2, "spread": 2, "fixed_part": 2, "power": 3, "gap_s": 3,
	"longest_task_s": 3, "task_cost_core_seconds": 3}

// packedNames is what packed profiles have in common. It stays as it is: those that are stored need it.
const packedNames = `"missed":[null,"left_out":[,"warmup_core_seconds":[,"reading":[,"task_cores":[,"shape":["nth":[0` +
	`,0,"exchange":[-1,"query":{"\u0000":{,"exits_s":[,"reordered":0.,"share":0.,"schema":1,"stages":` +
	`{"\u0000":{"bytes":[,"bytes_written":[,"core_seconds":[,"duration_s":[,"fixed_part":[null,"gap_s` +
	`":[0,0,0,"id":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,"job":[0,0,0,1,1,1,2,2` +
	`,2,"lineage":["","longest_task_s":[0.0,"name":["count at ","map at ","save at ","nominal_rate":[` +
	`0,0,0,0,0,0,"parents":[null,[0],[1],[2],[],"records":[1000,"records_written":[0,0,"signature":["` +
	`","task_cost_core_seconds":[null,"tasks":[200,1,{"cores":16,"duration_s":,"executor_start_core_s` +
	`econds":,"exit_s":0.,"habit":{"pool":"","stages":{"\u0001":{"\u0000":{"\u0002":["0","1","10","11` +
	`","12","13","14","growth":{"\u0000":{"by":["bytes","bytes","doubt":[0.0,"power":[1,1.0,0.9,"runs` +
	`":[12,12,"spread":[0.02,0.03,"jump":{"residuals":{"\u0000":{"unforeseen_s":[[0,0,0,0,0,0,0,0,0],` +
	`[0.0,"head_s":,"tail_s":0.`

// Pack is p in few bytes: JSON in which objects of a list share the names of their members, compressed. Of a
// profile that runs have taught fractions keep packedDigits digits, and growth its power: runs go on teaching
// another version. It takes a tenth of a second for the largest profiles.
func Pack(p api.Profile) ([]byte, error) {
	digits := 0
	if p.Runs > 0 {
		digits = packedDigits
		p.Habit.Stages = maps.Clone(p.Habit.Stages)
		for id, h := range p.Habit.Stages {
			h.Growth = api.Growth{Power: h.Growth.Power, Doubt: h.Growth.Doubt, By: h.Growth.By, Runs: h.Growth.Runs}
			if h.BytesRemote != nil {
				h.BytesRemote, h.BytesCached = new(rounded(*h.BytesRemote)), rounded(h.BytesCached)
			}
			p.Habit.Stages[id] = h
		}
		p.Stages = slices.Clone(p.Stages)
		for i := range p.Stages {
			s := &p.Stages[i]
			for _, size := range []*int64{&s.Records, &s.Bytes, &s.RecordsWritten, &s.BytesWritten} {
				*size = rounded(*size)
			}
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("pack profile %s: %w", p.Name, err)
	}
	v, err := anyOf(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("pack profile %s: %w", p.Name, err)
	}
	var packed bytes.Buffer
	w, err := flate.NewWriterDict(&packed, flate.BestCompression, []byte(packedNames))
	if err == nil {
		err = json.NewEncoder(w).Encode(columns(v, digits))
	}
	if err == nil {
		err = w.Close()
	}
	return packed.Bytes(), err
}

// mostUnpacked is how many bytes a packed profile may have as JSON.
const mostUnpacked = 64 << 20

// Unpack is the profile that was packed.
func Unpack(packed []byte) (p api.Profile, err error) {
	v, err := anyOf(io.LimitReader(flate.NewReaderDict(bytes.NewReader(packed), []byte(packedNames)), mostUnpacked))
	if err != nil {
		return p, fmt.Errorf("unpack a profile: %w", err)
	}
	text, err := json.Marshal(rows(v))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		return api.Profile{}, fmt.Errorf("unpack a profile: %w", err)
	}
	return p, nil
}

// rounded is a size, which stands for tasks where it is small, with packedDigits digits.
func rounded(n int64) int64 {
	unit := int64(1)
	for n >= 100_000 && n/unit >= 10_000 {
		unit *= 10
	}
	return (n + unit/2) / unit * unit
}

func anyOf(r io.Reader) (v any, err error) {
	d := json.NewDecoder(r)
	d.UseNumber()
	return v, d.Decode(&v)
}

// columns is v with lists of objects as lists of their members, and fractions of so many digits.
func columns(v any, digits int) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && digits > 0 && strings.ContainsAny(v.String(), ".eE") {
			return json.Number(strings.Replace(strconv.FormatFloat(f, 'g', digits, 64), "e-0", "e-", 1))
		}
	case map[string]any:
		for key := range v {
			v[key] = columns(v[key], min(digits, cmp.Or(coarse[key], digits)))
		}
	case []any:
		shared := map[string]any{}
		for i := range v {
			object, is := v[i].(map[string]any)
			if !is {
				v[i] = columns(v[i], digits)
			}
			for key, member := range object {
				if shared[key] == nil {
					shared[key] = make([]any, len(v))
				}
				shared[key].([]any)[i] = member
			}
		}
		if len(shared) > 0 {
			return map[string]any{inColumns: columns(shared, digits)}
		}
	}
	return v
}

// rows is what columns was made of. A member without a value is left out.
func rows(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = rows(v[i])
		}
	case map[string]any:
		for key, member := range v {
			v[key] = rows(member)
		}
		if shared, is := v[inColumns].(map[string]any); is {
			var list []any
			for key, column := range shared {
				cells, _ := column.([]any)
				list = append(list, make([]any, max(0, len(cells)-len(list)))...)
				for i, cell := range cells {
					of, _ := list[i].(map[string]any)
					if of == nil && cell != nil {
						of = map[string]any{}
						list[i] = of
					}
					if cell != nil {
						of[key] = cell
					}
				}
			}
			return list
		}
	}
	return v
}
