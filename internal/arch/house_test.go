package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// source is one parsed file.
type source struct {
	pkg, name string
	fset      *token.FileSet
	file      *ast.File
}

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	for name, p := range packages(t) {
		for _, f := range p.GoFiles {
			fset := token.NewFileSet()
			parsed, err := parser.ParseFile(fset, filepath.Join(p.Dir, f), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, source{name, f, fset, parsed})
		}
	}
	return out
}

func (s source) lines(n ast.Node) int {
	return s.fset.Position(n.End()).Line - s.fset.Position(n.Pos()).Line + 1
}

// tables are functions that are data: allowed to be long, by name.
var tables = []string{"devFlags"}

func TestHouseRules(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, s := range sources(t) {
		documented[s.pkg] = documented[s.pkg] || s.file.Doc != nil
		if n := s.fset.Position(s.file.End()).Line; n > 500 {
			t.Errorf("%s/%s has %d lines, over 500", s.pkg, s.name, n)
		}
		for _, d := range s.file.Decls {
			s.checkDeclaration(t, d)
		}
	}
	for name, ok := range documented {
		if !ok {
			t.Errorf("package %s has no comment", name)
		}
	}
}

func (s source) checkDeclaration(t *testing.T, d ast.Decl) {
	t.Helper()
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.Name == "init" && d.Recv == nil {
			t.Errorf("%s/%s has an init", s.pkg, s.name)
		}
		if n := s.lines(d); n > 80 && !slices.Contains(tables, d.Name.Name) {
			t.Errorf("%s: %s has %d lines, over 80", s.pkg, d.Name.Name, n)
		}
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			t.Errorf("%s: %s has no comment", s.pkg, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if ts, ok := spec.(*ast.TypeSpec); ok {
				if ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil {
					t.Errorf("%s: type %s has no comment", s.pkg, ts.Name.Name)
				}
				if n := methods(ts.Type); n > 3 {
					t.Errorf("%s: interface %s has %d methods, over 3", s.pkg, ts.Name.Name, n)
				}
			}
		}
	}
}

// methods counts an interface's own methods, not those of what it embeds.
func methods(typ ast.Expr) int {
	i, ok := typ.(*ast.InterfaceType)
	if !ok {
		return 0
	}
	n := 0
	for _, f := range i.Methods.List {
		n += len(f.Names)
	}
	return n
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

// uses reports each call or mention of pkg.name for the given package.
func (s source) uses(pkg string) []string {
	imported := slices.ContainsFunc(s.file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"`+pkg+`"` })
	if !imported {
		return nil
	}
	base := pkg[strings.LastIndexByte(pkg, '/')+1:]
	var out []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == base && id.Obj == nil {
				out = append(out, sel.Sel.Name)
			}
		}
		return true
	})
	return out
}

func TestOnlyTheCommandKnowsTheProcess(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.pkg == "." || s.pkg == "internal/cli" || strings.HasPrefix(s.pkg, "samples") || strings.HasPrefix(s.pkg, "release/") {
			continue
		}
		for _, name := range s.uses("os") {
			if slices.Contains([]string{"Exit", "Getenv", "LookupEnv", "Environ", "Stdout", "Stderr", "Stdin", "Args"}, name) {
				t.Errorf("%s/%s uses os.%s", s.pkg, s.name, name)
			}
		}
		for _, name := range s.uses("fmt") {
			if strings.HasPrefix(name, "Print") {
				t.Errorf("%s/%s uses fmt.%s", s.pkg, s.name, name)
			}
		}
	}
}

func TestPureRooms(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if !slices.Contains([]string{"gate", "decision", "flow", "payload", "samples/hardship", "samples/feedback", "samples/approval"}, s.pkg) {
			continue
		}
		for _, name := range s.uses("time") {
			if slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "NewTimer", "Tick", "NewTicker"}, name) {
				t.Errorf("%s/%s uses time.%s", s.pkg, s.name, name)
			}
		}
		for _, i := range s.file.Imports {
			if path := strings.Trim(i.Path.Value, `"`); slices.Contains([]string{"os", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "sync"}, path) {
				t.Errorf("%s/%s imports %s", s.pkg, s.name, path)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s/%s starts a goroutine", s.pkg, s.name)
			}
			return true
		})
	}
}
