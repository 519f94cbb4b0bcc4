// Package async carries out, on goroutines of its own, what takes long and what a loop must not wait for. That is the
// start of a JVM, a save to a disk that may stand still, the encoding of a long message.
//
//	Jobs     functions in order, key by key
//	Lane     functions of many that ask, in turn, with bounds for each of them and for all
//	Latest   one function for the newest of the values that are handed over
//	Results  how such work has ended, kept until the loop takes it
//
// A loop stays one goroutine, its engine none: what they hand over runs here. The zero
// value of each type but Lane and Latest is ready to use; all are safe for concurrent use.
//
// The caller calls Wait before it ends.
package async
