package usage

import "testing"

func TestEntriesNameFormats(t *testing.T) {
	if len(stores()) < 15 {
		t.Errorf("%d agents have records that are read, want 15 or more", len(stores()))
	}
	for _, one := range stores() {
		if len(one.files) == 0 || len(one.roots) == 0 {
			t.Errorf("%s: %d kinds of files in %d folders; its entry's usage must name a format and folders", one.agent,
				len(one.files), len(one.roots))
		}
	}
}
