package main

import (
	"os"
	"strings"
	"testing"
)

// What is linked and shaded is what NOTICE says.
func TestNoticeIsThatOfTheTree(t *testing.T) {
	want, err := notice("../..")
	if err != nil {
		t.Fatal(err)
	}
	if is, err := os.ReadFile("../../NOTICE"); err != nil || string(is) != string(want) {
		t.Errorf("NOTICE (%v) is not that of the tree: run `make notice`", err)
	}
	for _, name := range []string{"github.com/nats-io/nats.go", "github.com/tidwall/buntdb", "io.nats:jnats", "preact", "@dagrejs/dagre"} {
		if !strings.Contains(string(want), "  "+name+" ") {
			t.Errorf("NOTICE does not name %s", name)
		}
	}
	for _, name := range []string{"pgregory.net/rapid", "github.com/google/go-cmp"} {
		if strings.Contains(string(want), name) {
			t.Errorf("NOTICE names %s, which only tests use", name)
		}
	}
}

func TestShadedRefusesWhatItDoesNotKnow(t *testing.T) {
	pom := func(include string) []byte {
		return []byte(`<project><properties><v>1.2</v></properties>
<dependencies><dependency><groupId>io.nats</groupId><artifactId>jnats</artifactId><version>${v}</version></dependency></dependencies>
<build><plugins><plugin><configuration><artifactSet><includes>` + include + `</includes></artifactSet></configuration></plugin></plugins></build></project>`)
	}
	got, err := shaded(pom("<include>io.nats:jnats</include>"))
	if err != nil || len(got) != 1 || got[0].version != "1.2" || got[0].licence != apache {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, include := range []string{"", "<include>org.example:other</include>"} {
		if _, err := shaded(pom(include)); err == nil {
			t.Errorf("no error for %q", include)
		}
	}
}

func TestKinds(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n  Version 2.0, January 2004":                                                           apache,
		"MIT License\n\nPermission is hereby granted, free of charge, to any person":                            "MIT",
		"Redistribution and use in source and binary forms, ... * Neither the name of the copyright holder nor": "BSD-3-Clause",
		"Redistribution and use in source and\nbinary forms, with or without":                                   "BSD-2-Clause",
		"Apache License Version 2.0 ... Permission is hereby granted, free of charge":                           apache + " AND MIT",
		"All rights reserved.": "",
	} {
		if got := kind(text); got != want {
			t.Errorf("kind of %q is %q, want %q", text, got, want)
		}
	}
}
