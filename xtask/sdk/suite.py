"""OpenAI's own Python client, unmodified, against a real gateway.

    suite.py listen MODEL           a model that remembers what it was asked, in front of another one
    suite.py check BASE KEY MODEL   every check; the last line counts them
    suite.py promises BASE KEY      the same for a gateway that nobody configured
"""

import json
import sys
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q"
    "DwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def listen(model):
    """Passes every question on, and tells the last one to whoever asks for /seen."""
    seen = {"last": None}

    class Ear(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def log_message(self, *_):
            pass

        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(seen).encode())

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            seen["last"] = json.loads(body)
            url = model.rsplit("/v1", 1)[0] + self.path
            request = urllib.request.Request(url, body, {"content-type": "application/json"})
            try:
                with urllib.request.urlopen(request) as answer:
                    self.send_response(answer.status)
                    self.send_header("content-type", answer.headers["content-type"])
                    self.end_headers()
                    while piece := answer.read1():
                        self.wfile.write(piece)
                        self.wfile.flush()
            except urllib.error.HTTPError as refused:
                self.send_response(refused.code)
                if wait := refused.headers["retry-after"]:
                    self.send_header("retry-after", wait)
                self.end_headers()
                self.wfile.write(refused.read())
            except BrokenPipeError:
                pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Ear)
    print(f"ready http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()


class World:
    """A gateway, and how to look behind it."""

    def __init__(self, base, key, model):
        self.base, self.key, self.model = base, key, model

    def client(self, key=None, **settings):
        import openai

        settings = {"max_retries": 0, "timeout": 30, **settings}
        return openai.OpenAI(base_url=self.base + "/v1", api_key=key or self.key, **settings)

    def call(self, path, body=None):
        """The operator's own API."""
        headers = {"authorization": "Bearer " + self.key, "content-type": "application/json"}
        body = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, body, headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def new_key(self, name):
        return self.call("/api/keys", {"name": name, "scopes": ["chat"]})["key"]

    def seen(self):
        with urllib.request.urlopen(self.model + "/seen") as answer:
            return json.load(answer)["last"]


def user(content):
    return [{"role": "user", "content": content}]


def ask(client, content, **wishes):
    return client.chat.completions.create(model="assistant", messages=user(content), **wishes)


def raises(kind, act, code=None):
    try:
        act()
    except kind as error:
        found = error.body.get("code") if isinstance(error.body, dict) else None
        assert code is None or found == code, f"{found}: {error}"
        return error
    raise AssertionError(f"expected {kind.__name__}")


def models_are_listed(world):
    assert [model.id for model in world.client().models.list()] == ["assistant"]
    assert world.client().models.retrieve("assistant").owned_by == "talaria"


def an_answer_and_what_it_cost(world):
    answer = ask(world.client(), "hello")
    assert answer.choices[0].message.content == "re: hello", answer
    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].finish_reason == "stop"
    usage = answer.usage
    assert usage.prompt_tokens > 0 and usage.completion_tokens > 0, usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def a_stream_and_what_it_cost(world):
    options = {"include_usage": True}
    chunks = list(ask(world.client(), "words 30", stream=True, stream_options=options))
    assert chunks[0].choices[0].delta.role == "assistant"
    said = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert len("".join(said).split()) == 30, said
    assert len([bit for bit in said if bit]) > 1, "all at once"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == [] and chunks[-1].usage.total_tokens > 0
    whole = ask(world.client(), "words 30").choices[0].message.content
    assert "".join(said) == whole


def tools_in_a_stream_do_no_harm(world):
    chunks = list(ask(world.client(), "tool: echo heron", stream=True))
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert "heron" in said, said
    progress = [chunk.model_extra["talaria"] for chunk in chunks if "talaria" in chunk.model_extra]
    assert [step["status"] for step in progress] == ["running", "completed"], progress


def system_messages_reach_the_model(world):
    messages = [
        {"role": "system", "content": "Speak of herons."},
        {"role": "developer", "content": "Be brief."},
        *user("first"),
        {"role": "assistant", "content": "re: first"},
        *user("second"),
    ]
    client = world.client()
    answer = client.chat.completions.create(model="assistant", messages=messages)
    assert answer.choices[0].message.content == "re: second"
    asked = world.seen()["messages"]
    told = " ".join(json.dumps(one["content"]) for one in asked if one["role"] == "system")
    assert "Speak of herons." in told and "Be brief." in told, asked
    rest = [(one["role"], one["content"]) for one in asked if one["role"] != "system"]
    assert rest == [("user", "first"), ("assistant", "re: first"), ("user", "second")], rest


def options_reach_the_model(world):
    wishes = {"max_completion_tokens": 50, "temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ["END"]}
    ask(world.client(), "hello", **wishes)
    asked = world.seen()
    assert asked.get("temperature") == 0.5 and asked.get("stop") == ["END"], asked
    assert 50 in (asked.get("max_tokens"), asked.get("max_completion_tokens")), asked


def pictures_reach_the_model(world):
    parts = [
        {"type": "image_url", "image_url": {"url": PICTURE}},
        {"type": "text", "text": "hello"},
    ]
    answer = ask(world.client(), parts)
    assert "hello" in answer.choices[0].message.content
    assert PICTURE in json.dumps(world.seen()["messages"]), "the picture got lost"


def a_conversation_goes_on(world):
    raw = world.client().chat.completions.with_raw_response
    first = raw.create(model="assistant", messages=user("one"))
    session = {"x-talaria-session-id": first.headers["x-talaria-session-id"]}
    second = raw.create(model="assistant", messages=user("two"), extra_headers=session)
    assert second.headers["x-talaria-session-id"] == first.headers["x-talaria-session-id"]
    said = [one["content"] for one in world.seen()["messages"] if one["role"] != "system"]
    assert said == ["one", "re: one", "two"], said


def responses_are_made_kept_and_deleted(world):
    import openai

    responses = world.client().responses
    first = responses.create(model="assistant", input="one", instructions="Be brief.")
    assert (first.status, first.output_text) == ("completed", "re: one"), first
    assert first.usage.total_tokens > 0
    assert "Be brief." in json.dumps(world.seen()["messages"])
    second = responses.create(model="assistant", input="two", previous_response_id=first.id)
    said = [one["content"] for one in world.seen()["messages"] if one["role"] != "system"]
    assert said == ["one", "re: one", "two"], said
    assert responses.retrieve(second.id).output_text == "re: two"
    responses.delete(second.id)
    raises(openai.NotFoundError, lambda: responses.retrieve(second.id), "not_found")
    raises(openai.BadRequestError, lambda: responses.create(model="assistant", input=[]), "bad_input")


def responses_are_streamed(world):
    responses = world.client().responses
    events = list(responses.create(model="assistant", input="words 30", stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    said = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert len(said.split()) == 30, said
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == said
    with responses.stream(model="assistant", input="hello") as stream:
        assert stream.get_final_response().output_text == "re: hello"


def errors_are_the_clients_own(world):
    import openai

    client = world.client()
    raises(openai.AuthenticationError, lambda: ask(world.client("wrong"), "x"), "unauthorized")
    unknown = lambda: client.chat.completions.create(model="gpt-4o", messages=user("x"))
    raises(openai.NotFoundError, unknown, "model_not_found")
    raises(openai.NotFoundError, lambda: client.models.retrieve("gpt-4o"), "model_not_found")
    raises(openai.BadRequestError, lambda: ask(client, "x", n=2), "unsupported_parameter")
    raises(openai.BadRequestError, lambda: ask(client, "x", temperature=9), "bad_input")
    raises(openai.BadRequestError, lambda: ask(client, ""), "bad_input")
    big = raises(openai.APIStatusError, lambda: ask(client, "x" * 11_000_000), "too_large")
    assert big.status_code == 413


def failures_of_the_model_have_codes(world):
    import openai

    # Whoever may repeat what failed does not: tools may have run.
    client = world.client(max_retries=2)
    for said, kind, status, code in (
        ("fail 400", openai.InternalServerError, 502, "model_refused"),
        ("fail 401", openai.InternalServerError, 502, "model_auth"),
        ("fail 413", openai.BadRequestError, 400, "context_length_exceeded"),
        ("fail 429", openai.RateLimitError, 429, "model_overloaded"),
    ):
        before = len(world.call("/api/runs?limit=200")["data"])
        error = raises(kind, lambda: ask(client, said), code)
        assert error.status_code == status, error
        assert error.response.headers["x-should-retry"] == "false"
        assert error.response.headers.get("retry-after") == ("1" if status == 429 else None)
        assert "simulated" not in str(error) and "127.0.0.1" not in str(error), error
        after = len(world.call("/api/runs?limit=200")["data"])
        assert after == before + 1, "it was repeated"
    for said, code in (("fail 400", "model_refused"), ("fail 413", "context_length_exceeded")):
        raises(openai.APIError, lambda: list(ask(client, said, stream=True)), code)
        events = list(client.responses.create(model="assistant", input=said, stream=True))
        assert events[-1].type == "response.failed", events[-1]
        assert events[-1].response.error.code == code, events[-1]


def an_answer_that_was_cut_says_so(world):
    client = world.client()
    answer = ask(client, "words 30", max_completion_tokens=5)
    assert answer.choices[0].finish_reason == "length", answer
    assert 0 < len(answer.choices[0].message.content.split()) < 30
    chunks = list(ask(client, "words 30", max_tokens=5, stream=True))
    assert chunks[-1].choices[0].finish_reason == "length", chunks[-1]
    response = client.responses.create(model="assistant", input="words 30", max_output_tokens=5)
    assert response.status == "incomplete", response
    assert response.incomplete_details.reason == "max_output_tokens"
    assert response.output_text == answer.choices[0].message.content
    wish = {"model": "assistant", "input": "words 30", "max_output_tokens": 5}
    events = list(client.responses.create(**wish, stream=True))
    assert events[-1].type == "response.incomplete"


def a_tool_in_a_response_is_nothing_to_run(world):
    responses = world.client().responses
    made = responses.create(model="assistant", input="tool: echo heron")
    call, said = made.output
    assert (call.type, call.name, call.status) == ("mcp_call", "terminal", "completed"), call
    assert json.loads(call.arguments)["command"] == "echo heron" and "heron" in call.output, call
    assert said.type == "message" and "heron" in made.output_text
    assert responses.retrieve(made.id).model_dump() == made.model_dump()
    events = list(responses.create(model="assistant", input="tool: echo heron", stream=True))
    kinds = [event.type for event in events]
    assert "response.mcp_call.in_progress" in kinds and "response.mcp_call.completed" in kinds


def a_response_is_followed_twice(world):
    responses = world.client().responses
    first = responses.create(model="assistant", input="one")
    for said in ("left", "right"):
        follow = {"model": "assistant", "input": said, "previous_response_id": first.id}
        assert responses.create(**follow).output_text == "re: " + said
        asked = [one["content"] for one in world.seen()["messages"] if one["role"] != "system"]
        assert asked == ["one", "re: one", said], asked


def a_stream_is_read_again(world):
    responses = world.client().responses
    events = list(responses.create(model="assistant", input="words 30", stream=True))
    id = events[0].response.id
    for last in (0, len(events) // 2, len(events) - 2):
        rest = list(responses.retrieve(id, stream=True, starting_after=last))
        assert rest == events[last + 1 :], last


def foreign_conversations_are_not_found(world):
    import openai

    raw = world.client().chat.completions.with_raw_response
    answer = raw.create(model="assistant", messages=user("mine"))
    session = {"x-talaria-session-id": answer.headers["x-talaria-session-id"]}
    stranger = world.client(world.new_key("stranger"))
    raises(openai.NotFoundError, lambda: ask(stranger, "x", extra_headers=session), "not_found")


def the_same_key_is_the_same_answer(world):
    import openai

    once = {"Idempotency-Key": "suite-py"}
    first = ask(world.client(), "once", extra_headers=once)
    again = ask(world.client(), "once", extra_headers=once)
    assert (first.id, first.choices[0].message.content) == (again.id, again.choices[0].message.content)
    raises(openai.ConflictError, lambda: ask(world.client(), "twice", extra_headers=once), "conflict")


def who_asks_too_often_waits(world):
    import openai

    key = world.new_key("hasty")
    nowhere = {"x-talaria-session-id": "0198c0de-0000-7000-8000-000000000001"}
    client = world.client(key)
    for _ in range(5_000):
        try:
            ask(client, "x", extra_headers=nowhere)
        except openai.NotFoundError:
            continue
        except openai.RateLimitError as error:
            assert error.response.headers["retry-after"] == "1"
            break
    else:
        raise AssertionError("there is no limit")
    patient = world.client(key, max_retries=3)
    assert ask(patient, "hello").choices[0].message.content == "re: hello"


def a_turn_that_nobody_waits_for_ends(world):
    import openai

    hasty = world.client(timeout=1)
    raises_timeout = None
    try:
        ask(hasty, "hang")
    except openai.APITimeoutError as error:
        raises_timeout = error
    assert raises_timeout is not None
    until = time.monotonic() + 20
    while world.call("/api/runs?limit=1")["data"][0]["state"] != "cancelled":
        assert time.monotonic() < until, "the turn goes on"
        time.sleep(0.2)


def nothing_is_promised_for_later(world):
    """A client that is gone after the answer is told so, on every route."""
    client = world.client()
    for ask_on in (
        lambda text: ask(client, text).choices[0].message.content,
        lambda text: client.responses.create(model="assistant", input=text).output_text,
        lambda text: run(world, text)["output"],
    ):
        said = ask_on("background: sleep 1")
        assert '"notify_on_complete":false' in said, said
        assert "notify_unsupported" in said and 'process(action=\\"poll\\")' in said, said
        said = ask_on("delegate: run: echo heron")
        assert '"note":' in said and "heron" in said and '"status":"completed"' in said, said


def run(world, text):
    """A run, when it has ended."""
    made = world.call("/v1/runs", {"input": text})
    until = time.monotonic() + 20
    while (found := world.call("/v1/runs/" + made["run_id"]))["status"] in ("queued", "running"):
        assert time.monotonic() < until, "the run goes on"
        time.sleep(0.1)
    assert found["status"] == "completed", found
    return found


PROMISES = [nothing_is_promised_for_later]

CHECKS = [
    models_are_listed,
    an_answer_and_what_it_cost,
    a_stream_and_what_it_cost,
    tools_in_a_stream_do_no_harm,
    system_messages_reach_the_model,
    options_reach_the_model,
    pictures_reach_the_model,
    a_conversation_goes_on,
    responses_are_made_kept_and_deleted,
    responses_are_streamed,
    errors_are_the_clients_own,
    failures_of_the_model_have_codes,
    an_answer_that_was_cut_says_so,
    a_tool_in_a_response_is_nothing_to_run,
    a_response_is_followed_twice,
    a_stream_is_read_again,
    foreign_conversations_are_not_found,
    the_same_key_is_the_same_answer,
    who_asks_too_often_waits,
    a_turn_that_nobody_waits_for_ends,
]


def check(world, checks):
    import openai

    failed = 0
    for one in checks:
        try:
            one(world)
            print(f"  ok {one.__name__}")
        except Exception as error:  # every check is tried
            failed += 1
            print(f"  FAILED {one.__name__}: {type(error).__name__}: {error}")
    print(f"python openai {openai.__version__}: {len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1] == "listen":
        listen(sys.argv[2])
    elif sys.argv[1] == "promises":
        sys.exit(check(World(*sys.argv[2:], None), PROMISES))
    else:
        base, key, model = sys.argv[2:]
        sys.exit(check(World(base, key, model.rsplit("/v1", 1)[0]), CHECKS))
