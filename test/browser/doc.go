// Package browser drives a chromium of Debian's, for tests and figures of the page: a Tab opens an address, keeps what
// the page has asked for and what its console has said, and waits for what the page shows, never for a time.
//
// scripts/browser.sh installs chromium, and axe-core, of which AxeEnv names the file.
package browser
