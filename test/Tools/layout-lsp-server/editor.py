# Check what an editor receives from the server over standard input and output: a located error for an invalid layout,
# hover text, and definitions.

# RUN: %python %s %layout_obj_root/bin/layout-lsp-server
import json
import subprocess
import sys

# The second string of a blocked layout names the axes of the first.
WRONG = '''func.func @f(%x: tensor<4x6xf32, #layout.blocked<"AB" to "BC4b">>) {
  return
}
'''
RIGHT = '''#tiles = #layout.blocked<"AB" to "BA4a">
func.func @f(%x: tensor<4x6xf32>) -> tensor<4x6xf32, #tiles> {
  %0 = layout.convert %x : tensor<4x6xf32> to tensor<4x6xf32, #tiles>
  return %0 : tensor<4x6xf32, #tiles>
}
'''


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.requests = 0

    def send(self, method, params, **more):
        text = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()

    def receive(self, is_wanted):
        """Returns the next matching message; others are dropped."""
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()):
                name, value = line.split(b":")
                if name == b"Content-Length":
                    length = int(value)
            assert length, "the server has ended"
            message = json.loads(self.process.stdout.read(length))
            if is_wanted(message):
                return message

    def request(self, method, params):
        self.requests += 1
        number = self.requests
        self.send(method, params, id=number)
        return self.receive(lambda message: message.get("id") == number)["result"]

    def open(self, uri, text):
        """Opens a module and returns its diagnostics."""
        self.send("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "mlir", "version": 1, "text": text}})
        message = self.receive(lambda message: message.get("method") ==
                               "textDocument/publishDiagnostics" and
                               message["params"]["uri"] == uri)
        return message["params"]["diagnostics"]


def at(uri, text, word, place=0):
    """Returns the position of an occurrence of a word, in the form of a request."""
    offset = -1
    for _ in range(place + 1):
        offset = text.index(word, offset + 1)
    before = text[:offset]
    return {"textDocument": {"uri": uri},
            "position": {"line": before.count("\n"),
                         "character": offset - (before.rfind("\n") + 1)}}


server = Server(sys.argv[1])
abilities = server.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
assert abilities["capabilities"]["hoverProvider"], abilities
server.send("initialized", {})

wrong, = server.open("test:///wrong.mlir", WRONG)
assert wrong["severity"] == 1, wrong
assert wrong["range"]["start"]["line"] == 0, wrong
assert wrong["range"]["start"]["character"] >= WRONG.index('"AB"'), wrong
assert "letter 'A' is missing in the second string" in wrong["message"], wrong

uri = "test:///right.mlir"
assert server.open(uri, RIGHT) == []
hover = server.request("textDocument/hover", at(uri, RIGHT, "layout.convert"))
assert '"layout.convert"' in hover["contents"]["value"], hover
value, = server.request("textDocument/definition", at(uri, RIGHT, "%0", place=1))
assert value["uri"] == uri and value["range"]["start"] == {"line": 2, "character": 2}, value
layout, = server.request("textDocument/definition", at(uri, RIGHT, "#tiles", place=2))
assert layout["uri"] == uri and layout["range"]["start"]["line"] == 0, layout

server.request("shutdown", None)
server.send("exit", None)
assert server.process.wait(timeout=60) == 0
