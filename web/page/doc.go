// Package page is what a browser shows of a planner: files that a server hands out as they are, without a build step.
//
// They are ES modules with JSDoc types, one style sheet, and below lib what others have written, as scripts/vendor.sh
// fetches it from npm. All addresses are relative, so the page works behind any path of a proxy. It loads nothing from
// elsewhere, and needs no style or script within its text but the import map, whose hash Policy has.
//
//   - main.js starts it, session.js takes the one-time code of `pacer web`, api.js asks, watch.js follows the stream;
//   - state.js holds what the stream has told as signals; format.js and parts.js have words and small parts;
//   - now.js, application.js, profile.js and report.js are its views, the last three loaded when they are wanted.
//
// The server that hands it out must send Policy as the Content-Security-Policy.
package page
