// Command guest is /init of the virtual machine of package vm: it mounts what the
// tests need, cgroup v2 among it, lays the groups out as systemd does, runs the
// test binaries one after the other with their output on the second serial port,
// and switches the machine off. It does nothing unless it is process 1.
package main
