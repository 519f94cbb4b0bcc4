// Command pause holds the namespaces of a pod in a test cluster: it is the first process of each pod, waits, and ends
// on SIGTERM.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
}
