package engine

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"modernc.org/libc"
	engine "modernc.org/libquickjs"
)

// compileBytecode compiles a script without its text, its line numbers and the names of its
// variables. Engines keep these for every function, and hookmux's own code doesn't need them.
// The quickjs package doesn't offer this, so this calls libquickjs directly, in an engine
// that lives for this one call. Such code can't call import() itself.
func compileBytecode(text string) ([]byte, error) {
	tls := libc.NewTLS()
	defer tls.Close()
	rt := engine.XJS_NewRuntime(tls)
	if rt == 0 {
		return nil, errOutOfMemory
	}
	defer engine.XJS_FreeRuntime(tls, rt)
	ctx := engine.XJS_NewContext(tls, rt)
	if ctx == 0 {
		return nil, errOutOfMemory
	}
	defer engine.XJS_FreeContext(tls, ctx)
	engine.XJS_SetStripInfo(tls, rt, engine.MJS_STRIP_SOURCE|engine.MJS_STRIP_DEBUG)

	source, err := libc.CString(text)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(tls, source)
	name, err := libc.CString("<hookmux>")
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(tls, name)
	compiled := engine.XJS_Eval(tls, ctx, source, libc.Tsize_t(len(text)), name,
		engine.MJS_EVAL_TYPE_GLOBAL|engine.MJS_EVAL_FLAG_COMPILE_ONLY)
	defer engine.XFreeValue(tls, ctx, compiled)

	// The result must not lie on Go's stack, which moves.
	const word = int(unsafe.Sizeof(libc.Tsize_t(0)))
	size := tls.Alloc(word)
	defer tls.Free(word)
	written := engine.XJS_WriteObject(tls, ctx, size, compiled, engine.MJS_WRITE_OBJ_BYTECODE)
	if written == 0 {
		return nil, errors.New("does not compile")
	}
	defer engine.Xjs_free(tls, ctx, written)
	length := libc.GoBytes(size, word)
	var n uint64
	if word == 4 {
		n = uint64(binary.NativeEndian.Uint32(length))
	} else {
		n = binary.NativeEndian.Uint64(length)
	}
	return append([]byte(nil), libc.GoBytes(written, int(n))...), nil
}

var errOutOfMemory = errors.New("no memory for an engine")
