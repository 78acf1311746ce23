package engine

import (
	"reflect"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/quickjs"
)

// This file has everything that hookmux uses from the quickjs package although it is private
// there. TestPrivateFields fails when a new version of the package moves it, and
// TestPrivateFieldsStayHere when another file does something similar.
//
// Two parts need it, and the package offers nothing for either:
//   - renewStack replaces the stack of an idle engine (tlsField);
//   - rejections is called for promises that nothing handles (runtimePointer).
//
// Without the fields both do nothing: a daemon then keeps more memory after an endless
// recursion, and such promises aren't reported to a hook's author.

// privateRuntime returns the runtime that an engine holds; false if it isn't where it was.
func privateRuntime(vm *quickjs.VM) (reflect.Value, bool) {
	held := reflect.ValueOf(vm).Elem().FieldByName("runtime")
	if held.Kind() != reflect.Pointer || held.IsNil() || held.Elem().Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	return held.Elem(), true
}

// tlsField returns where an engine keeps its thread's state and stack; nil if it isn't where
// it was.
func tlsField(vm *quickjs.VM) **libc.TLS {
	runtime, ok := privateRuntime(vm)
	if !ok {
		return nil
	}
	field := runtime.FieldByName("tls")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*libc.TLS]() {
		return nil
	}
	return (**libc.TLS)(unsafe.Pointer(field.UnsafeAddr()))
}

// runtimePointer returns the engine's JSRuntime, as libquickjs takes it; 0 if it isn't where
// it was.
func runtimePointer(vm *quickjs.VM) uintptr {
	runtime, ok := privateRuntime(vm)
	if !ok {
		return 0
	}
	pointer := runtime.FieldByName("cRuntime")
	if pointer.Kind() != reflect.Uintptr {
		return 0
	}
	return uintptr(pointer.Uint())
}

// functionPointer returns a Go function as translated C code calls it.
func functionPointer(f any) uintptr {
	type iface [2]uintptr
	return (*iface)(unsafe.Pointer(&f))[1]
}
