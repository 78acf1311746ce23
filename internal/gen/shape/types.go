package main

import "go/ast"

// typeSizes counts what belongs to each type of the tree, whichever way it is written:
// its methods, functions that take a pointer to it first, and what belongs to a wrapper
// that only embeds a pointer to it. Types are named "folder.Type".
type typeSizes struct {
	count    map[string]int
	wrappers map[string]string // wrapper → the type inside
}

func newTypeSizes() typeSizes {
	return typeSizes{count: map[string]int{}, wrappers: map[string]string{}}
}

func (t typeSizes) readDeclaration(folder string, decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if name := ownerOf(decl); name != "" {
			t.count[folder+"."+name]++
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			if named, ok := spec.(*ast.TypeSpec); ok {
				if inside := wrappedType(named.Type); inside != "" {
					t.wrappers[folder+"."+named.Name.Name] = folder + "." + inside
				}
			}
		}
	}
}

// methods is the count of each type, with its wrappers'.
func (t typeSizes) methods() map[string]int {
	all := map[string]int{}
	for name, n := range t.count {
		for seen := 0; t.wrappers[name] != "" && seen < len(t.wrappers); seen++ {
			name = t.wrappers[name]
		}
		all[name] += n
	}
	return all
}

// ownerOf names the type that a function belongs to: its receiver's, or the one of its
// own package that its first parameter points to.
func ownerOf(fn *ast.FuncDecl) string {
	if fn.Recv != nil && len(fn.Recv.List) == 1 {
		return typeName(fn.Recv.List[0].Type)
	}
	if fn.Type.Params.NumFields() == 0 {
		return ""
	}
	if pointer, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr); ok {
		return typeName(pointer.X)
	}
	return ""
}

// wrappedType names the type of the same package that a struct embeds a pointer to and
// has nothing besides.
func wrappedType(e ast.Expr) string {
	structure, ok := e.(*ast.StructType)
	if !ok || len(structure.Fields.List) != 1 || len(structure.Fields.List[0].Names) > 0 {
		return ""
	}
	if pointer, ok := structure.Fields.List[0].Type.(*ast.StarExpr); ok {
		return typeName(pointer.X)
	}
	return ""
}

// typeName is the name of a type of the same package, without its pointer and its
// parameters; "" for any other.
func typeName(e ast.Expr) string {
	switch t := e.(type) {
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
