package transcript

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// Whatever stands in a record: no format stumbles, and facts stay bounded.
func FuzzRows(f *testing.F) {
	for _, r := range readers {
		data, err := os.ReadFile(filepath.Join("testdata", r.file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 4096)])
	}
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use"},null,[],"x"]}}`))
	f.Add([]byte(`{"payload":{"item":{"command":[1,2]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, format := range formats {
			count := 0
			emit := func(fact Fact) {
				count++
				for _, s := range []string{fact.Text, fact.Turn, fact.Call, fact.Tool} {
					if len(s) > maxText {
						t.Fatalf("%s: %d bytes; want len(s) <= maxText", name, len(s))
					}
				}
				if utf8.Valid(data) && !utf8.ValidString(fact.Text) {
					t.Fatalf("%s: cut within a character", name)
				}
				if len(fact.Input) > maxText+64 {
					t.Fatalf("%s: input of %d bytes", name, len(fact.Input))
				}
			}
			format.row(data, "s1", emit)
			if count > len(data)+1 {
				t.Fatalf("%s: %d facts of %d bytes", name, count, len(data))
			}
			rows(data, format, emit)
		}
	})
}

// rows reads data as a file would be read, in two steps.
func rows(data []byte, f format, emit func(Fact)) {
	if f.whole {
		return
	}
	t := &Tail{format: f, session: "s1"}
	half := int64(len(data) / 2)
	file := readerAt(data)
	_ = t.readRows(file, 0, half, emit)
	_ = t.readRows(file, t.offset, int64(len(data))-t.offset, emit)
}

type readerAt []byte

func (r readerAt) ReadAt(p []byte, off int64) (int, error) {
	return copy(p, r[off:]), nil
}
