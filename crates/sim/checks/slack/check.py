"""An independent client, unmodified, against the simulated Slack.

    python3 crates/sim/checks/slack/check.py http://127.0.0.1:4805 xoxb-token [xapp-token]

Needs the packages slack-sdk and slack-bolt, and a running `talaria-sim slack`. Says what was checked, and fails at the
first thing that is not as the client expects it.
"""

import json
import logging
import os
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import slack_bolt.version
import slack_sdk.version
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler

PATIENCE = 20
ADA, DIRECT, CHANNEL = "U0ADA", "D0ADA", "C0ROOM"


def control(base, path, body=None):
    """The side of the simulated vendor that a person stands on."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read())


def until(what, holds):
    """Waits until something holds."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"did not happen: {what}")


def refused(code, call):
    """The client's own exception, with this error."""
    try:
        call()
    except SlackApiError as error:
        assert error.response["error"] == code, error.response.data
        return error.response
    raise AssertionError(f"not refused with {code}")


class Heard:
    """What the client was told, in order."""

    def __init__(self):
        self.all = []
        self.lock = threading.Lock()

    def add(self, kind, body):
        with self.lock:
            self.all.append((kind, body))

    def of(self, kind, number=1):
        """The event of that kind with that number, once it is there."""

        def found():
            with self.lock:
                same = [body for other, body in self.all if other == kind]
            return same[number - 1] if len(same) >= number else None

        return until(f"{kind} number {number}", found)


def listening(client, app_token, heard):
    """A Bolt app over Socket Mode, with the SDK's own socket client."""
    app = App(client=client, signing_secret="unused", token_verification_enabled=True)

    @app.event("message")
    def on_message(event):
        if not event.get("bot_id"):
            heard.add("message", event)

    @app.event("app_mention")
    def on_mention(event):
        heard.add("app_mention", event)

    @app.event("reaction_added")
    def on_reaction(event):
        heard.add("reaction_added", event)

    @app.action("choice.0")
    def on_press(ack, body):
        ack()
        heard.add("press", body)

    @app.command("/talaria")
    def on_command(ack, command):
        ack()
        heard.add("command", command)

    handler = SocketModeHandler(app, app_token, web_client=client, ping_interval=1)
    handler.connect()
    until("a socket", handler.client.is_connected)
    return handler


def receiving(base, client, heard):
    asked = control(base, "/sim/message", {"chat": DIRECT, "kind": "direct", "sender": ADA, "text": "a < b & c"})
    event = heard.of("message")
    assert event["text"] == "a &lt; b &amp; c", event
    assert (event["channel_type"], event["ts"], event["user"]) == ("im", asked["id"], ADA), event
    mention = {"chat": CHANNEL, "kind": "channel", "sender": ADA, "text": "hello", "mentioned": True}
    asked = control(base, "/sim/message", mention)
    me = client.auth_test()["user_id"]
    for kind, number in (("message", 2), ("app_mention", 1)):
        event = heard.of(kind, number)
        assert event["text"] == f"<@{me}> hello", event
        assert event["ts"] == asked["id"], event
    return asked["id"]


def answering(base, client, thread):
    sent = client.chat_postMessage(channel=CHANNEL, text="…", thread_ts=thread)
    assert sent["message"]["thread_ts"] == thread, sent.data
    client.chat_update(channel=CHANNEL, ts=sent["ts"], text="*done*")
    client.assistant_threads_setStatus(channel_id=CHANNEL, thread_ts=thread, status="is thinking…")
    client.reactions_add(channel=CHANNEL, timestamp=thread, name="eyes")
    refused("already_reacted", lambda: client.reactions_add(channel=CHANNEL, timestamp=thread, name="eyes"))
    client.reactions_remove(channel=CHANNEL, timestamp=thread, name="eyes")
    chat = control(base, f"/sim/chats/{CHANNEL}?thread={thread}")
    shown = chat["messages"][-1]
    assert (shown["text"], shown["edits"], shown["ours"]) == ("*done*", 1, True), shown
    assert chat["signs"][-1]["says"] == "is thinking…", chat["signs"]


def pressing(base, client, heard, thread):
    button = {
        "type": "button",
        "text": {"type": "plain_text", "text": "Yes"},
        "action_id": "choice.0",
        "value": "carried",
    }
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "May I?"}},
        {"type": "actions", "elements": [button]},
    ]
    sent = client.chat_postMessage(channel=CHANNEL, text="May I?", blocks=blocks, thread_ts=thread)
    pressed = {"message": sent["ts"], "button": "Yes", "sender": ADA}
    assert control(base, "/sim/press", pressed) == {"found": True}
    body = heard.of("press")
    assert body["actions"][0]["value"] == "carried", body
    assert body["user"]["id"] == ADA and body["container"]["thread_ts"] == thread, body


def files(base, client, heard, thread):
    content = "line\n" * 1000
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "notes.txt")
        with open(path, "w", encoding="utf-8") as out:
            out.write(content)
        shared = client.files_upload_v2(channel=CHANNEL, thread_ts=thread, file=path, initial_comment="look")
    assert shared["files"][0]["id"].startswith("F"), shared.data
    shown = control(base, f"/sim/chats/{CHANNEL}?thread={thread}")["messages"][-1]
    assert (shown["file"]["content"], shown["text"]) == (content, "look"), shown["text"]
    sending = {"name": "in.txt", "media_type": "text/plain", "content": "from Ada"}
    written = {"chat": DIRECT, "kind": "direct", "sender": ADA, "text": "", "files": [sending]}
    control(base, "/sim/message", written)
    event = heard.of("message", 3)
    assert event["subtype"] == "file_share", event
    file = client.files_info(file=event["files"][0]["id"])["file"]
    request = urllib.request.Request(file["url_private"], headers={"authorization": f"Bearer {client.token}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        assert answer.read() == b"from Ada"


def refusals(base, client):
    refused("channel_not_found", lambda: client.chat_postMessage(channel="nowhere", text="x"))
    refused("msg_too_long", lambda: client.chat_postMessage(channel=CHANNEL, text="x" * 40_001))
    refused("message_not_found", lambda: client.chat_update(channel=CHANNEL, ts="1.2", text="x"))
    broken = [{"type": "section", "text": {"type": "mrkdwn", "text": ""}}]
    refused("invalid_blocks", lambda: client.chat_postMessage(channel=CHANNEL, text="x", blocks=broken))
    refused("invalid_auth", WebClient(base_url=client.base_url, token="nobody").auth_test)
    control(base, "/sim/fault", {"on": "send", "do": "403"})
    refused("restricted_action", lambda: client.chat_postMessage(channel=CHANNEL, text="x"))
    control(base, "/sim/fault", {"on": "send", "do": "429", "retry_after": 3})
    answer = refused("ratelimited", lambda: client.chat_postMessage(channel=CHANNEL, text="x"))
    assert answer.status_code == 429 and answer.headers["Retry-After"] == "3", answer.headers
    # The client's own way of waiting.
    patient = WebClient(base_url=client.base_url, token=client.token)
    patient.retry_handlers.append(RateLimitErrorRetryHandler(max_retry_count=1))
    control(base, "/sim/fault", {"on": "send", "do": "429", "retry_after": 1})
    began = time.monotonic()
    patient.chat_postMessage(channel=CHANNEL, text="after a while")
    assert time.monotonic() - began >= 1


def reconnecting(base, handler, heard):
    before = handler.client.session_id()
    for number, fault in ((4, "400 refresh_requested"), (5, "close")):
        control(base, "/sim/fault", {"on": "socket", "do": fault})
        control(base, "/sim/message", {"chat": DIRECT, "kind": "direct", "sender": ADA, "text": f"message {number}"})
        heard.of("message", number)
        until("another socket", lambda: handler.client.is_connected() and handler.client.session_id() != before)
        before = handler.client.session_id()
    # Whatever was not acknowledged came again; in the end all of it is.
    until("everything acknowledged", lambda: control(base, "/sim/backlog")["backlog"] == 0)


def main():
    # A socket that is cut is meant to be.
    logging.disable(logging.CRITICAL)
    base, token = sys.argv[1].rstrip("/"), sys.argv[2]
    app_token = sys.argv[3] if len(sys.argv) > 3 else "xapp-any"
    client = WebClient(base_url=f"{base}/api/", token=token)
    heard = Heard()
    handler = listening(client, app_token, heard)
    thread = receiving(base, client, heard)
    print("ok  receive: message, app_mention, escapes")
    answering(base, client, thread)
    print("ok  reply, edit, status, reactions, in a thread")
    pressing(base, client, heard, thread)
    print("ok  buttons and a press")
    files(base, client, heard, thread)
    print("ok  files up and down")
    control(base, "/sim/message", {"chat": DIRECT, "kind": "direct", "sender": ADA, "text": "/talaria stop it"})
    command = heard.of("command")
    assert (command["command"], command["text"]) == ("/talaria", "stop it"), command
    control(base, "/sim/reaction", {"message": thread, "reaction": "thumbsup", "sender": ADA})
    assert heard.of("reaction_added")["item"]["ts"] == thread
    print("ok  slash command, reaction")
    refusals(base, client)
    print("ok  errors: the client's own exceptions, rate limit with its wait")
    reconnecting(base, handler, heard)
    print("ok  refresh, a cut socket, what was not acknowledged comes again")
    handler.close()
    versions = slack_sdk.version.__version__, slack_bolt.version.__version__
    print("slack-sdk %s, slack-bolt %s" % versions)


if __name__ == "__main__":
    main()
