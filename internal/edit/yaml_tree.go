package edit

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

type yamlKind int

const (
	yamlNothing yamlKind = iota // a key or dash with no value after it
	yamlScalar
	yamlMap
	yamlList
	yamlAlias
)

// yamlNode is a value and its position.
type yamlNode struct {
	kind       yamlKind
	flow       bool // written with brackets
	pair       bool // a map without brackets in a list with them: [a: 1]
	block      bool // a scalar with | or >
	start, end int
	last       int // index of its last token
	items      []yamlItem
	anchor     string // its own, or the one it refers to
	tag        string
	value      any
}

type yamlItem struct {
	key        string
	start, end int
	colon      int // after the colon or the dash
	comma      int
	merge      bool
	node       *yamlNode
}

// yamlDoc is a parsed YAML text.
type yamlDoc struct {
	*lines
	plainDoc // aliases and merges resolved
	spans    []span
	at       map[*token.Token]int
	root     *yamlNode
	anchors  map[string]*yamlNode
	aliases  map[string]bool
	marks    []string // anchors, aliases and tags, in order
}

// maxNodes bounds what aliases can blow a text up to.
const maxNodes = 200_000

func parseYAML(src []byte) (*yamlDoc, error) {
	t, err := newLines(src)
	if err != nil {
		return nil, err
	}
	d := &yamlDoc{lines: t, anchors: map[string]*yamlNode{}, aliases: map[string]bool{}}
	file, spans, at, err := lexYAML(t)
	if err != nil {
		return nil, err
	}
	d.spans, d.at = spans, at
	var body ast.Node
	seen := 0
	for _, doc := range file.Docs {
		if _, ok := doc.Body.(*ast.DirectiveNode); ok {
			continue
		}
		if seen++; seen > 1 {
			where := Position{1, 1}
			if doc.Start != nil {
				where.Line = doc.Start.Position.Line
			}
			return nil, &SyntaxError{where, "several documents in one file; change it by hand"}
		}
		body = doc.Body
	}
	if d.root, err = d.node(body, false, -1); err != nil {
		return nil, err
	}
	budget := maxNodes
	if d.plain, err = d.resolve(d.root, &budget, 0); err != nil {
		return nil, err
	}
	return d, nil
}

var errUnclearYAML = errors.New("unclear YAML; change it by hand")

// node reads one value; after is the token before it, for a value that has none.
func (d *yamlDoc) node(n ast.Node, inFlow bool, after int) (*yamlNode, error) {
	switch v := n.(type) {
	case nil:
		return d.emptyNode(after), nil
	case *ast.MappingNode:
		return d.mapping(v.Values, v.IsFlowStyle, v.Start, v.End, inFlow)
	case *ast.MappingValueNode:
		return d.mapping([]*ast.MappingValueNode{v}, v.IsFlowStyle, nil, nil, inFlow)
	case *ast.SequenceNode:
		return d.sequence(v)
	case *ast.AnchorNode:
		return d.marked(v.Start, v.Name, "&", v.Value, inFlow)
	case *ast.TagNode:
		return d.marked(v.Start, nil, v.Start.Value, v.Value, inFlow)
	case *ast.AliasNode:
		i, ok := d.at[v.Start]
		if !ok || v.Value == nil || i+1 >= len(d.spans) {
			return nil, errUnclearYAML
		}
		name := v.Value.GetToken().Value
		d.aliases[name] = true
		d.marks = append(d.marks, "*"+name)
		if d.anchors[name] == nil {
			return nil, &SyntaxError{d.position(d.spans[i].start), fmt.Sprintf("*%s refers to nothing", name)}
		}
		return &yamlNode{kind: yamlAlias, anchor: name, start: d.spans[i].start, end: d.spans[i+1].end, last: i + 1},
			nil
	case *ast.LiteralNode:
		i, ok := d.at[v.Start]
		if !ok || v.Value == nil {
			return nil, errUnclearYAML
		}
		last, ok := d.at[v.Value.Token]
		if !ok {
			last = i
		}
		return &yamlNode{kind: yamlScalar, block: true, start: d.spans[i].start, end: d.spans[last].end, last: last,
			value: v.Value.Value}, nil
	case *ast.NullNode:
		if _, ok := d.at[v.Token]; !ok {
			return d.emptyNode(after), nil
		}
	}
	i, ok := d.at[n.GetToken()]
	if !ok {
		return nil, errUnclearYAML
	}
	s, isScalar := n.(ast.ScalarNode)
	if !isScalar {
		return nil, errUnclearYAML
	}
	return &yamlNode{kind: yamlScalar, start: d.spans[i].start, end: d.spans[i].end, last: i,
		value: normalizeValue(s.GetValue())}, nil
}

func (d *yamlDoc) emptyNode(after int) *yamlNode {
	n := &yamlNode{kind: yamlNothing, last: after}
	if after >= 0 {
		n.start, n.end = d.spans[after].end, d.spans[after].end
	}
	return n
}

// marked reads a value after an anchor or a tag.
func (d *yamlDoc) marked(start *token.Token, name ast.Node, mark string, value ast.Node, inFlow bool) (*yamlNode,
	error) {
	i, ok := d.at[start]
	if !ok {
		return nil, errUnclearYAML
	}
	after := i
	if name != nil {
		if after, ok = d.at[name.GetToken()]; !ok {
			return nil, errUnclearYAML
		}
		mark += name.GetToken().Value
	}
	d.marks = append(d.marks, mark)
	n, err := d.node(value, inFlow, after)
	if err != nil {
		return nil, err
	}
	n.start = d.spans[i].start
	if name != nil {
		n.anchor = name.GetToken().Value
		if d.anchors[n.anchor] != nil {
			return nil, &SyntaxError{d.position(n.start),
				fmt.Sprintf("&%s means two things; change it by hand", n.anchor)}
		}
		d.anchors[n.anchor] = n
	} else {
		n.tag = mark
	}
	return n, nil
}

func (d *yamlDoc) mapping(values []*ast.MappingValueNode, flow bool, open, end *token.Token, inFlow bool) (*yamlNode,
	error) {
	n := &yamlNode{kind: yamlMap, flow: flow || inFlow}
	if o, ok := d.at[open]; n.flow && ok && d.spans[o].kind == token.MappingStartType {
		c, ok := d.at[end]
		if !ok {
			return nil, errUnclearYAML
		}
		n.start, n.end, n.last = d.spans[o].start, d.spans[c].end, c
	} else if n.flow {
		n.pair = true
	}
	for _, v := range values {
		it := yamlItem{comma: -1}
		key, err := d.node(keyOf(v.Key), n.flow, -1)
		if err != nil {
			return nil, err
		}
		it.start = key.start
		after := key.last
		if mark, ok := v.Key.(*ast.MappingKeyNode); ok {
			i, ok := d.at[mark.Start]
			if !ok {
				return nil, errUnclearYAML
			}
			it.start, after = d.spans[i].start, max(after, i)
		}
		_, it.merge = keyOf(v.Key).(*ast.MergeKeyNode)
		if key.kind == yamlScalar {
			it.key = fmt.Sprint(keyText(keyOf(v.Key), key))
		} else {
			it.key = "? " + strconv.Itoa(key.start) // no name anybody could ask for
		}
		it.colon = d.spans[max(after, 0)].end
		if i, ok := d.at[v.Start]; ok && d.spans[i].kind == token.MappingValueType {
			after, it.colon = i, d.spans[i].end
		}
		if it.node, err = d.node(v.Value, n.flow, after); err != nil {
			return nil, err
		}
		it.end = it.node.end
		n.items = append(n.items, it)
	}
	return n, d.closeNode(n)
}

// keyOf returns the key after a question mark.
func keyOf(k ast.MapKeyNode) ast.Node {
	if mark, ok := k.(*ast.MappingKeyNode); ok {
		return mark.Value
	}
	return k
}

func keyText(n ast.Node, key *yamlNode) any {
	if s, ok := key.value.(string); ok {
		return s
	}
	return n.GetToken().Value
}

func (d *yamlDoc) sequence(v *ast.SequenceNode) (*yamlNode, error) {
	n := &yamlNode{kind: yamlList, flow: v.IsFlowStyle}
	if n.flow {
		o, ok := d.at[v.Start]
		c, ok2 := d.at[v.End]
		if !ok || !ok2 {
			return nil, errUnclearYAML
		}
		n.start, n.end, n.last = d.spans[o].start, d.spans[c].end, c
	} else if len(v.Entries) != len(v.Values) {
		return nil, errUnclearYAML
	}
	for i, value := range v.Values {
		it := yamlItem{key: strconv.Itoa(i), comma: -1}
		after := -1
		if !n.flow {
			dash, ok := d.at[v.Entries[i].Start]
			if !ok {
				return nil, errUnclearYAML
			}
			it.start, it.colon, after = d.spans[dash].start, d.spans[dash].end, dash
		}
		var err error
		if it.node, err = d.node(value, n.flow, after); err != nil {
			return nil, err
		}
		if n.flow {
			if it.node.kind == yamlNothing {
				return nil, errUnclearYAML
			}
			it.start = it.node.start
			it.colon = it.start
		}
		it.end = it.node.end
		n.items = append(n.items, it)
	}
	return n, d.closeNode(n)
}

// closeNode fills in what is known once all items are: the commas of the flow
// style, the extent of a block.
func (d *yamlDoc) closeNode(n *yamlNode) error {
	if n.flow && !n.pair {
		for i := range n.items {
			at := n.items[i].node.last + 1
			for at < len(d.spans) && d.spans[at].kind == token.CommentType {
				at++
			}
			if at < len(d.spans) && d.spans[at].kind == token.CollectEntryType {
				n.items[i].comma = d.spans[at].start
			} else if i < len(n.items)-1 {
				return errUnclearYAML
			}
		}
		return nil
	}
	if len(n.items) == 0 {
		return errUnclearYAML
	}
	last := n.items[len(n.items)-1]
	n.start, n.end, n.last = n.items[0].start, last.end, last.node.last
	return nil
}

// resolve returns what a node says.
func (d *yamlDoc) resolve(n *yamlNode, budget *int, depth int) (any, error) {
	if *budget--; *budget < 0 || depth > 2*maxDepth {
		return nil, errors.New("its aliases multiply without end; change it by hand")
	}
	switch n.kind {
	case yamlAlias:
		return d.resolve(d.anchors[n.anchor], budget, depth+1)
	case yamlList:
		list := make([]any, 0, len(n.items))
		for _, it := range n.items {
			v, err := d.resolve(it.node, budget, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yamlMap:
		m := make(map[string]any, len(n.items))
		for _, it := range n.items {
			v, err := d.resolve(it.node, budget, depth+1)
			if err != nil {
				return nil, err
			}
			if !it.merge {
				m[it.key] = v
				continue
			}
			from, ok := v.([]any)
			if !ok {
				from = []any{v}
			}
			for _, one := range from {
				values, _ := one.(map[string]any)
				for k, v := range values {
					if _, ok := m[k]; !ok && !n.has(k) {
						m[k] = v
					}
				}
			}
		}
		return m, nil
	case yamlScalar:
		return n.value, nil
	}
	return nil, nil
}

func (n *yamlNode) has(key string) bool {
	_, ok := n.child(key)
	return ok
}

func (n *yamlNode) child(step string) (int, bool) {
	switch n.kind {
	case yamlList:
		return index(step, len(n.items))
	case yamlMap:
		for i := range n.items {
			if n.items[i].key == step && !n.items[i].merge {
				return i, true
			}
		}
	}
	return 0, false
}

// findNode walks to the value at path.
func (d *yamlDoc) findNode(path []string) (n *yamlNode, depth int) {
	n = d.root
	for i, step := range path {
		at, ok := n.child(step)
		if !ok {
			return n, i
		}
		n = n.items[at].node
	}
	return n, len(path)
}

func (d *yamlDoc) Depth(path ...string) int {
	_, depth := d.findNode(path)
	return depth
}

func (d *yamlDoc) Where(path ...string) (Position, bool) {
	n, depth := d.findNode(path)
	if depth < len(path) {
		return Position{}, false
	}
	if len(path) == 0 {
		return d.position(n.start), true
	}
	parent, _ := d.findNode(path[:len(path)-1])
	i, _ := parent.child(path[len(path)-1])
	if parent.kind == yamlList {
		return d.position(n.start), true
	}
	return d.position(parent.items[i].start), true
}

func (d *yamlDoc) Keys(path ...string) []string {
	n, depth := d.findNode(path)
	if n.kind == yamlAlias {
		n = d.anchors[n.anchor]
	}
	if depth < len(path) || n.kind != yamlMap {
		return nil
	}
	keys := make([]string, 0, len(n.items))
	for _, it := range n.items {
		keys = append(keys, it.key)
	}
	return keys
}
