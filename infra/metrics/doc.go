// Package metrics shows a planner and a node controller to Prometheus, and
// answers /healthz.
//
// # Names
//
// Base units, _total for counters, Spark's label names (application_id, application_name, executor_id) so that
// panels join with Spark's own. docs/reference/metrics.md lists all, made from what is registered (test/pages).
//
// Series of an application exist while it runs there: executors' ids are never
// used twice, so they would pile up. They are made from the newest status or
// answer at each scrape, not kept.
//
// At most 200 applications and 200 profiles have series of their own. An application that has some keeps them until it
// ends; the oldest of the others follow. Profiles have them in the order of their first runs, until the planner ends.
//
// No metric is registered globally: the caller gives the registerer. All methods
// are safe for concurrent use. The package decides nothing and knows neither
// engine: its callers translate.
package metrics
