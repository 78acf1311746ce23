package actions

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/packstore"
	"github.com/hookmux/hookmux/internal/wire"
)

// describePack describes the installation of a pack, and says whether it is asked
// about: one that replaces another may refuse less, and rules that allow decide in the
// person's place.
func describePack(params json.RawMessage) (string, bool) {
	p := readInto[wire.PackAddParams](params)
	pack, _, err := packstore.FromParams(&p)
	if err != nil {
		return "add a pack of rules", false // which the method refuses
	}
	list, _ := pack.Rules() // one that is wrong is refused by the method
	var allows []string
	for _, r := range list {
		if r.MayAllow() {
			allows = append(allows, r.ID)
		}
	}
	text := fmt.Sprintf("add the pack of rules %s %s", pack.Name, pack.Version)
	if p.Replaces != "" {
		text = fmt.Sprintf("replace the pack of rules that's active with %s %s", pack.Name, pack.Version)
	}
	if len(allows) > 0 {
		text += ", which allows calls without a question: " + strings.Join(allows, ", ")
	}
	return text, p.Replaces != "" || len(allows) > 0
}
