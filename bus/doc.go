// Package bus carries Pacer's messages over NATS: the only place that knows
// subjects, codecs and who may use them.
//
// # Subjects
//
//	pacer.v1.app.register          request  driver -> planner   api.RegisterRequest / RegisterReply
//	pacer.v1.app.APP.events        request  driver -> planner   api.Events / EventsReply
//	pacer.v1.app.APP.directive     publish  planner -> driver   api.Directive
//	pacer.v1.node.NODE.hello       request  node -> planner     api.NodeStatus / HelloReply
//	pacer.v1.node.NODE.status      publish  node -> planner     api.NodeStatus
//	pacer.v1.node.NODE.plan        publish  planner -> node     api.Plan
//	pacer.v1.node.NODE.logs        request  cli -> node         api.LogRequest / LogReply
//	pacer.v1.control.VERB          request  cli -> planner      api.ControlRequest / ControlReply
//	pacer.v1.control.plan          request  cli -> planner      api.PlanRequest / PlanReply
//	pacer.v1.planner               request  planner -> planners api.PresenceRequest / Presence
//
// VERB is one of apps, app, release, deadline, cap, kill, step, profiles, profile, profile-put,
// profile-rm, nodes, node-drain, node-undrain, node-divide, exit, backup, ping. APP and NODE are
// single tokens.
//
// Bodies are JSON. A message is at most MaxPayload bytes.
//
// # Delivery
//
// A request has one answer or a timeout; it is never repeated by this package.
// A publication reaches whoever is connected at that moment or nobody: Plans,
// Directives and statuses are whole values, and each side asks again (hello,
// events) after a reconnect. While a connection is down a publication fails with
// KindTransient at once instead of waiting in a buffer, where it would age.
//
// Each subscription has its own queue and goroutine, so a slow handler delays
// neither the connection's reader nor the other subscriptions. Handlers of one
// subscription run one after the other, in order of arrival. They get a reply
// function which may be called later and from another goroutine, once.
//
// # Versions and faults
//
// Every body but a Directive carries V (a Directive goes only to drivers that
// registered). A message of another version, malformed JSON and a body
// that names another application or node than its subject are answered with an
// api.Error and never reach a handler; publications of that kind are dropped and
// counted (Options.OnFault).
//
// # Who may connect
//
// Without a credentials file anybody who reaches the address may do everything:
// the server then binds loopback only, and Validate refuses any other address.
//
// A credentials file has one line per role, "role:password", where role is one
// of planner, node, application and operator (the CLI); blank lines and lines that begin
// with # are skipped, and a password lasts to the end of the line. The server's
// file holds the roles that may connect; a client's file holds the line of its
// own role and may hold others. The role is the NATS user name, so that every
// NATS client (the driver's jnats too: spark.pacer.credentials names a file with
// the line "application:...") can send it as plain user and password. A file
// that everybody on the machine can read is refused, and one that others than its owner can
// write.
//
//	role         may publish to                         may subscribe to
//	application  app.register, app.*.events             app.*.directive, _INBOX.>
//	node         node.*.hello, node.*.status, replies   node.*.plan, node.*.logs, _INBOX_node.>
//	operator     control.>, node.*.logs                 _INBOX_operator.>
//
//	planner      >                                      >
//
// The planner (and the node of `pacer up`) connects to the embedded server inside
// its process, without a socket, with a password made at start.
// Passwords cross the network as they are, inside TLS where the server has a
// certificate.
//
// # TLS
//
// An address that is not loopback needs a certificate (ServerConfig.TLS), unless
// ServerConfig.Plaintext goes without. An Authority makes one; any other does. Its files
// are looked at at each handshake, a client's at each connection, so that they are
// replaced without a restart. Clients trust the authorities of TLS.CA for the name that
// they dial. What is wrong with a certificate is told in one line with what mends it.
//
// # A server of one's own
//
// Instead of the embedded server a nats-server may carry the messages
// (planner.nats-url): all peers, the planner too, then Dial it as nats:// or
// tls://host:port. It needs max_payload: 8388608 (Conn tells OnFault of less), the
// users and permissions of the table, with allow_responses for node, and no
// JetStream. Package bustest writes such a configuration. The server may start
// after its clients (Options.Wait) and restart under them. TLS names the files of
// a secured connection; the server's certificate is checked always.
package bus
