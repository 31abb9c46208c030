"""A runner that does what it is told to, good or bad: the first word of what is said is the name of a function here."""
import itertools
import json
import os
import queue
import sys
import threading

writing, numbers, answers = threading.Lock(), itertools.count(1), {}
ended = []


def put(text):
    with writing:
        sys.stdout.write(text)
        sys.stdout.flush()


def write(**line):
    put(json.dumps({"jsonrpc": "2.0", **line}) + "\n")


def begin(method, **params):
    number = next(numbers)
    answers[number] = queue.Queue()
    write(id=number, method=method, params=params)
    return answers[number]


def ask(method, **params):
    return begin(method, **params).get()


def tell(run, method, **params):
    write(method=method, params={"run": run, **params})


def say(run, text):
    tell(run, "message.completed", text=text if isinstance(text, str) else json.dumps(text))


def word(answer):
    """What an answer comes to, in one word."""
    return answer["error"]["data"]["code"] if "error" in answer else "done"


# Good ones.


def fine(order):
    run = order["run"]
    memory = {"run": run, "scope": "conversation", "key": "k"}
    ask("state.set", **memory, value=[1, None])
    say(run, ask("state.get", **memory)["result"])


def linger(order):
    run = order["run"]
    ask("ask", run=run, question="shall I go on?")
    ask("state.set", run=run, scope="conversation", key="k", value=1)
    say(run, "still here")


def talk(order):
    run = order["run"]
    tell(run, "reasoning", text="hm")
    for piece in ["Hel", "lo"]:
        tell(run, "message.delta", text=piece)
    tell(run, "message.completed")
    say(run, "And another")
    tell(run, "mood.changed", mood="good")
    tell(run, "log", text="for the operator")
    tell(run, "tool.started", call="own", tool="abacus", arguments={"n": 2})
    tell(run, "tool.completed", call="own", output="4")
    tell(run, "message.delta", text="last ")
    tell(run, "message.delta", text="words")
    tell(run, "completed", usage={"input_tokens": 3, "output_tokens": 4})


def everything(order):
    run = order["run"]
    asked = json.loads(order["input"]["text"].split(" ", 1)[1])
    say(run, [word(ask(method, run=run, **params)) for method, params in asked])


def answer(order):
    run = order["run"]
    method, params = json.loads(order["input"]["text"].split(" ", 1)[1])
    found = ask(method, run=run, **params)
    say(run, found.get("result", found.get("error")))


def listen(order):
    """Has a model talk, and says what it heard piece by piece and in the end."""
    run = order["run"]
    said = [{"speaker": "user", "text": "hi"}]
    found = ask("model.stream", run=run, said=said)
    say(run, {"pieces": pieces, "answer": found.get("result")})


def absent_minded(order):
    """Talks on and does not take up what people say."""
    linger(order)


def show(order):
    say(order["run"], order)


def unhurried(order):
    """Its last word comes before what it asked for is done."""
    run = order["run"]
    for number in range(100):
        begin("state.set", run=run, scope="conversation", key=str(number), value=number)


def environment(order):
    say(order["run"], sorted(os.environ))


# Bad ones.


def no_run(order):
    words = []
    for params in [{}, {"run": None}, {"run": ""}, {"run": "x"}, {"run": 7}, {"run": "0" * 32}]:
        for method in ["state.get", "tool.list", "tool.call", "event.get", "ask", "file.read"]:
            words.append(ask(method, scope="conversation", key="k", **params).get("error"))
    say(order["run"], words)


def foreign(order):
    """Speaks for a run of another process."""
    run, other = order["run"], order["input"]["text"].split(" ")[1]
    tell(other, "message.delta", text="stolen")
    say(other, "stolen")
    tell(other, "failed", reason="stolen")
    errors = [
        ask("state.set", run=other, scope="conversation", key="k", value="stolen").get("error"),
        ask("tool.list", run=other).get("error"),
        ask("history.page", run=other).get("error"),
    ]
    say(run, errors)


def after_end(order):
    """Speaks for a run that has ended."""
    run = order["run"]
    if not ended:
        ended.append(run)
        return
    old = ended[0]
    say(old, "from the grave")
    errors = [
        ask("state.set", run=old, scope="conversation", key="k", value="grave").get("error"),
        ask("tool.call", run=old, tool="terminal", arguments={"command": "true"}).get("error"),
    ]
    say(run, errors)


def huge(order):
    """A line of 100 MB that says nothing."""
    for _ in range(100):
        put("x" * 1_000_000)
    put("\n")
    say(order["run"], "after")


def huge_answer(order):
    say(order["run"], "y" * 5_000_000)


def huge_value(order):
    run = order["run"]
    value = "z" * 5_000_000
    say(run, word(ask("state.set", run=run, scope="conversation", key="k", value=value)))


def half(order):
    """Half a line, and then nothing any more, from anybody."""
    writing.acquire()
    sys.stdout.write('{"jsonrpc":"2.0","method":"message.delta","params":{"run":"')
    sys.stdout.flush()
    threading.Event().wait()


def crowd(order):
    run = order["run"]
    waiting = [begin("state.get", run=run, scope="conversation", key="k") for _ in range(10_000)]
    words = [word(it.get()) for it in waiting]
    say(run, {it: words.count(it) for it in sorted(set(words))})


def flood(order):
    run = order["run"]
    for number in range(50_000):
        tell(run, "log", text=str(number))


def deaf(order):
    """Closes its input. What was waited for at that moment still comes; what is answered next does not."""
    os.close(0)
    for _ in range(3):
        begin("state.get", run=order["run"], scope="conversation", key="k").get()


def ignorant(order):
    """Does not read, and asks on and on."""
    deafened.append(True)
    for number in range(1_000_000):
        write(id="x" + str(number), method="history.page", params={"run": order["run"]})


def garbage(order):
    for line in ["nonsense", "{", "[]", "null", '{"jsonrpc":"2.0"}', "\x00\x01", ""]:
        put(line + "\n")
    say(order["run"], "after")


def endless_garbage(order):
    while True:
        put("nonsense\n" * 1000)


def malformed(order):
    tell(order["run"], "message.completed", text=5)
    threading.Event().wait()


def bad_end(order):
    tell(order["run"], "failed")
    threading.Event().wait()


def dies(order):
    tell(order["run"], "message.delta", text="I am")
    sys.stdout.flush()
    os._exit(3)


def stubborn(order):
    """Does not end when it is told to."""
    ask("ask", run=order["run"], question="?")
    threading.Event().wait()


def fails(order):
    tell(order["run"], "failed", reason="the moon is not full")


def work(order):
    name = order["input"]["text"].split(" ")[0]
    names[order["run"]] = name
    globals()[name](order)
    if name != "fails":
        tell(order["run"], "completed")


def heard():
    try:
        return sys.stdin.readline()
    except OSError:
        threading.Event().wait()


names, deafened, pieces = {}, [], []
for line in iter(heard, ""):
    line = json.loads(line)
    method = line.get("method")
    if deafened:
        threading.Event().wait()
    if method == "initialize":
        can = ["steering", "history"]
        write(id=line["id"], result={"protocol": 1, "version": "0", "capabilities": can})
    elif method == "run":
        threading.Thread(target=work, args=(line["params"],), daemon=True).start()
    elif method == "steer":
        if names.get(line["params"]["run"]) != "absent_minded":
            write(id=line["id"], result={})
            tell(line["params"]["run"], "log", text="steered: " + " ".join(line["params"]["texts"]))
    elif method == "model.delta":
        pieces.append([line["params"]["request"] in answers, line["params"].get("text")])
    elif method == "cancel":
        if names.get(line["params"]["run"]) not in ("stubborn", "half"):
            tell(line["params"]["run"], "failed", reason="cancelled")
    elif method is None and line.get("id") in answers:
        answers[line["id"]].put(line)
