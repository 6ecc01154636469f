package archtest

import (
	"go/types"
	"strings"
	"testing"
)

// TestNobodyIsHandedADraw: a Draw has rows and noise, and what is recorded with it is released as
// it is. Types that cannot be named can still be inferred, so that a program outside can bring a
// function that takes a Draw to whatever asks for one: nothing of the kernel that it can import
// does, nor returns a Draw.
func TestNobodyIsHandedADraw(t *testing.T) {
	looked := 0
	for folder := range exported(t) {
		if !under(folder, "kernel") || under(folder, "kernel/internal", "kernel/kerneltest") { // which panics outside of tests
			continue
		}
		p := checkedPackage(t, folder, program)
		for _, name := range p.pkg.Scope().Names() {
			object := p.pkg.Scope().Lookup(name)
			if !object.Exported() {
				continue
			}
			var calls []*types.Signature
			switch of := object.(type) {
			case *types.Func:
				calls = append(calls, of.Type().(*types.Signature))
			case *types.TypeName:
				methods := types.NewMethodSet(types.NewPointer(of.Type()))
				for i := range methods.Len() {
					if m := methods.At(i).Obj(); m.Exported() {
						calls = append(calls, m.Type().(*types.Signature))
					}
				}
			}
			for _, s := range calls {
				looked++
				for v := range s.Params().Variables() {
					if takesDraw(v.Type(), map[types.Type]bool{}) {
						t.Errorf("%s.%s: %s asks for a function that is handed a Draw", folder, name, v.Type())
					}
				}
				for v := range s.Results().Variables() {
					if isDraw(v.Type()) {
						t.Errorf("%s.%s returns a Draw", folder, name)
					}
				}
			}
		}
	}
	if looked < 100 {
		t.Errorf("only %d functions were looked at: this test looks in the wrong place", looked)
	}
}

func isDraw(of types.Type) bool { return strings.HasSuffix(of.String(), "/kernel/internal/core.Draw") }

// takesDraw reports a function that takes a Draw, or what can hold one in a field that others can
// set.
func takesDraw(of types.Type, seen map[types.Type]bool) bool {
	if seen[of] {
		return false
	}
	seen[of] = true
	switch u := of.Underlying().(type) {
	case *types.Signature:
		for v := range u.Params().Variables() {
			if isDraw(v.Type()) {
				return true
			}
		}
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() && takesDraw(f.Type(), seen) {
				return true
			}
		}
	case *types.Pointer:
		return takesDraw(u.Elem(), seen)
	case *types.Slice:
		return takesDraw(u.Elem(), seen)
	case *types.Interface:
		for m := range u.Methods() {
			if m.Exported() && takesDraw(m.Type(), seen) {
				return true
			}
		}
	}
	return false
}
