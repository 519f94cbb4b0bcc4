// Package vm runs tests of other packages on a machine of their own that has
// cgroup v2, which the machine at hand may not have: a small virtual machine with
// Debian's kernel, BusyBox and nothing else.
//
// # What runs
//
// The tests are the ones that run on the machine at hand too, in binaries of `go
// test -c`: package cgroup whole, the process runtime's conformance suite, the
// guard and the conflicts of a node controller (suites in vm_test.go). A test that
// is skipped inside is a fault, unless it is named as one that has to be.
//
// # The machine
//
// Parts.Build writes an initramfs: /init (package guest), BusyBox, the test
// binaries with the C library where they were linked against it, and users as
// Debian has them. Parts.Run boots it under qemu, which emulates 2 CPUs and 768
// MiB; that takes some 5 s. The first serial port is the kernel's console, the
// second carries what Parse reads. A RAM disk is its only block device, of which there
// is page cache. The groups are laid out as under systemd: no process in the root
// group, /init in init.scope, the tests in system.slice/tests.service.
//
// # What the caller does
//
// scripts/vm.sh fetches qemu, the kernel, its RAM disk and BusyBox into the cache (Find); make
// test-all has it do so. Where they are not there, Find says what is missing and the
// test is skipped with that line.
//
// scripts/units-vm.sh has a machine of its own, with Debian's systemd, on which it tries the package and its units
// (testdata/units.sh, package standin).
//
// What it does not do: no systemd and no Docker run inside, no Java, no network
// but the loopback.
package vm
