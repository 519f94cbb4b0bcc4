// Package guides runs what the guides tell a user to run: the blocks of docs/guide that are marked `sh run`, and
// `sh run spark` where they need real Spark. The blocks of a page are one script. It runs as root in a fresh root: a
// file system of this machine's to which nothing is written, with a home, a configuration and state directories that
// are empty, and a network, a name and process ids of its own. All that it has started ends with it.
package guides
