// Package traffic reads how many bytes this machine's disks and network move, and keeps the highest rates that it saw.
//
//	Read   the counters: /proc/diskstats of whole disks, /proc/net/dev of all links but the loopback
//	Peak   the highest rates between two readings
//
// A disk's partitions, and what is made of disks (loop, ram, dm, md, zram), are left out: their bytes are counted where
// they go. Of links those count that are devices, and all of them where none is, as in a namespace. A network's
// rate is that of its busier direction.
package traffic
