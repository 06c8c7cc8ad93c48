// SPDX-License-Identifier: Apache-2.0

// Package config says which checks are on where, and under which options.
//
// The configuration is made of layers. Each says of checks whether they are on,
// how severe they are and what their options are, and a later one wins over an
// earlier one, severity by severity and option by option:
//
//  1. the checks as they are declared, which is the preset default
//  2. the presets that the file extends, in their order
//  3. the presets of the command line, in their order
//  4. the file's own settings
//  5. the overrides of the file that match the path and the object, in their order
//  6. the checks that the command line enables and disables
//
// In one layer several keys may match a check: its ID, and globs, in which *
// stands for any run of characters. The more specific key decides, an ID before
// a glob and a longer glob before a shorter one.
//
// An ID turns its check on, unless what stands under it is off. A glob is more
// careful: on does not reach checks that are off until they are configured, and
// a severity leaves each check on or off as the layers before do.
//
// Options are merged option by option; a list or a mapping that is given for an
// option replaces the one that held before. An option with the tag shared is
// also set by a key of that name beside checks, for all checks that declare it;
// what is set for the check alone wins, in whichever layer it stands.
//
// A path is matched as it lies below the folder of the configuration file,
// which is found from the current folder; symbolic links on the way are not
// followed. A glob that matches a folder takes in all that is below it.
package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/monitoringlinter/monitoringlinter/lint"
	"github.com/monitoringlinter/monitoringlinter/lint/source"
)

// Input is all that decides the configuration of a run.
type Input struct {
	File    *source.File  // the configuration file, or nil
	Root    string        // folder of the file, absolute or from the current folder; "" is the current folder
	Checks  []*lint.Check // every check there is
	Presets []string      // names from the command line, applied after those that the file extends

	// Enable and Disable are IDs of checks and globs from the command line, which
	// win over everything; of the two the more specific one.
	Enable, Disable []string
}

// A Config is the configuration of a run. It implements [lint.Settings].
type Config struct {
	checks    []*lint.Check // ordered by ID
	base      []layer       // all that holds everywhere, but for the command line
	overrides []override
	last      layer    // of the command line
	declared  []active // the checks as the layers without overrides leave them
	exclude   globs
	root, cwd string // absolute folders, "" if the current one is unknown

	rootProfile, project *lint.Profile

	places   sync.Map // path → *place
	profiles sync.Map // set → func() *lint.Profile
}

// active is a check that is bound to its options, and whether it is on.
type active struct {
	lint.Active
	on bool
}

// Load reads the configuration. An error is of type [Errors].
func Load(in Input) (*Config, error) {
	checks := slices.Clone(in.Checks)
	slices.SortFunc(checks, func(a, b *lint.Check) int { return strings.Compare(a.ID, b.ID) })
	r := newReader(checks)

	var file settings
	if in.File != nil {
		file = r.file(in.File)
	}
	c := &Config{checks: checks, overrides: file.overrides, exclude: file.exclude}
	for _, p := range slices.Concat(file.extends, r.commandLinePresets(in.Presets)) {
		c.base = append(c.base, r.preset(p))
	}
	if file.layer != nil {
		c.base = append(c.base, file.layer)
	}
	c.last = r.commandLine(in.Enable, in.Disable)
	if len(r.errs) == 0 {
		r.errs = c.bindAll()
	}
	if len(r.errs) > 0 {
		return nil, r.errs.sorted()
	}
	c.locate(in.Root)
	c.rootProfile = profileOf(c.declared)
	c.project = c.projectProfile()
	return c, nil
}

// bindAll binds the checks to the options that hold everywhere, and finds out
// whether each override goes together with them.
func (c *Config) bindAll() (errs Errors) {
	c.declared = make([]active, len(c.checks))
	for i := range c.checks {
		var err *Error
		if c.declared[i], err = c.bind(i, nil); err != nil {
			errs = append(errs, err)
			continue
		}
		for _, o := range c.overrides {
			if o.layer[i].sets() {
				if _, err := c.bind(i, []layer{o.layer}); err != nil {
					errs = append(errs, err)
				}
			}
		}
	}
	return errs
}

// bind returns the check at index i as the layers that hold everywhere and then
// the others leave it.
func (c *Config) bind(i int, others []layer) (active, *Error) {
	return settle(c.checks[i], i, slices.Concat(c.base, others, []layer{c.last})).bind(c.checks[i])
}

// under returns the check at index i under some of the overrides.
func (c *Config) under(i int, overrides []layer) active {
	touching := slices.DeleteFunc(slices.Clone(overrides), func(l layer) bool { return !l[i].touches() })
	if len(touching) == 0 {
		return c.declared[i]
	}
	a, err := c.bind(i, touching)
	if err == nil {
		return a
	}
	// Options of several overrides that are valid one by one, and not together
	// (a lower bound of one above the upper bound of another): those of the last
	// hold alone. Load has seen that they are valid.
	setting := slices.DeleteFunc(slices.Clone(touching), func(l layer) bool { return !l[i].sets() })
	if alone, err := c.bind(i, setting[len(setting)-1:]); err == nil {
		a.Func = alone.Func
	}
	return a
}

func profileOf(all []active) *lint.Profile {
	p := &lint.Profile{}
	for _, a := range all {
		if a.on {
			p.Active = append(p.Active, a.Active)
		}
	}
	return p
}

// projectProfile returns the profile of checks that look at all files at once:
// what is on somewhere has to run, and each finding is then asked whether the
// check is on where it lies.
func (c *Config) projectProfile() *lint.Profile {
	all := slices.Clone(c.declared)
	for i := range all {
		if all[i].on {
			continue
		}
		var turnOn []layer
		for _, o := range c.overrides {
			if o.layer[i].touches() && c.under(i, []layer{o.layer}).on {
				turnOn = append(turnOn, o.layer)
			}
		}
		all[i] = c.under(i, turnOn)
	}
	return profileOf(all)
}

// Profile implements [lint.Settings]. Objects to which the same overrides apply
// share one profile. The profile of the project, that of the empty path and no
// origin, also holds the checks that only some override turns on.
func (c *Config) Profile(path string, origin *lint.Origin) *lint.Profile {
	if path == "" && origin == nil {
		return c.project
	}
	if len(c.overrides) == 0 {
		return c.rootProfile
	}
	at := c.place(path)
	if origin == nil {
		return at.profile
	}
	matching := at.matching
	for _, i := range at.byObject {
		if c.overrides[i].objects.match(origin) {
			matching.add(i)
		}
	}
	if matching == at.matching {
		return at.profile
	}
	return c.profile(matching)
}

// A place is what is known of a path.
type place struct {
	matching set           // the overrides that match whatever the object is
	byObject []int         // those that match some objects
	profile  *lint.Profile // under matching
}

func (c *Config) place(path string) *place {
	if p, ok := c.places.Load(path); ok {
		return p.(*place)
	}
	p := &place{}
	relative := c.relative(path)
	for i, o := range c.overrides {
		switch {
		case o.paths != nil && (path == "" || !o.paths.match(relative)):
		case o.objects != nil:
			p.byObject = append(p.byObject, i)
		default:
			p.matching.add(i)
		}
	}
	p.profile = c.profile(p.matching)
	known, _ := c.places.LoadOrStore(path, p)
	return known.(*place)
}

// profile returns the profile under a set of overrides.
func (c *Config) profile(matching set) *lint.Profile {
	if matching == (set{}) {
		return c.rootProfile
	}
	build, ok := c.profiles.Load(matching)
	if !ok {
		build, _ = c.profiles.LoadOrStore(matching, sync.OnceValue(func() *lint.Profile {
			var layers []layer
			for i, o := range c.overrides {
				if matching.has(i) {
					layers = append(layers, o.layer)
				}
			}
			all := make([]active, len(c.checks))
			for i := range all {
				all[i] = c.under(i, layers)
			}
			return profileOf(all)
		}))
	}
	return build.(func() *lint.Profile)()
}

// A set is a set of overrides, by their index.
type set [maxOverrides / 64]uint64

func (s *set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// Excluded reports whether the file or folder at path is not to be read.
func (c *Config) Excluded(path string) bool {
	return len(c.exclude) > 0 && path != "" && c.exclude.match(c.relative(path))
}

// locate finds where the folder of the configuration file is. Paths are given
// from the current folder, so one such as ../.. needs the names of the folders
// on the way.
func (c *Config) locate(root string) {
	cwd, err := os.Getwd()
	if err == nil {
		cwd, err = filepath.EvalSymlinks(cwd)
	}
	if err != nil {
		return
	}
	c.cwd, c.root = cwd, cwd
	if root = filepath.FromSlash(root); filepath.IsAbs(root) {
		c.root = filepath.Clean(root)
	} else {
		c.root = filepath.Join(cwd, root)
	}
}

// relative returns a path from the folder of the configuration file.
func (c *Config) relative(path string) string {
	local := filepath.Clean(filepath.FromSlash(path))
	if c.root != c.cwd || filepath.IsAbs(local) {
		absolute := local
		if !filepath.IsAbs(local) {
			absolute = filepath.Join(c.cwd, local)
		}
		if rel, err := filepath.Rel(c.root, absolute); err == nil {
			local = rel
		}
	}
	return filepath.ToSlash(local)
}

// Find returns the configuration file that holds for the files in dir: the one
// named .monitoringlinter.yaml or .monitoringlinter.yml in dir or the nearest
// folder above it, up to the root of the repository.
func Find(dir string) (path string, ok bool) {
	for {
		for _, name := range []string{".monitoringlinter.yaml", ".monitoringlinter.yml"} {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path, true
			}
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return "", false
		}
		above := filepath.Join(dir, "..")
		here, err := os.Stat(dir)
		if err != nil {
			return "", false
		}
		if next, err := os.Stat(above); err != nil || os.SameFile(here, next) {
			return "", false
		}
		dir = above
	}
}
