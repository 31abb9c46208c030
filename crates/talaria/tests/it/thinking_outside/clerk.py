"""A runner for tests: it does what it is told to, one run after the other, each in a thread of its own."""
import json, os, queue, sys, threading, time

writing, numbers, answers = threading.Lock(), iter(range(1, sys.maxsize)), {}

def write(**line):
    with writing:
        print(json.dumps({"jsonrpc": "2.0", **line}), flush=True)

def ask(method, **params):
    number = next(numbers)
    answers[number] = queue.Queue()
    write(id=number, method=method, params=params)
    answer = answers[number].get()
    error = answer.get("error")
    return f"{error['data']['code']}: {error['message']}" if error else json.dumps(answer["result"])

def think(order):
    run = order["run"]
    say = lambda text: write(method="message.delta", params={"run": run, "text": text})
    words = order["input"]["text"].split(" ")
    if words[0] == "hang":
        say(f"pid {os.getpid()}")
        return
    if words[0] == "wait":
        say("ready; ")
        while not os.path.exists(words[1]):
            time.sleep(0.01)
    if words[0] == "methods":
        say(json.dumps(order["methods"]))
    else:
        say("then " + ask("tool.call", run=run, tool="terminal", arguments={"command": "echo done"}))
    write(method="message.completed", params={"run": run})
    write(method="completed", params={"run": run})

for line in map(json.loads, sys.stdin):
    if line.get("method") == "initialize":
        write(id=line["id"], result={"protocol": 1})
    elif line.get("method") == "run":
        threading.Thread(target=think, args=(line["params"],), daemon=True).start()
    elif "method" not in line and line["id"] in answers:
        answers[line["id"]].put(line)
