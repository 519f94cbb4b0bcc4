// Command pages writes manual pages and completion of Pacer's programs below a directory, as packages have them:
// share/man/man1, share/bash-completion/completions, share/zsh/site-functions and share/fish/vendor_completions.d.
package main
