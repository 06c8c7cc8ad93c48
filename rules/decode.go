// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/near"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
	"github.com/monitoringlinter/monitoringlinter/rules/monitors"
	"github.com/monitoringlinter/monitoringlinter/rules/promql"
	"github.com/monitoringlinter/monitoringlinter/rules/yamltext"
)

// An objectDecoder turns the nodes of one YAML document into the model. It
// decides as Prometheus does for a plain rule file (model/rulefmt, decoded by
// yaml.v3 with known fields only), and as the API server does for an object.
type objectDecoder struct {
	*Document
	doc    *yamltext.Doc
	ours   bool
	visits int // nodes that may still be visited, so that aliases can't explode

	file    *File
	object  lint.Object
	origin  *lint.Origin
	holder  *lint.Origin // the ConfigMap that a rule file stands in, or nil
	refused map[*yaml.Node]bool
	merging []*yaml.Node // the mappings whose merge keys are being resolved
	kube    bool         // values are those of a Kubernetes object: decoded as YAML 1.1, strictly typed
	partial bool         // values may hold parameters of an OpenShift template

	template bool // the document is a template that happens to be YAML
	quiet    bool // the object at work is not ours to judge
}

const (
	maxNesting = 200 // of YAML collections

	// Aliases may expand a document to a hundred times its size, and by no more
	// nodes than this: far more than anybody writes, and read in a second.
	maxAliases  = 100
	maxExpanded = 200_000
)

func (d *objectDecoder) root(n *yaml.Node) {
	if language, at := templateLanguage(d.doc.Value); language != "" {
		if d.ours || looksLikeOurs(d.doc.Value) {
			d.unrendered(d.doc.Text, language, at)
			return
		}
		d.template = true
	}
	nodes, ok := d.survey(n, 0)
	if !ok {
		return
	}
	d.visits = budget(nodes)
	d.value(n, 0)
}

// budget returns how many nodes of a document of that many may be visited.
func budget(nodes int) int { return min(maxAliases*nodes+1000, 2*nodes+maxExpanded) }

// survey counts the nodes of the document and reports what no reader of it
// would accept. It does not follow aliases.
func (d *objectDecoder) survey(n *yaml.Node, depth int) (nodes int, ok bool) {
	if depth > maxNesting {
		if d.ours || looksLikeOurs(d.doc.Value) {
			d.problem("syntax/yaml", lint.Error, d.text(n).All(), "YAML is nested more than %d deep", maxNesting)
		}
		return 0, false
	}
	if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 && len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode {
		at := d.doc.Offset(n.Line, n.Column)
		if strings.HasPrefix(d.doc.Value[at:], "{{") && looksLikeOurs(d.doc.Value) {
			end := strings.Index(d.doc.Value[at:], "}}")
			d.unrendered(d.doc.Text, "Go", [2]int{at, at + max(end, 0) + 2})
			return 0, false
		}
	}
	nodes = 1
	for _, c := range n.Content {
		more, ok := d.survey(c, depth+1)
		if !ok {
			return 0, false
		}
		nodes += more
	}
	return nodes, true
}

// visit follows an alias, and reports whether n may be read at all.
func (d *objectDecoder) visit(n *yaml.Node) (*yaml.Node, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	d.visits--
	if d.visits == 0 {
		d.quiet = d.quiet && !looksLikeOurs(d.doc.Value)
		d.problem("syntax/yaml", lint.Error, d.start(n), "aliases expand the document to far more than is written: the rest of it was not read")
		d.visits--
	}
	return n, d.visits > 0
}

func (d *objectDecoder) text(n *yaml.Node) source.Text {
	t, _ := d.doc.Scalar(n)
	if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle != 0 {
		return d.tagged(n, t)
	}
	return t
}

// tagged returns the text of a scalar with a tag of its own, which yaml.v3 may
// refuse, or decode to something else than is written.
func (d *objectDecoder) tagged(n *yaml.Node, t source.Text) source.Text {
	var value string
	if err := n.Decode(&value); err != nil {
		if !d.refused[n] {
			if d.refused == nil {
				d.refused = map[*yaml.Node]bool{}
			}
			d.refused[n] = true
			_, reason := lineAndReason(err)
			d.schema(t.All(), "%s", reason)
		}
		return t
	}
	if value == t.Value || n.ShortTag() != "!!binary" {
		return t
	}
	b := source.NewBuilder(t)
	b.Replace(0, len(t.Value), value)
	return b.Text()
}

// problem reports a fault of the object at work, which the message names first.
func (d *objectDecoder) problem(check string, severity lint.Severity, span source.Span, format string, args ...any) *lint.Problem {
	if d.visits < 0 || d.quiet { // what was not read can't be judged
		return &lint.Problem{}
	}
	message := fmt.Sprintf(format, args...)
	if d.object.Kind != "" {
		message = d.object.String() + ": " + message
	}
	d.report(lint.Finding{Check: check, Severity: severity, Span: span, Message: message, Object: d.object, Origin: d.origin})
	return d.Problems[len(d.Problems)-1]
}

func (d *objectDecoder) schema(span source.Span, format string, args ...any) *lint.Problem {
	return d.problem("syntax/schema", lint.Error, span, format, args...)
}

// value reads any value that may be or hold an object of ours.
func (d *objectDecoder) value(n *yaml.Node, depth int) {
	n, ok := d.visit(n)
	if !ok || depth > maxNesting {
		return
	}
	if n.Kind != yaml.MappingNode {
		if d.ours && !isNull(n) && hasRulesExtension(d.src.Path) {
			d.schema(d.doc.Span(n), "a rule file is a mapping with the key groups, not %s", kindOf(n))
		}
		return
	}
	kind, version := scalarField(n, "kind"), scalarField(n, "apiVersion")
	of := monitors.KindOf(kind, version)
	if kind == "" && isKustomization(d.src.Path) && field(n, "groups") == nil {
		of = monitors.Beside
	}
	switch {
	case kind == PrometheusRule || kind == AlertingRule || kind == VMRule:
		d.manifest(n, kind)
	case strings.HasSuffix(kind, "List") && field(n, "items") != nil:
		d.items(field(n, "items"), depth)
	case kind == "Template" && field(n, "objects") != nil:
		d.partial = true
		d.items(field(n, "objects"), depth)
		d.partial = false
	case kind == "ConfigMap":
		d.configMap(n)
	case of != monitors.None:
		d.kubernetes(n, kind, of)
	case kind != "" && version != "":
		// some other object
	case d.isRuleFile(n):
		d.plain(n)
	}
}

func (d *objectDecoder) items(n *yaml.Node, depth int) {
	n, ok := d.visit(n)
	if !ok || n.Kind != yaml.SequenceNode {
		return
	}
	for _, item := range n.Content {
		d.value(item, depth+1)
	}
}

// isRuleFile tells a rule file from the many other files that have groups: its
// groups have rules, and these are alerts or records.
func (d *objectDecoder) isRuleFile(n *yaml.Node) bool {
	// A file that is meant to be one may have it all wrong.
	meant := d.ours && nameKey.MatchString(d.doc.Value)
	groups := field(n, "groups")
	if groups == nil {
		return meant
	}
	alone := len(n.Content) == 2 // groups is all there is
	if groups = follow(groups); groups.Kind != yaml.SequenceNode || len(groups.Content) == 0 {
		return alone && (d.ours || isNull(groups))
	}
	named := 0
	for _, g := range groups.Content {
		g = follow(g)
		rules := field(g, "rules")
		if rules == nil {
			continue
		}
		if field(g, "name") != nil {
			named++
		}
		for _, r := range follow(rules).Content {
			r = follow(r)
			if field(r, "uid") != nil && field(r, "data") != nil {
				return false // Grafana's own provisioning of alerts
			}
			if field(r, "alert") != nil || field(r, "record") != nil || field(r, "expr") != nil {
				return true
			}
		}
	}
	return meant || named > 0 && (alone || d.ours)
}

func (d *objectDecoder) plain(n *yaml.Node) {
	d.kube = false
	d.file = &File{origin: d.holder, span: d.start(n)}
	if d.file.origin == nil {
		d.file.origin = &lint.Origin{}
	}
	d.begin(d.file)
	for _, e := range d.entries(n) {
		switch e.key.Value {
		case "groups":
			d.groups(e.value, plainFields)
		default:
			d.unknown(e.key, "rule file", plainFields.file)
		}
	}
}

// begin adds a file, the object that problems are then about.
func (d *objectDecoder) begin(f *File) {
	d.Files = append(d.Files, f)
	d.origin, d.object = f.origin, lint.Object{}
	if f.Kind != "" {
		d.object = f.Object()
	}
}

func (d *objectDecoder) manifest(n *yaml.Node, kind string) {
	d.kube = true
	group, _, _ := strings.Cut(scalarField(n, "apiVersion"), "/")
	f := &File{Kind: kind, Group: group, span: d.start(n), origin: &lint.Origin{Kind: kind}}
	if m := field(n, "metadata"); m != nil {
		m = follow(m)
		f.Name = scalarField(m, "name")
		f.name = d.nameField(m, "name").All()
		f.origin.Name, f.origin.Namespace = f.Name, scalarField(m, "namespace")
		f.origin.Labels = stringMap(field(m, "labels"))
		f.origin.Annotations = stringMap(field(m, "annotations"))
	}
	d.file = f
	d.begin(f)
	if group, version, _ := strings.Cut(scalarField(n, "apiVersion"), "/"); kind == PrometheusRule && group == "monitoring.coreos.com" && version != "v1" && !monitors.Placeholder(version) {
		d.schema(d.text(follow(field(n, "apiVersion"))).All(), "there is no version %s of it: the API server refuses it; write apiVersion: monitoring.coreos.com/v1", version)
	}
	fields := crdFields[kind]
	var spec *yaml.Node
	for _, e := range d.entries(n) {
		switch e.key.Value {
		case "spec":
			spec = e.value
		case "metadata":
			d.metadata(e.value)
		case "apiVersion", "kind", "status":
		case "$schema": // a note to editors and to the programs that strip it
		default:
			d.unknown(e.key, kind, fields.file)
		}
	}
	if spec == nil || isNull(spec) {
		if kind == PrometheusRule {
			d.schema(d.start(n), "has no spec")
		}
		return
	}
	if spec.Kind != yaml.MappingNode {
		d.schema(d.doc.Span(spec), "spec must be a mapping, not %s", kindOf(spec))
		return
	}
	for _, e := range d.entries(spec) {
		switch e.key.Value {
		case "groups":
			d.groups(e.value, fields)
		default:
			d.unknown(e.key, "spec", fields.spec)
		}
	}
}

// metadata checks what the API server demands of labels and annotations.
func (d *objectDecoder) metadata(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return
	}
	for _, e := range d.entries(n) {
		if key := e.key.Value; key == "labels" || key == "annotations" {
			d.labels(e.value, "metadata."+key, false)
		}
	}
}

func (d *objectDecoder) configMap(n *yaml.Node) {
	data := field(n, "data")
	if data == nil || follow(data).Kind != yaml.MappingNode {
		return
	}
	origin := &lint.Origin{Kind: "ConfigMap"}
	if m := field(n, "metadata"); m != nil {
		m = follow(m)
		origin.Name, origin.Namespace = scalarField(m, "name"), scalarField(m, "namespace")
		origin.Labels = stringMap(field(m, "labels"))
		origin.Annotations = stringMap(field(m, "annotations"))
	}
	content := follow(data).Content
	for i := 0; i+1 < len(content); i += 2 {
		v, ok := d.visit(content[i+1])
		if !ok {
			return
		}
		if v.Kind != yaml.ScalarNode || !mayHoldRules(v.Value) || path.Ext(content[i].Value) == ".json" && !ruleKey.MatchString(v.Value) {
			continue
		}
		d.nested(d.text(v), hasRulesExtension(content[i].Value), origin)
	}
}

// nested reads the value of a ConfigMap: a file in the file.
func (d *objectDecoder) nested(t source.Text, ours bool, holder *lint.Origin) {
	for _, part := range split(t) {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(part.Value), &root); err != nil {
			if ours || looksLikeRules(part.Value) {
				d.broken(part, err)
			}
			continue
		}
		if len(root.Content) == 0 {
			continue
		}
		inner := &objectDecoder{Document: d.Document, doc: yamltext.New(part), ours: ours, origin: holder, holder: holder}
		if nodes, ok := inner.survey(root.Content[0], 0); ok {
			inner.visits = budget(nodes)
			if n := follow(root.Content[0]); n.Kind == yaml.MappingNode && inner.isRuleFile(n) {
				inner.plain(n)
			}
		}
	}
}

// start returns the first bytes of a node, to be widened as its parts are read.
func (d *objectDecoder) start(n *yaml.Node) source.Span {
	at := d.doc.Offset(n.Line, n.Column)
	if n.Kind == yaml.MappingNode && len(n.Content) > 0 && n.Style&yaml.FlowStyle == 0 {
		first := d.text(n.Content[0]).All()
		if n.Anchor != "" { // which may stand on a line of its own
			return first.Union(d.doc.Text.Span(at, at))
		}
		return first
	}
	_, size := utf8.DecodeRuneInString(d.doc.Value[min(at, len(d.doc.Value)):])
	return d.doc.Text.Span(at, at+size)
}

func (d *objectDecoder) groups(n *yaml.Node, fields fieldSet) {
	n, ok := d.visit(n)
	switch {
	case !ok:
		return
	case isNull(n):
		d.problem("syntax/schema", lint.Warning, d.file.span, "groups is empty: nothing is loaded from here")
		return
	case n.Kind != yaml.SequenceNode:
		d.schema(d.doc.Span(n), "groups must be a list, not %s", kindOf(n))
		return
	}
	seen := map[string]source.Text{}
	object := d.object
	for _, item := range n.Content {
		d.object = object
		item, ok := d.visit(item)
		if !ok {
			return
		}
		if isNull(item) {
			d.problem("syntax/schema", lint.Warning, d.itemSpan(item), "empty list item: there is no group here")
			continue
		}
		if item.Kind != yaml.MappingNode {
			d.schema(d.doc.Span(item), "a group must be a mapping with name and rules, not %s", kindOf(item))
			continue
		}
		g := d.group(item, fields)
		d.file.Groups = append(d.file.Groups, g)
		d.file.span = d.file.span.Union(g.span)
		if g.Name.Value == "" {
			continue
		}
		if first, dup := seen[g.Name.Value]; dup {
			p := d.schema(g.Name.All(), "group name %q is used twice: Prometheus refuses the file; rename one of them", g.Name.Value)
			p.Related = []lint.Related{{Span: first.All(), Message: "the other group of that name"}}
		} else {
			seen[g.Name.Value] = g.Name
		}
	}
	d.object = object
}

func (d *objectDecoder) group(n *yaml.Node, fields fieldSet) *Group {
	g := &Group{File: d.file, span: d.start(n)}
	origin := *d.file.origin
	g.origin = &origin
	g.Name = d.nameField(n, "name")
	origin.Group = g.Name.Value
	d.origin = g.origin
	d.object = g.Object()
	object := d.object
	entries := d.entries(n)
	if g.Name.Value == "" {
		at := g.span
		if name := field(n, "name"); name != nil {
			at = d.place(name, at)
		}
		d.schema(at, "a group must have a name")
	}
	var rules *yaml.Node
	for _, e := range entries {
		t := d.text(e.key)
		g.span = g.span.Union(t.All())
		if !slices.Contains(fields.group, e.key.Value) {
			d.unknown(e.key, "rule group", fields.group)
			continue
		}
		switch e.key.Value {
		case "name":
			d.scalar(e)
		case "interval":
			g.Interval = d.duration(e)
		case "query_offset":
			g.QueryOffset = d.duration(e)
		case "limit":
			g.Limit = d.integer(e)
		case "labels":
			g.Labels = d.labels(e.value, "group label", true)
		case "rules":
			rules = e.value
		}
		if e.value.Kind == yaml.ScalarNode {
			g.span = g.span.Union(d.text(e.value).All())
		}
	}
	if rules == nil || isNull(rules) {
		return g
	}
	if rules.Kind != yaml.SequenceNode {
		d.schema(d.doc.Span(rules), "rules must be a list, not %s", kindOf(rules))
		return g
	}
	g.Rules = make([]*Rule, 0, len(rules.Content))
	for _, item := range rules.Content {
		d.object = object
		item, ok := d.visit(item)
		if !ok {
			return g
		}
		if isNull(item) {
			d.problem("syntax/schema", lint.Warning, d.itemSpan(item), "empty list item: there is no rule here")
			continue
		}
		if item.Kind != yaml.MappingNode {
			d.schema(d.doc.Span(item), "a rule must be a mapping with alert or record, not %s", kindOf(item))
			continue
		}
		r := d.rule(item, g, fields)
		g.Rules = append(g.Rules, r)
		g.span = g.span.Union(r.span)
	}
	d.object = object
	return g
}

func (d *objectDecoder) rule(n *yaml.Node, g *Group, fields fieldSet) *Rule {
	r := &Rule{Group: g, Index: len(g.Rules), span: d.start(n)}
	r.Alert, r.Record = d.nameField(n, "alert"), d.nameField(n, "record")
	d.object = r.Object()
	entries := d.entries(n)
	for _, e := range entries { // a name may come by a merge key
		switch {
		case e.value.Kind != yaml.ScalarNode || isNull(e.value):
		case e.key.Value == "alert" && r.Alert.IsZero():
			r.Alert = d.text(e.value)
		case e.key.Value == "record" && r.Record.IsZero():
			r.Record = d.text(e.value)
		}
	}
	d.object = r.Object()
	switch {
	case r.Alert.Value != "":
		r.place = r.Alert.All()
	case r.Record.Value != "":
		r.place = r.Record.All()
	default:
		r.place = r.span
	}

	var expr, forEntry, keepEntry, annotations *entry
	for i := range entries {
		e := &entries[i]
		r.span = r.span.Union(d.text(e.key).All())
		name := e.key.Value
		if !slices.Contains(fields.rule, name) {
			// What is meant is read as such, so that what it lacks is told in the
			// same run and what it has is not missed.
			name = d.unknown(e.key, "rule", fields.rule)
			if name != "labels" && (name != "annotations" || r.Record.Value != "") || field(n, name) != nil {
				continue
			}
		}
		switch name {
		case "alert", "record":
			d.scalar(*e)
		case "expr":
			expr = e
		case "for":
			forEntry = e
			r.For = d.duration(*e)
		case "keep_firing_for":
			keepEntry = e
			r.KeepFiringFor = d.duration(*e)
		case "labels":
			r.Labels = d.labels(e.value, "label", r.IsAlert())
		case "annotations":
			annotations = e
			r.Annotations = d.labels(e.value, "annotation", r.IsAlert())
		}
		r.span = r.span.Union(d.doc.Span(e.value))
	}
	d.name(r)
	d.expression(r, expr)
	if r.Record.Value != "" {
		if annotations != nil && len(r.Annotations) > 0 {
			d.schema(d.text(annotations.key).All(), "a recording rule has no annotations: nobody ever reads them; remove them")
		}
		if forEntry != nil && r.For.Value != 0 {
			d.schema(d.text(forEntry.key).All(), "a recording rule has no for: remove it")
		}
		if keepEntry != nil && r.KeepFiringFor.Value != 0 {
			d.schema(d.text(keepEntry.key).All(), "a recording rule has no keep_firing_for: remove it")
		}
	}
	return r
}

// nameField returns the text of a scalar field, or the zero text.
func (d *objectDecoder) nameField(n *yaml.Node, name string) source.Text {
	if v := follow(field(n, name)); v != nil && v.Kind == yaml.ScalarNode && !isNull(v) {
		return d.text(v)
	}
	return source.Text{}
}

func (d *objectDecoder) name(r *Rule) {
	alert, record := r.Alert.Value, r.Record.Value
	switch {
	case alert != "" && record != "":
		p := d.schema(r.Record.All(), "has both alert and record: a rule is one or the other; split it in two")
		p.Related = []lint.Related{{Span: r.Alert.All(), Message: "alert is set here"}}
	case alert == "" && record == "":
		d.schema(r.place, "has neither alert nor record: give it the name of the alert, or of the series to record")
	}
	if record == "" {
		return
	}
	if !model.UTF8Validation.IsValidMetricName(record) {
		d.schema(r.Record.All(), "%q is not a valid metric name", record)
	}
	if i := strings.IndexAny(record, "{}"); i >= 0 {
		d.schema(r.Record.Span(i, len(record)), "the record name has braces: the name is only the metric; labels go under labels, the query into expr")
	}
}

func (d *objectDecoder) expression(r *Rule, e *entry) {
	switch {
	case e == nil:
		d.schema(r.place, "has no expr: there is nothing to evaluate")
		return
	case isNull(e.value):
		d.schema(d.place(e.value, d.text(e.key).All()), "expr is empty: there is nothing to evaluate")
		return
	case e.value.Kind != yaml.ScalarNode:
		message := "expr must be text, not %s"
		if e.value.Kind == yaml.MappingNode && e.value.Style&yaml.FlowStyle != 0 {
			message = "expr starts with { and is taken for %s: put it between quotes, or in a block after |"
		}
		d.schema(d.doc.Span(e.value), message, kindOf(e.value))
		return
	}
	t := d.text(e.value)
	if kind := d.kubeType(e.value); kind != "" && kind != "an integer" {
		p := d.schema(t.All(), "expr is %s to YAML, and the API server takes only text or an integer: quote it", kind)
		p.Fixes = quoteFix(t)
		return
	}
	if t.Value == "" {
		d.schema(d.place(e.value, d.text(e.key).All()), "expr is empty: there is nothing to evaluate")
		return
	}
	if d.partial && strings.Contains(t.Value, "${") {
		r.Expr = promql.Unrendered(t)
		return
	}
	r.Expr = promql.Parse(t)
	if d.file.Kind == VMRule && r.Expr.Root == nil {
		r.Expr.Errors = nil // MetricsQL, which has more than PromQL
	}
}

// itemSpan returns the dash of an empty list item, which has no bytes of its own.
func (d *objectDecoder) itemSpan(n *yaml.Node) source.Span {
	at := d.doc.Offset(n.Line, n.Column)
	near := max(min(at, len(d.doc.Value))-80, 0)
	if i := strings.LastIndexByte(d.doc.Value[near:min(at, len(d.doc.Value))], '-'); i >= 0 {
		return d.doc.Text.Span(near+i, near+i+1)
	}
	return d.doc.Text.Span(at, at+1)
}

// place returns the span of a value, or other where it has no bytes.
func (d *objectDecoder) place(n *yaml.Node, other source.Span) source.Span {
	if n.Kind == yaml.ScalarNode {
		if s := d.text(n).All(); s.End > s.Start {
			return s
		}
	}
	return other
}

// labels reads a map of labels or annotations; templates says that Prometheus
// expands the values.
func (d *objectDecoder) labels(n *yaml.Node, what string, templates bool) []Entry {
	n, ok := d.visit(n)
	if !ok || isNull(n) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		d.schema(d.doc.Span(n), "%s must be a mapping of names to text, not %s", plural(what), kindOf(n))
		return nil
	}
	entries := d.entries(n)
	out := make([]Entry, 0, len(entries))
	metadata := strings.HasPrefix(what, "metadata.")
	for _, e := range entries {
		key := d.text(e.key)
		if e.value.Kind != yaml.ScalarNode {
			d.schema(d.doc.Span(e.value), "%s %q must be text, not %s", what, key.Value, kindOf(e.value))
			continue
		}
		if !metadata && (!model.UTF8Validation.IsValidLabelName(key.Value) || what != "annotation" && key.Value == model.MetricNameLabel) {
			d.schema(d.place(e.key, d.start(n)), "%q is not a valid %s name", key.Value, what)
		}
		t := d.text(e.value)
		if isNull(e.value) {
			t = emptyAt(t)
		} else {
			d.typed(e, what, key.Value, t)
		}
		entry := Entry{Key: key, Value: t}
		if templates && !(d.partial && strings.Contains(t.Value, "${{")) { // a parameter of the OpenShift template
			entry.Template = promql.ParseTemplate(t)
		}
		out = append(out, entry)
	}
	return out
}

// emptyAt returns the empty text at the place of t: null means no value,
// whatever it is written as.
func emptyAt(t source.Text) source.Text { return t.Slice(0, 0) }

func plural(what string) string {
	if strings.HasSuffix(what, "s") {
		return what
	}
	return what + "s"
}

// typed reports a value that YAML takes for something else than text.
func (d *objectDecoder) typed(e entry, what, name string, t source.Text) {
	if e.value.Style != 0 {
		return
	}
	tag := e.value.ShortTag()
	if d.kube {
		if kind := d.kubeType(e.value); kind != "" {
			p := d.schema(t.All(), "%s %q is %s to YAML, and the API server takes only text: write %q", what, name, number(kind), t.Value)
			p.Fixes = quoteFix(t)
		}
		return
	}
	if tag == "!!int" || tag == "!!float" || tag == "!!bool" {
		p := d.problem("syntax/schema", lint.Info, t.All(), "%s %q is a %s without quotes: Prometheus takes it, a Kubernetes object would be refused; write %q", what, name, typeName(tag), t.Value)
		p.Fixes = quoteFix(t)
	}
}

// kubeType returns what a plain scalar of a Kubernetes object is if it is no
// text: the API server reads YAML 1.1, where yes and on are booleans.
func (d *objectDecoder) kubeType(n *yaml.Node) string {
	if !d.kube || n.Style != 0 || n.Value == "" || len(n.Value) > 64 {
		return ""
	}
	if n.ShortTag() == "!!str" && strings.IndexByte("yYnNoOtTfF~.-+=<0123456789", n.Value[0]) < 0 {
		return "" // no other type begins so
	}
	json, err := kyaml.YAMLToJSON([]byte(n.Value))
	if err != nil || len(json) == 0 {
		return ""
	}
	switch json[0] {
	case '"', '{', '[':
		return ""
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	if strings.ContainsAny(string(json), ".eE") {
		return "a fraction"
	}
	return "an integer"
}

// number calls both kinds of numbers by one name.
func number(kind string) string {
	if kind == "an integer" || kind == "a fraction" {
		return "a number"
	}
	return kind
}

func quoteFix(t source.Text) []lint.Fix {
	return []lint.Fix{lint.Replace(t.All(), `"`+t.Value+`"`, "quote the value", true)}
}

// scalar checks a field that must be text.
func (d *objectDecoder) scalar(e entry) {
	if isNull(e.value) {
		return
	}
	if e.value.Kind != yaml.ScalarNode {
		d.schema(d.doc.Span(e.value), "%s must be text, not %s", e.key.Value, kindOf(e.value))
		return
	}
	if kind := d.kubeType(e.value); kind != "" {
		t := d.text(e.value)
		p := d.schema(t.All(), "%s is %s to YAML, and the API server takes only text: write %q", e.key.Value, number(kind), t.Value)
		p.Fixes = quoteFix(t)
	}
}

func (d *objectDecoder) integer(e entry) source.Text {
	if isNull(e.value) {
		return source.Text{}
	}
	var i int
	if e.value.Kind != yaml.ScalarNode || e.value.Decode(&i) != nil || d.kube && e.value.ShortTag() != "!!int" {
		d.schema(d.doc.Span(e.value), "%s must be a number", e.key.Value)
		return source.Text{}
	}
	return d.text(e.value)
}

func (d *objectDecoder) duration(e entry) Duration {
	if isNull(e.value) {
		return Duration{}
	}
	if e.value.Kind != yaml.ScalarNode {
		d.schema(d.doc.Span(e.value), "%s must be a duration such as 5m, not %s", e.key.Value, kindOf(e.value))
		return Duration{}
	}
	t := d.text(e.value)
	if d.refused[e.value] || d.partial && strings.Contains(t.Value, "${") {
		return Duration{Text: t}
	}
	if t.Value == "" {
		if !d.kube || e.key.Value == "keep_firing_for" { // the operator drops the others
			d.schema(d.place(e.value, d.text(e.key).All()), "%s is empty: write a duration such as 5m, or remove it", e.key.Value)
		}
		return Duration{Text: t}
	}
	if d.kubeType(e.value) != "" && t.Value != "0" {
		d.schema(t.All(), "%s: %q has no unit: write %ss, %sm or %sh", e.key.Value, t.Value, t.Value, t.Value, t.Value)
		return Duration{Text: t}
	}
	value, err := model.ParseDuration(t.Value)
	if err != nil {
		d.schema(t.All(), "%s: %q is not a Prometheus duration: %s", e.key.Value, t.Value, durationHint(t.Value))
		return Duration{Text: t}
	}
	if d.kubeType(e.value) != "" {
		p := d.schema(t.All(), "%s is a number to YAML, and the API server takes only text: write %q", e.key.Value, t.Value)
		p.Fixes = quoteFix(t)
	}
	return Duration{Text: t, Value: value, Set: true}
}

// durationHint says how a value that is no duration was probably meant.
func durationHint(s string) string {
	const units = "ms, s, m, h, d, w, y"
	number := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	if strings.Contains(number, ".") && strings.Trim(number, "0123456789.") == "" {
		return "it has a fraction; write whole numbers of smaller units, as in 1h30m"
	}
	if number == "" || strings.Trim(number, "0123456789") != "" || len(s) > 30 {
		return "write a number and a unit (" + units + "), as in 5m or 1h30m"
	}
	unit := strings.TrimSpace(s[len(number):])
	switch strings.ToLower(unit) {
	case "":
		return fmt.Sprintf("it has no unit; write %ss, %sm or %sh", number, number, number)
	case "sec", "secs", "second", "seconds", "s":
		return "write " + number + "s"
	case "min", "mins", "minute", "minutes", "m":
		return "write " + number + "m"
	case "hr", "hrs", "hour", "hours", "h":
		return "write " + number + "h"
	case "day", "days", "d":
		return "write " + number + "d"
	case "week", "weeks", "w":
		return "write " + number + "w"
	}
	return fmt.Sprintf("%q is no unit of time; the units are %s", unit, units)
}

// unknown reports a field that the API does not have.
func (d *objectDecoder) unknown(key *yaml.Node, where string, known []string) (meant string) {
	t := d.text(key)
	at := d.place(key, d.start(key))
	if dialect, ok := dialectFields[key.Value]; ok {
		p := d.schema(at, "unknown field %q: only %s knows it; set `dialect: %s` if these rules are for it", key.Value, dialect.name, dialect.option)
		p.Dialects = []string{dialect.option}
		return ""
	}
	if key.Kind != yaml.ScalarNode {
		d.schema(d.doc.Span(key), "a field name of the %s must be text, not %s", where, kindOf(key))
		return ""
	}
	if name, ok := near.Name(key.Value, known); ok {
		p := d.schema(at, "unknown field %q in the %s; did you mean %q?", key.Value, where, name)
		if s, exact := t.Exact(0, len(t.Value)); exact {
			p.Fixes = []lint.Fix{lint.Replace(s, name, "rename the field to "+name, false)}
		}
		return name
	}
	d.schema(at, "unknown field %q in the %s; it has %s", key.Value, where, strings.Join(known, ", "))
	return ""
}

// An entry of a mapping, its value with aliases followed.
type entry struct{ key, value *yaml.Node }

// entries returns the entries of a mapping with merge keys resolved, as
// yaml.v3 decodes them, and reports duplicates.
func (d *objectDecoder) entries(n *yaml.Node) []entry { return d.entriesAt(n, 0) }

func (d *objectDecoder) entriesAt(n *yaml.Node, depth int) []entry {
	out := make([]entry, 0, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Tag == "!!merge" || k.Value == "<<" && k.Style == 0 && k.Kind == yaml.ScalarNode {
			merges = append(merges, v)
			if len(merges) == 1 {
				continue
			}
		}
		v, ok := d.visit(v)
		if !ok {
			return out
		}
		if !isNull(k) {
			out = append(out, entry{k, v})
		}
	}
	out = d.unique(out)
	d.merging = append(d.merging, n)
	for _, m := range merges {
		out = d.merge(out, m, depth)
	}
	d.merging = d.merging[:len(d.merging)-1]
	return out
}

// unique reports keys that stand twice, and drops the later ones.
func (d *objectDecoder) unique(entries []entry) []entry {
	if len(entries) < 2 {
		return entries
	}
	duplicate := func(k, first *yaml.Node) {
		p := d.problem("syntax/yaml", lint.Error, d.place(k, d.start(k)), "key %q stands twice in one mapping: remove one of them", k.Value)
		p.Related = []lint.Related{{Span: d.place(first, d.start(first)), Message: "the other one"}}
	}
	kept := entries[:0:len(entries)]
	if len(entries) <= 16 {
	next:
		for _, e := range entries {
			for _, o := range kept {
				if o.key.Kind == e.key.Kind && o.key.Value == e.key.Value {
					duplicate(e.key, o.key)
					continue next
				}
			}
			kept = append(kept, e)
		}
		return kept
	}
	seen := make(map[string]*yaml.Node, len(entries))
	for _, e := range entries {
		id := string(rune('0'+e.key.Kind)) + e.key.Value
		if first, ok := seen[id]; ok {
			duplicate(e.key, first)
			continue
		}
		seen[id] = e.key
		kept = append(kept, e)
	}
	return kept
}

// merge adds the entries of a merge key's value that are not set already: those
// of a mapping, or of the mappings of a list, each of which may be an alias.
func (d *objectDecoder) merge(out []entry, n *yaml.Node, depth int) []entry {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	known := make(map[string]bool, len(out))
	for _, e := range out {
		known[e.key.Value] = true
	}
	for _, item := range items {
		m, ok := d.visit(item)
		if !ok || depth > maxNesting {
			return out
		}
		if slices.Contains(d.merging, m) {
			d.problem("syntax/yaml", lint.Error, d.start(item), "the alias *%s stands within what it repeats: remove it", item.Value)
			return out
		}
		if m.Kind != yaml.MappingNode {
			d.problem("syntax/yaml", lint.Error, d.place(m, d.start(m)), "a merge key (<<) takes a mapping or a list of mappings, not %s", kindOf(m))
			return out
		}
		for _, e := range d.entriesAt(m, depth+1) {
			if !known[e.key.Value] {
				known[e.key.Value] = true
				out = append(out, e)
			}
		}
	}
	return out
}

func follow(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// field returns the value of a key of a mapping, or nil.
func field(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

func scalarField(n *yaml.Node, name string) string {
	if v := follow(field(n, name)); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

func stringMap(n *yaml.Node) map[string]string {
	n = follow(n)
	if n == nil || n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil
	}
	m := make(map[string]string, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		m[n.Content[i].Value] = follow(n.Content[i+1]).Value
	}
	return m
}

func isNull(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!null" {
		return false
	}
	switch n.Value {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false // a tag that does not fit
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if isNull(n) {
		return "nothing"
	}
	return "a " + typeName(n.ShortTag())
}

func typeName(tag string) string {
	switch tag {
	case "!!int", "!!float":
		return "number"
	case "!!bool":
		return "boolean"
	case "!!timestamp":
		return "date"
	}
	return "text"
}
