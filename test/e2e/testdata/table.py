"""A table of weights that programs beside it ask for: each connection is told the next one.

Usage: table.py HOST:PORT
"""
import socketserver
import sys


class Next(socketserver.BaseRequestHandler):
    given = 0

    def handle(self):
        Next.given += 1
        self.request.sendall(b"%d\n" % Next.given)


host, port = sys.argv[1].rsplit(":", 1)
socketserver.TCPServer.allow_reuse_address = True
print("table at", sys.argv[1], flush=True)
socketserver.TCPServer((host, int(port)), Next).serve_forever()
