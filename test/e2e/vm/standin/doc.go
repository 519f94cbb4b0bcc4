// Command standin plays Spark on a machine without Java, for scripts/units-vm.sh. With a credential's file and a name
// it is a driver: it registers an application of that name with the planner of this machine, says which of its
// executors run, and ends the application at SIGTERM. Started in Java's place it is an executor that waits for work.
package main
