package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: notice FILE (in the module's root)")
		os.Exit(64)
	}
	text, err := notice(".")
	if err == nil {
		err = os.WriteFile(os.Args[1], text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

// component is a part that others have written.
type component struct {
	name, version, licence string
	// text is its licence, "" for the Apache License, which is Pacer's too; notice is its
	// NOTICE.
	text, notice string
}

// notice is the text for the module at root.
func notice(root string) ([]byte, error) {
	modules, err := linked(root)
	if err != nil {
		return nil, err
	}
	embedded, err := packages(filepath.Join(root, "web", "page", "lib"))
	if err != nil {
		return nil, err
	}
	pom, err := os.ReadFile(filepath.Join(root, "spark", "pom.xml"))
	if err != nil {
		return nil, err
	}
	artifacts, err := shaded(pom)
	if err != nil {
		return nil, fmt.Errorf("spark/pom.xml: %w", err)
	}
	var b bytes.Buffer
	b.WriteString("Pacer\n\nLicensed under the Apache License, Version 2.0 (LICENSE). Written by `make notice`.\n\n" +
		"The binaries contain the Go standard library (as golang.org/x/sys) and these modules:\n\n")
	list(&b, modules)
	b.WriteString("\nThe page that a planner serves contains these packages of npm:\n\n")
	list(&b, embedded)
	b.WriteString("\nThe jar for Spark contains these artifacts:\n\n")
	list(&b, artifacts)
	for _, c := range modules {
		if c.notice != "" {
			fmt.Fprintf(&b, "\n%s\nNotice of %s\n\n%s\n", rule, c.name, c.notice)
		}
	}
	var printed []string
	all := slices.Concat(modules, embedded)
	for _, c := range all {
		if c.text == "" || slices.Contains(printed, c.text) {
			continue
		}
		printed = append(printed, c.text)
		fmt.Fprintf(&b, "\n%s\nLicence of %s\n\n%s\n", rule, strings.Join(under(all, c.text), ", "), c.text)
	}
	return b.Bytes(), nil
}

var rule = strings.Repeat("-", 80)

func list(w io.Writer, all []component) {
	for _, c := range all {
		fmt.Fprintf(w, "  %-60s %-45s %s\n", c.name, c.version, c.licence)
	}
}

// under are the names of the components with a text.
func under(all []component, text string) []string {
	var names []string
	for _, c := range all {
		if c.text == text {
			names = append(names, c.name)
		}
	}
	return names
}

// linked are the modules that the commands link, in order of name.
func linked(root string) ([]component, error) {
	modules := exec.Command("go", "list", "-deps", "-f",
		`{{with .Module}}{{if not .Main}}{{.Path}}{{"\t"}}{{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`, "./cmd/...")
	modules.Dir, modules.Stderr = root, os.Stderr
	out, err := modules.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	lines := strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }) // One for each package of theirs.
	slices.Sort(lines)
	var all []component
	for _, line := range slices.Compact(lines) {
		fields := strings.Split(line, "\t")
		c := component{name: fields[0], version: fields[1]}
		if err := c.read(fields[2]); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// packages are those of npm of which dir has files, as the list there says.
func packages(dir string) ([]component, error) {
	text, err := os.ReadFile(filepath.Join(dir, "files.txt"))
	if err != nil {
		return nil, err
	}
	var all []component
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 4 || fields[0] == "#" || fields[1] != "LICENSE" {
			continue
		}
		at := strings.LastIndex(fields[0], "@")
		c := component{name: fields[0][:at], version: fields[0][at+1:]}
		if err := c.read(filepath.Join(dir, filepath.Dir(fields[2]))); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// read takes a component's licence and notice from its directory.
func (c *component) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := strings.ToUpper(strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())))
		if e.IsDir() || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, name) {
			continue
		}
		body, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		text := strings.TrimSpace(strings.ReplaceAll(string(body), "\r\n", "\n"))
		if name == "NOTICE" {
			c.notice = text
		} else if c.licence == "" {
			c.licence = kind(text)
			if c.licence == "" {
				return fmt.Errorf("%s is no licence that is known here", e.Name())
			}
			if c.licence != apache {
				c.text = text
			}
		}
	}
	if c.licence == "" {
		return errors.New("no licence is there")
	}
	return nil
}

const apache = "Apache-2.0"

// kind is the SPDX expression for a licence's text, which may hold several; "" where it
// is none that is known.
func kind(text string) string {
	words := strings.Join(strings.Fields(text), " ")
	has := func(s string) bool { return strings.Contains(words, s) }
	redistribution, names := has("Redistribution and use in source and binary forms"), has("Neither the name")
	var kinds []string
	for _, k := range []struct {
		name string
		is   bool
	}{
		{apache, has("Apache License Version 2.0") || has("Licensed under the Apache License, Version 2.0")},
		{"MIT", has("Permission is hereby granted, free of charge")},
		{"BSD-3-Clause", redistribution && names},
		{"BSD-2-Clause", redistribution && !names},
		{"ISC", has("Permission to use, copy, modify, and/or distribute") ||
			has("Permission to use, copy, modify, and distribute")},
		{"CC-BY-4.0", has("Creative Commons Attribution 4.0")},
		{"FTL OR GPL-2.0-or-later", has("Freetype-Go software is subject to your choice of")},
	} {
		if k.is {
			kinds = append(kinds, k.name)
		}
	}
	return strings.Join(kinds, " AND ")
}

// artifactLicences are those of what may be shaded into the jar.
var artifactLicences = map[string]string{"io.nats:jnats": apache}

// shaded are the artifacts that a POM has the shade plugin include.
func shaded(pom []byte) ([]component, error) {
	var project struct {
		Properties struct {
			All []struct {
				XMLName xml.Name
				Value   string `xml:",chardata"`
			} `xml:",any"`
		} `xml:"properties"`
		Dependencies []struct {
			Group    string `xml:"groupId"`
			Artifact string `xml:"artifactId"`
			Version  string `xml:"version"`
		} `xml:"dependencies>dependency"`
		Plugins []struct {
			Include []string `xml:"configuration>artifactSet>includes>include"`
		} `xml:"build>plugins>plugin"`
	}
	if err := xml.Unmarshal(pom, &project); err != nil {
		return nil, err
	}
	var all []component
	for _, p := range project.Plugins {
		for _, name := range p.Include {
			c := component{name: name, licence: artifactLicences[name]}
			if c.licence == "" {
				return nil, fmt.Errorf("%s is shaded, its licence is not known here", name)
			}
			for _, d := range project.Dependencies {
				if d.Group+":"+d.Artifact == name {
					c.version = d.Version
				}
			}
			for _, property := range project.Properties.All {
				c.version = strings.ReplaceAll(c.version, "${"+property.XMLName.Local+"}", property.Value)
			}
			if c.version == "" || strings.Contains(c.version, "$") {
				return nil, fmt.Errorf("the version of %s is %q", name, c.version)
			}
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("nothing is shaded")
	}
	return all, nil
}
