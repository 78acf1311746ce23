package engine

import (
	"sync"
	"sync/atomic"

	"modernc.org/libc"
	lib "modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// rejections are the promises of one engine that were rejected while nothing handled them.
// What still has no handler at the end of a turn is reported, as in Node. The quickjs package
// doesn't offer QuickJS's own notice of this, so it is set below the package.
type rejections struct {
	id   uintptr
	tls  *libc.TLS // of the turn in which a promise was rejected
	ctx  uintptr
	list []rejection
}

type rejection struct{ promise, reason lib.TJSValue }

// maxRejections limits how many are kept in one turn.
const maxRejections = 16

var (
	trackers   sync.Map // id → *rejections
	trackerIDs atomic.Uintptr
)

// trackRejections begins to collect an engine's rejections. It collects nothing if
// the quickjs package keeps its runtime elsewhere; TestFloatingRejection fails then.
func trackRejections(vm *quickjs.VM) *rejections {
	r := &rejections{id: trackerIDs.Add(1)}
	runtime := runtimePointer(vm)
	if runtime == 0 {
		return r
	}
	trackers.Store(r.id, r)
	lib.XJS_SetHostPromiseRejectionTracker(nil, runtime, functionPointer(noteRejection), r.id)
	return r
}

// noteRejection is called by QuickJS when a promise is rejected without a handler,
// and again when it gets one later.
func noteRejection(tls *libc.TLS, ctx uintptr, promise, reason lib.TJSValue, handled int32, id uintptr) {
	found, ok := trackers.Load(id)
	if !ok {
		return
	}
	r := found.(*rejections)
	if handled == 0 {
		if len(r.list) < maxRejections {
			r.tls, r.ctx = tls, ctx
			r.list = append(r.list, rejection{lib.XDupValue(tls, ctx, promise), lib.XDupValue(tls, ctx, reason)})
		}
		return
	}
	for i, one := range r.list {
		if one.promise == promise {
			r.list = append(r.list[:i], r.list[i+1:]...)
			lib.XFreeValue(tls, ctx, one.promise)
			lib.XFreeValue(tls, ctx, one.reason)
			return
		}
	}
}

// report passes each rejection to JavaScript, as the global __rejected.
func (r *rejections) report(enter func()) {
	list := r.list
	r.list = nil
	for _, one := range list {
		lib.XFreeValue(r.tls, r.ctx, one.promise)
		name, err := libc.CString("__rejected")
		if err != nil {
			lib.XFreeValue(r.tls, r.ctx, one.reason)
			continue
		}
		global := lib.XJS_GetGlobalObject(r.tls, r.ctx)
		lib.XJS_SetPropertyStr(r.tls, r.ctx, global, name, one.reason) // takes the reason over
		lib.XFreeValue(r.tls, r.ctx, global)
		libc.Xfree(r.tls, name)
		enter()
	}
}

// stopTracking frees what is left; the engine is about to be closed.
func (r *rejections) stopTracking() {
	trackers.Delete(r.id)
	for _, one := range r.list {
		lib.XFreeValue(r.tls, r.ctx, one.promise)
		lib.XFreeValue(r.tls, r.ctx, one.reason)
	}
	r.list = nil
}
