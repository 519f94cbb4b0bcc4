"""Makes an image of files of this machine, as an archive that containerd imports.

Usage: image.py OUT NAME CONFIG FILES: CONFIG is the configuration of the image's containers in JSON. FILES has a line for
each path: SOURCE, a tab and its place in the image. A directory comes with all below it, links are followed, and the
libraries that its programs are linked with come along. A source of @ is an empty directory that everybody may write to,
@TARGET a link.
"""
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile

LEFT_OUT = re.compile(r"/(jmods|site-packages|connect-repl|test|tests|idlelib|ensurepip|__pycache__|lib2to3|turtledemo)$|/lib(awt_xawt|splashscreen|jawt|python3[0-9.]*)\.(so|a)$"
                      r"|/(libjsound|lib2d)\.so$|/src\.zip$|/config-3[^/]*$|/_tkinter[^/]*$")


def programs(sources):
    """What of the sources may be linked with libraries."""
    for source in sources:
        inside = [os.path.join(top, name) for top, _, names in os.walk(source) for name in names] if os.path.isdir(source) else [source]
        for path in inside:
            if not LEFT_OUT.search(path) and os.path.isfile(path):
                with open(path, "rb") as f:
                    if f.read(4) == b"\x7fELF":
                        yield path


def libraries(paths):
    """The files of the machine's libraries that programs are linked with."""
    said = subprocess.run(["ldd", *paths], capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"(?:=> |^\t)(/(?:usr/)?lib(?:64)?/(?!jvm)\S+) \(", said, re.M)))


def main(out, name, config, listed):
    files = [line.rstrip("\n").split("\t") for line in open(listed)]
    layer = out + ".layer"
    with tarfile.open(layer, "w", dereference=True) as tar:
        def put(source, target):
            if LEFT_OUT.search("/" + target) or not os.path.exists(source):  # A link may lead nowhere.
                return
            tar.add(source, target.lstrip("/"), recursive=False, filter=owned)
            for name in sorted(os.listdir(source)) if os.path.isdir(source) else ():
                put(os.path.join(source, name), os.path.join(target, name))

        def owned(info):
            info.uid = info.gid = info.mtime = 0
            info.uname = info.gname = ""
            return info

        for source, target in files:
            if not source.startswith("@"):
                put(source, target)
                continue
            info = tarfile.TarInfo(target.lstrip("/"))
            info.type, info.mode, info.linkname = (tarfile.SYMTYPE, 0o777, source[1:]) if source[1:] else (tarfile.DIRTYPE, 0o1777, "")
            tar.addfile(info)
        for path in libraries(list(programs(s for s, _ in files if not s.startswith("@")))):
            put(path, path)
    digest = hashlib.sha256()
    with open(layer, "rb") as f:
        while block := f.read(1 << 20):
            digest.update(block)
    body = json.dumps({"architecture": "amd64", "os": "linux", "config": json.loads(config), "history": [{}],
                       "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest.hexdigest()]}}).encode()
    named = hashlib.sha256(body).hexdigest() + ".json"
    manifest = json.dumps([{"Config": named, "RepoTags": [name], "Layers": ["layer.tar"]}]).encode()
    with tarfile.open(out + ".new", "w") as tar:
        tar.add(layer, "layer.tar")
        for name, body in ((named, body), ("manifest.json", manifest)):
            info = tarfile.TarInfo(name)
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
    os.remove(layer)
    os.rename(out + ".new", out)


main(*sys.argv[1:])
