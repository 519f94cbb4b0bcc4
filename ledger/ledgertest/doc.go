// Package ledgertest makes small clusters for the tests of those who read a ledger.
//
// A Cluster is a real ledger.Ledger whose clock the test moves. New joins nodes, App takes
// an application in with executors on them, Ready and Done begin and end its stages. A fact
// that the ledger refuses fails the test. Chain and Diamond are profiles to go with them.
//
// A Cluster is for one goroutine.
package ledgertest
