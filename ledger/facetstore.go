package ledger

import "strings"

// keep has a value of facet k saved under a key; of nil, the zero value, nothing is stored.
func (k *kind) keep(b *batch, key string, value any) held {
	h := held{value: value, batch: b.number}
	if value == nil {
		if !k.passing {
			b.put(key, nil)
		}
		return h
	}
	body, sum, err := encodeFacet(value)
	if h.sum = sum; k.passing && err == nil {
		return h
	}
	b.encoded(key, body, err)
	h.bytes = len(body)
	return h
}

// removeFacets removes all records of facets of x.
func removeFacets[T Subject](x T, b *batch) {
	for place, k := range *kindsOf[T]() {
		if facetsOf(x).at(place).value != nil && !k.passing {
			b.put(facetKey(k, x), nil)
		}
	}
}

// facetKey is that of the record of x's facet k.
func facetKey[T Subject](k *kind, x T) string {
	of := ""
	switch x := any(x).(type) {
	case *App:
		of = part(x.ID)
	case *Node:
		of = part(x.Node)
	case *Profile:
		of = strings.TrimPrefix(profileKey(x.id()), profilePrefix)
	}
	return facetPrefix + k.name + "/" + of
}
