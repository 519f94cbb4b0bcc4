// Package bus carries Pacer's messages over NATS: the only place that knows
// subjects, codecs and who may use them.
//
// # Subjects
//
//	pacer.v1.register.LOGIN        request  driver -> planner   api.RegisterRequest / RegisterReply
//	pacer.v1.app.APP.events        request  driver -> planner   api.Events / EventsReply
//	pacer.v1.app.APP.directive     publish  planner -> driver   api.Directive
//	pacer.v1.node.NODE.hello       request  node -> planner     api.NodeStatus / HelloReply
//	pacer.v1.node.NODE.status      publish  node -> planner     api.NodeStatus
//	pacer.v1.node.NODE.fetch       request  node -> planner     api.FetchRequest / FetchReply
//	pacer.v1.node.NODE.plan        publish  planner -> node     api.Plan
//	pacer.v1.node.NODE.logs        request  planner -> node     api.LogRequest / LogReply
//	pacer.v1.control.LOGIN.VERB    request  cli -> planner      api.ControlRequest / ControlReply
//	pacer.v1.control.LOGIN.plan    request  cli -> planner      api.PlanRequest / PlanReply
//
// VERB is one of apps, app, why, release, deadline, cap, kill, step, profiles, profile, profile-put,
// profile-rm, profile-versions, profile-knee, profile-pin, profile-unpin, nodes, node-drain, node-undrain, node-divide,
// node-consolidate, node-spare, policy,
// policy-set, report, cores, exit, backup, ping, logs, auth-issue, auth-list, auth-revoke, web,
// ticket, auth-token, auth-prove, upload, submit.
// APP, NODE and LOGIN are single tokens.
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
// neither the connection's reader nor the other subscriptions. A planner's handlers only look at
// a message's sender and size, and take everything at once: messages are decoded and handled apart
// (intake), those of one principal in order of arrival, principals in turn. Handlers get a reply
// function which may be called later and from another goroutine, once.
//
// # Bounds
//
// A principal's messages are bounded before it is decoded: messages and bytes in a second (allowance), the
// bytes of a message and the elements of its lists (bounds), how much of them waits (intake). Beyond that they are
// answered with KindTransient, or KindInvalid where no time mends it. A login that goes on for 32 MiB is cut
// and kept out for 10 s (Keyring.OnFlood). A nats-server also has a bound on the payload of each kind of
// principal, which the embedded one has no way to set.
//
// # Versions and faults
//
// Every body but a Directive carries V (a Directive goes only to drivers that
// registered). A message of another version, malformed JSON and a body that names another application or node than its
// subject are answered with an api.Error and never reach a handler. Publications of that kind are dropped and counted
// (Options.OnFault).
//
// # Who may connect
//
// A client connects by a credential alone: a login with a secret of 256 random bits, which a client proves by a
// signature and never sends. The server side has a Keyring: principals (api.Principal) with the public keys of their
// secrets. The server lets each reach its own subjects only:
//
//	principal         login     may publish to                          may subscribe to
//	application APP   APP       register.APP, app.APP.events            app.APP.directive, _INBOX_APP.>
//	node NODE         node-...  node.NODE.hello, node.NODE.status,      node.NODE.plan, node.NODE.logs, _INBOX_LOGIN.>
//	                            node.NODE.fetch,
//	                            control.LOGIN.auth-prove, replies
//	user              user-...  control.LOGIN.*, register.LOGIN         _INBOX_LOGIN.>
//	ticket            ticket-.. register.LOGIN                          _INBOX_LOGIN.>
//	join              join-...  control.LOGIN.auth-issue                _INBOX_LOGIN.>
//	planner           planner   >                                       >
//
// A login begins with the kind of its principal, and no two principals have the same one,
// whatever they are called (api.Principal.Login). APP is an id that a planner has made: it
// begins with app-, and no id that a driver makes up is taken (api.AppID.Made).
//
// A subject names its sender, so handlers know whom a request is from; they decide what a
// user's role allows. An answer goes to an inbox of the sender or nowhere.
//
// A client has its credential in a file of its own (LoadCredential): one line "login:secret".
// A file that everybody on the machine can read is refused, and one that others than its owner can
// write. A secret never leaves the client: it is the seed of an Ed25519 key, whose public half the
// planner keeps, and the client signs the nonce of the server's INFO (Credential.Proves). The hash
// of a secret that an earlier release has kept becomes the public key at its first connection;
// it is proven by a MAC under that hash. Off loopback a client takes no connection without TLS
// unless it is told so (Options.Plaintext).
//
// # TLS
//
// An address that is not loopback needs a certificate (ServerConfig.TLS), unless
// ServerConfig.Plaintext goes without. An Authority makes one; any other does. Its files
// are looked at at each handshake, a client's at each connection, so that they are
// replaced without a restart. Clients trust the authorities of TLS.CA for the name that
// they dial. A fault of a certificate is told in one line with what mends it.
//
// The planner connects to the embedded server inside its process, without a socket, with a
// secret made at start; Server.ConnectAs is for the node of `pacer up`.
//
// # A server of one's own
//
// Instead of the embedded server a nats-server may carry the messages
// (planner.nats-url): all peers, the planner too, then Dial it as nats:// or
// tls://host:port. It needs max_payload: 8388608 (Conn tells OnFault of less), JetStream, which has the planners' state
// (Bucket), and Credential.ServerAuthorization. By that it knows the planner, and asks it about everybody else
// (ServeAuthorization), who then has the rights of the table. Package bustest writes such a configuration. The server
// may start after its clients (Options.Wait) and restart under them. TLS names the files of a secured connection; the
// server's certificate is checked always. A server without users lets everybody do everything (NewOpenKeyring).
package bus
