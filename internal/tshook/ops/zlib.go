package ops

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxUnpacked limits what a few packed bytes may grow to.
const maxUnpacked = 32 << 20

// compressData packs and unpacks bytes in the three forms of node:zlib.
func compressData(args json.RawMessage) (any, error) {
	v, err := readArgs[struct {
		How  string
		Data []byte
	}](args)
	if err != nil {
		return nil, err
	}
	in := bytes.NewReader(v.Data)
	var from io.Reader
	switch v.How {
	case "gzip", "deflate", "deflateRaw":
		return compressBytes(v.How, v.Data)
	case "gunzip":
		from, err = gzip.NewReader(in)
	case "inflate":
		from, err = zlib.NewReader(in)
	case "inflateRaw":
		from = flate.NewReader(in)
	default:
		return nil, fmt.Errorf("%s: no such form", v.How)
	}
	if err != nil {
		return nil, &namedError{"Error", "Z_DATA_ERROR", v.How + ": " + err.Error()}
	}
	out, err := io.ReadAll(io.LimitReader(from, maxUnpacked+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, &namedError{"Error", "Z_BUF_ERROR", v.How + ": unexpected end of file"}
	case err != nil:
		return nil, &namedError{"Error", "Z_DATA_ERROR", v.How + ": " + err.Error()}
	case len(out) > maxUnpacked:
		return nil, &namedError{"RangeError", "ERR_BUFFER_TOO_LARGE",
			fmt.Sprintf("%s: more than %d MiB", v.How, maxUnpacked>>20)}
	}
	return out, nil
}

func compressBytes(how string, data []byte) (any, error) {
	var out bytes.Buffer
	var to io.WriteCloser
	switch how {
	case "gzip":
		to = gzip.NewWriter(&out)
	case "deflate":
		to = zlib.NewWriter(&out)
	default:
		to, _ = flate.NewWriter(&out, flate.DefaultCompression) // the level is a valid one
	}
	if _, err := to.Write(data); err != nil {
		return nil, err
	}
	if err := to.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
