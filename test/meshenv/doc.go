// Package meshenv has tests of package probe over real messages: 100 workers and 10 schedulers, each a loop with a
// connection of its own to an embedded nats-server, in virtual time (testing/synctest).
//
// Each story of one table is played twice, over the simulated network (sim/des) on which the figures of sim/mesh rest,
// and over NATS, and has to come out alike. The order of what happens at one instant of a bubble is not fixed, so what
// is compared are counts and means.
//
// Real are the engines, the server, its clients, subscriptions, messages as JSON, and connections that break and come
// back. Sockets are pipes inside the process. NATS by itself loses and delays nothing while it is connected: a story's
// losses, delays and duplicates are made where a node hands a message to its client.
package meshenv
