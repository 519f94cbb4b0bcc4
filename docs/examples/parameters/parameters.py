"""Workers that learn together, and servers that keep the parameters: parameters.py ROLE SERVERS INDEX WORKERS."""
import json
import random
import socket
import socketserver
import sys
import threading
import time

role, servers, index, workers = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3]), int(sys.argv[4])
truth = [3.0, -1.0, 4.0, 1.5]
each = len(truth) // len(servers)  # How many parameters a server keeps.
kept, done, lock = [0.0] * each, set(), threading.Lock()


def address(text):
    host, port = text.rsplit(":", 1)
    return host.strip("[]"), int(port)


class Serve(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            said = json.loads(line)
            with lock:
                for i, by in enumerate(said.get("add", [])):
                    kept[i] += by
                done.update(said.get("done", []))
                answer = {"kept": kept, "done": len(done)}
            self.wfile.write((json.dumps(answer) + "\n").encode())


def connect(text):
    for _ in range(300):  # The server may start later than this program.
        try:
            return socket.create_connection(address(text), 5).makefile("rw")
        except OSError:
            time.sleep(0.1)
    sys.exit("server %s does not answer" % text)


def ask(files, said):
    answers = []
    for file, one in zip(files, said):
        file.write(json.dumps(one) + "\n")
        file.flush()
        answers.append(json.loads(file.readline()))
    return answers


def learn(me):
    draw, files = random.Random(me), [connect(s) for s in servers]
    for _ in range(300):
        now = [p for a in ask(files, [{}] * len(files)) for p in a["kept"]]
        x = [draw.uniform(-1, 1) for _ in truth]
        wrong = sum((t - p) * v for t, p, v in zip(truth, now, x)) + draw.gauss(0, 0.001)
        step = [0.1 * wrong * v for v in x]
        ask(files, [{"add": step[i * each:(i + 1) * each]} for i in range(len(files))])
    ask(files, [{"done": [me]}] * len(files))
    return files


if role == "serve":
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer.daemon_threads = True
    with socketserver.ThreadingTCPServer(address(servers[index]), Serve) as server:
        print("serves at", servers[index], flush=True)
        server.serve_forever()
elif role == "work":
    learn(index + 1)
else:
    files = learn(0)
    while (answers := ask(files, [{}] * len(files)))[0]["done"] < workers + 1:
        time.sleep(0.05)
    found = [p for a in answers for p in a["kept"]]
    print("found", [round(p, 2) for p in found], flush=True)
    sys.exit(0 if max(abs(t - p) for t, p in zip(truth, found)) < 0.1 else 1)
