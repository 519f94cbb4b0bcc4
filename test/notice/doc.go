// Package main writes NOTICE: what the binaries and the jar for Spark contain of others,
// under which licences, with the texts and notices that these ask to pass on.
//
// The modules are those that the commands link (go list), without those that only tests
// use; their texts are read from the module cache. The packages of npm that the page consists
// of are listed, with their licences, below web/page/lib. The jar's artifacts are those that
// spark/pom.xml shades in.
package main
