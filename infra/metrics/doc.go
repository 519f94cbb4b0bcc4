// Package metrics shows a planner and a node controller to Prometheus, and
// answers /healthz.
//
// # Names
//
// Base units, _total for counters, Spark's label names (application_id,
// application_name, executor_id) so that panels join with Spark's own.
//
// Both daemons
//
//	pacer_build_info{version,go_version}                    1
//	pacer_certificate_expiry_timestamp_seconds              when the certificate ends with which the daemon answers; none
//	                                                        where it has none
//
// A planner
//
//	pacer_apps{state}                                       applications known
//	pacer_apps_paced{pacing}                                running ones: paced, paused, released, recording, ...
//	pacer_apps_admitted_total{verdict}                      registrations taken
//	pacer_apps_rejected_total{reason}                       registrations refused
//	pacer_app_deadline_seconds{application_id,application_name}
//	pacer_app_elapsed_seconds{...}                          on the deadline clock; of 200 applications, and of all
//	                                                        others together by the name other: the longest
//	pacer_app_predicted_finish_seconds{...}                 on the deadline clock
//	pacer_app_cpu_seconds_total{...}                        core-seconds used; of the others the sum
//	pacer_app_estimated_work_ratio{...}                     of what is left of its work, with a deadline: of running
//	                                                        stages that its profile lacks
//	pacer_app_deadline_error_ratio{profile}                 histogram, Eq 4 / 100: below 0 is late; of 200
//	                                                        profiles, and of all others by the name other
//	pacer_runs_total{profile,result}                        ended: met, late, unbound (no deadline), failed, killed,
//	                                                        refused, unknown
//	pacer_run_margin_seconds{profile}                       of the newest run: before its deadline, below 0 after it
//	pacer_core_seconds_total{profile}                       used by runs that have ended
//	pacer_freed_core_seconds_total{profile}                 offered to them by their nodes, and left to others
//	pacer_apps_at_risk{profile}                             with a deadline, waiting or running: expected to be late
//	pacer_queue_oldest_seconds                              the longest wait of those that wait, 0 without any
//	pacer_planner_serving                                   1, or 0 of a planner that stands by
//	pacer_store_read_only                                   1 while the planner cannot store its state
//	pacer_nodes{state}                                      nodes known
//	pacer_node_offered_cores{node}
//	pacer_node_lendable_bytes{node}                         what its executors leave of their claims (planner.lend)
//	pacer_node_lent_bytes{node}                             what batch work is lent there
//	pacer_executors_taken_total                             executors from which that was taken back
//	pacer_cluster_met_ratio                                 of the applications with a deadline in the history, and of
//	                                                        those that run past theirs: the part that ended in time
//	pacer_cluster_useful_ratio                              of their work: the part of those that ended in time
//	pacer_cluster_wasted_ratio                              CPU time of the others, as a part of the work of all
//	pacer_cluster_fairness_ratio                            Jain's index of what applications have of the nodes that they
//	                                                        could use, mean of the minutes of the last hour
//	pacer_cluster_equality_ratio                            the same of nodes, of those that could use as many
//	pacer_reserved_cores                                    for deadlines that nobody has recorded (planner.admission)
//	pacer_admission_fraction_ratio                          of what an application could use: the part that is reserved
//	                                                        for such a deadline; once enough have ended
//	pacer_idle_memory_bytes                                 of executors that have run no task for a minute, while
//	                                                        somebody waits for memory
//	pacer_store_write_duration_seconds                      histogram
//	pacer_publish_errors_total
//
// A node controller
//
//	pacer_node_cpu_offered_cores                            to applications
//	pacer_node_cpu_cores                                    of the machine
//	pacer_node_cpu_others_cores                             last used by what is not Pacer's
//	pacer_node_memory_bytes
//	pacer_node_pressure_ratio{resource}                     part of the last ten seconds in which some task
//	                                                        waited for cpu, memory or io; none without psi
//	pacer_executors{state}
//	pacer_executor_cpu_quota_cores{application_id,executor_id}    +Inf for none
//	pacer_executor_cpu_used_cores{...}                      between the last two statuses
//	pacer_executor_cpu_seconds_total{...}
//	pacer_executor_cpu_throttled_seconds_total{...}
//	pacer_executor_memory_heap_bytes{...}                   of memory once a minute and after a move
//	pacer_executor_memory_offheap_bytes{...}                that it may use
//	pacer_executor_memory_offheap_used_bytes{...}
//	pacer_executor_memory_offheap_owed_bytes{...}           that it is to give back
//	pacer_executor_memory_resident_bytes{...}
//	pacer_executor_memory_page_cache_bytes{...}
//	pacer_executor_memory_limit_bytes{...}
//	pacer_executor_memory_moves_total{...}                  resizings of off-heap memory
//	pacer_executor_memory_moving_seconds_total{...}
//	pacer_executor_memory_evicted_bytes_total{...}          blocks, for resizings
//	pacer_executor_memory_spilled_bytes_total{...}          by tasks
//	pacer_executor_memory_pressure_ratio{...}               the same of its tasks and memory, on cgroup v2
//	pacer_app_lost_cpu_seconds_total{application_id,to}     asked for and not granted, by who had most
//	pacer_app_short_cores{application_id,to}                 asked for and not granted now, by who has most; while a
//	                                                         shortage lasts
//	pacer_stage_setpoint_ratio{application_id,stage_id,attempt,executor_id}
//	pacer_stage_progress_ratio{...}
//	pacer_stage_quota_changes_total{...}
//	pacer_control_loop_duration_seconds                     histogram of ticks
//	pacer_control_loop_missed_ticks_total
//	pacer_cgroup_write_errors_total
//	pacer_events_total{event}                               what the engine told
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
