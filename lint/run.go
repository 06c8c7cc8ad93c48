// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// An Input is a file that is to be linted.
type Input struct {
	Path  string // as findings show it
	Named bool   // the user asked for this very file
	Read  func() ([]byte, error)
	Fail  func(f *source.File, err error) Document // the document of a file that Read fails for
}

// Parse reads the inputs and parses them, at most jobs at a time (0: as many
// as there are processors). It returns the documents in the order of the
// inputs, and the inputs that hold nothing any language knows. When the context
// ends, what was not read yet is left out.
func Parse(ctx context.Context, inputs []Input, languages []Language, jobs int) (p *Project, unknown []Input) {
	documents := make([]Document, len(inputs))
	parallel(ctx, len(inputs), jobs, func(i int) {
		in := inputs[i]
		data, err := in.Read()
		if err != nil {
			documents[i] = in.Fail(source.NewFile(in.Path, nil), err)
			return
		}
		f := source.NewFile(in.Path, data)
		for _, l := range languages {
			if documents[i] = l.Parse(f, in.Named); documents[i] != nil {
				return
			}
		}
	})
	p = &Project{}
	for i, d := range documents {
		if d != nil {
			p.Documents = append(p.Documents, d)
		} else {
			unknown = append(unknown, inputs[i])
		}
	}
	return p, unknown
}

// Run applies the checks that the settings turn on to the project, at most
// jobs files at a time (0: as many as there are processors). The findings are
// in the order of [Compare].
func Run(ctx context.Context, p *Project, settings Settings, jobs int) []Finding {
	found := make([][]Finding, len(p.Documents)+1)
	parallel(ctx, len(p.Documents), jobs, func(i int) {
		found[i] = runDocument(ctx, p, p.Documents[i], settings)
	})
	found[len(p.Documents)] = runProject(ctx, p, settings)
	all := slices.Concat(found...)
	slices.SortStableFunc(all, Compare)
	return all
}

func runDocument(ctx context.Context, project *Project, d Document, settings Settings) []Finding {
	var out []Finding
	path := d.Source().Path
	p := &Pass{Context: ctx, Project: project, out: &out}
	profile := settings.Profile(path, nil)
	for n := range d.Nodes() {
		if named, ok := n.(Node); ok {
			p.object = named.Object()
			if origin := named.Origin(); origin != p.origin {
				p.origin = origin
				profile = settings.Profile(path, origin)
			}
		}
		for _, a := range profile.For(n) {
			p.check, p.severity = a.Check, a.Severity
			a.Func(p, n)
		}
	}
	return out
}

// runProject offers the project to the checks. Each finding then obeys the
// settings of the place it lies in, like that of any other check.
func runProject(ctx context.Context, project *Project, settings Settings) []Finding {
	var out []Finding
	p := &Pass{Context: ctx, Project: project, out: &out}
	for _, a := range settings.Profile("", nil).For(project) {
		p.check = a.Check // its severity is that of the place of each finding
		before := len(out)
		a.Func(p, project)
		kept := out[:before]
		for _, f := range out[before:] {
			local, on := settings.Profile(path(f.Span), f.Origin).Find(f.Check)
			if !on {
				continue
			}
			if local.Severity != Unset {
				f.Severity = local.Severity
			}
			kept = append(kept, f)
		}
		out = kept
	}
	return out
}

// parallel calls f with each number below n, until the context ends.
func parallel(ctx context.Context, n, jobs int, f func(i int)) {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(jobs, n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
