// Package claim sets what a source says beside what experiments here give. A source is a publication that
// Pacer follows; a claim is one figure of it, and holds where ours lies in the claim's band. A band is
// stated by what the source leaves open, never by what is measured. Claims stand with the experiments that
// try them; sim/repro has the list of sources.
package claim
