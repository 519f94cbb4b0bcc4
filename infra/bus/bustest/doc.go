// Package bustest runs a real nats-server for tests, in a process of its own on
// loopback: the twin of the server that package bus embeds. The binary is built
// from the module that go.mod names, its configuration is the one that
// docs/configuration.md gives to users, and certificates are made for each test.
// Buffered stands for a socket where server and clients are one process.
package bustest
