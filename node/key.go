package node

import (
	"cmp"

	"github.com/sparkpacer/pacer/api"
)

// Key names an executor on a node.
type Key struct {
	App api.AppID      `json:"app"`
	ID  api.ExecutorID `json:"id"`
}

// String prints k as "app/id".
func (k Key) String() string { return string(k.App) + "/" + string(k.ID) }

// Compare orders by application and then by the number of the id: ids are
// decimal without leading zeros, so a shorter one is smaller.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.App, o.App), cmp.Compare(len(k.ID), len(o.ID)), cmp.Compare(k.ID, o.ID))
}
