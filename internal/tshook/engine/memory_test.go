package engine

import (
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"modernc.org/libc"
	"modernc.org/quickjs"
)

// Freed blocks leave memory, whatever their size, and those in
// use keep their content.
func TestDiscardFreed(t *testing.T) {
	await.Resident(t)
	if emptiedLater {
		t.Skip("here memory is taken back only when somebody else needs it")
	}
	fill := func(size int) uintptr {
		block := libc.Xmalloc(nil, libc.Tsize_t(size))
		if block == 0 {
			t.Fatal("no memory; want block != 0")
		}
		b := libc.GoBytes(block, size)
		for i := range b {
			b[i] = 7
		}
		return block
	}
	const kept = 3 << 20
	mine := fill(kept)
	defer libc.Xfree(nil, mine)
	ReleaseMemory()
	before := await.Resident(t)
	for _, size := range []int{40 << 10, 1 << 20, 20 << 20} {
		var list []uintptr
		for range max(2, 4<<20/size) {
			list = append(list, fill(size))
		}
		for _, block := range list {
			libc.Xfree(nil, block)
		}
	}
	await.ResidentBelow(t, before+4<<20, ReleaseMemory)
	for i, c := range libc.GoBytes(mine, kept) {
		if c != 7 {
			t.Fatalf("byte %d of a block in use is %d", i, c)
		}
	}
}

// A deep recursion's memory goes, and the engine stays as it was.
// This fails when the package around the engine keeps its stack elsewhere.
func TestRenewStack(t *testing.T) {
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	vm.SetMaxStackSize(maxDepth)
	deep := make(chan error)
	go func() {
		_, err := vm.Eval("globalThis.n = 0; const f = () => { n++; return f() + 1; }; try { f() } catch {}",
			quickjs.EvalGlobal)
		deep <- err
	}()
	if err := <-deep; err != nil {
		t.Fatal(err)
	}
	n, err := vm.Eval("n", quickjs.EvalGlobal)
	if depth, _ := n.(int); err != nil || depth < maxDepth/4 {
		t.Fatalf("went %v deep, %v; want no error and depth >= maxDepth/4", n, err)
	}
	ReleaseMemory()
	before := await.Resident(t)
	if !renewStack(vm) {
		t.Fatal("the engine's stack was not found")
	}
	if !emptiedLater {
		await.ResidentBelow(t, before-4<<20, ReleaseMemory)
	}
	for range 2 { // as deep as before
		if again, err := vm.Eval("n = 0; try { f() } catch {} n", quickjs.EvalGlobal); err != nil || again != n {
			t.Fatalf("afterwards %v deep, %v; before %v", again, err, n)
		}
		if !renewStack(vm) {
			t.Fatal("not at rest")
		}
	}
}
