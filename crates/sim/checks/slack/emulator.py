"""The real gateway against a Slack that nobody here wrote: the emulator `local-slack`.

    python3 crates/sim/checks/slack/emulator.py target/debug/talaria path/to/local-slack

The emulator is the binary of the npm package local-slack-linux-x64. Ada asks in a channel and directly; the answer has to
be in the thread that the question opened, and in the direct chat.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

PATIENCE = 60
EMULATED = """
users:
  - { id: U0ADA, name: ada, real_name: Ada }
channels:
  - { id: C0ROOM, name: room, members: [U0ADA, U0BOT] }
  - { id: D0ADA, name: direct, is_im: true, is_channel: false, members: [U0ADA, U0BOT] }
"""
GATEWAY = """
[server]
listen = "127.0.0.1:%(listen)d"

[[account]]
platform  = "slack"
name      = "emulated"
token     = "xoxb-test-token"
app_token = "xapp-test-token"
api_base  = "http://127.0.0.1:%(slack)d"
allow     = ["U0ADA"]
marks     = true
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read())


def until(what, holds):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            found = holds()
        except OSError:
            found = None
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"did not happen: {what}")


def story(control, gateway):
    until("a gateway that is ready", lambda: ask(f"{gateway}/readyz"))

    def said(channel, text, thread=None):
        body = {"channel": channel, "user": "U0ADA", "text": text}
        if thread:
            body["thread_ts"] = thread
        return ask(f"{control}/message", body)["message"]

    def answers(channel, thread):
        found = ask(f"{control}/messages/{channel}")["messages"]
        ours = [it for it in found if it.get("bot_id") or it.get("user") == "U0BOT"]
        ours = [it for it in ours if it.get("thread_ts") == thread]
        return [it for it in ours if it.get("text", "").strip() not in ("", "…")]

    asked = said("C0ROOM", "<@U0BOT> are you there?")
    in_thread = until("an answer in the thread", lambda: answers("C0ROOM", asked["ts"]))
    print("ok  in the thread:", in_thread[0]["text"].splitlines()[0][:60])
    said("D0ADA", "and here?")
    directly = until("an answer in the direct chat", lambda: answers("D0ADA", None))
    print("ok  directly:", directly[0]["text"].splitlines()[0][:60])
    assert len(answers("C0ROOM", asked["ts"])) == 1, "answered once"
    print("ok  each was answered once")


def main():
    gateway, emulator = sys.argv[1:3]
    ports = {"listen": free_port(), "slack": free_port()}
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "slack.yaml"), "w", encoding="utf-8") as out:
            out.write(EMULATED)
        with open(os.path.join(folder, "talaria.toml"), "w", encoding="utf-8") as out:
            out.write(GATEWAY % ports)
        log = open(os.path.join(folder, "log"), "w+", encoding="utf-8")
        environment = dict(os.environ, TALARIA_HOME=folder, TALARIA_LOG="info")
        arguments = ["--config", os.path.join(folder, "slack.yaml"), "--port", str(ports["slack"])]
        started = [subprocess.Popen([emulator, *arguments, "--base-host", "127.0.0.1"], stdout=log, stderr=log)]
        control = f"http://127.0.0.1:{ports['slack']}/_control"
        try:
            until("the emulator", lambda: ask(f"{control}/state"))
            started.append(subprocess.Popen([gateway, "up"], env=environment, stdout=log, stderr=log))
            story(control, f"http://127.0.0.1:{ports['listen']}")
        except BaseException:
            log.seek(0)
            print(log.read()[-4000:], file=sys.stderr)
            raise
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait(PATIENCE)


if __name__ == "__main__":
    main()
