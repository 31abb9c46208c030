"""A Talaria runner without dependencies: it remembers, streams and calls a tool. See docs/runner-protocol.md."""
import json, queue, sys, threading

writing, numbers, answers = threading.Lock(), iter(range(1, sys.maxsize)), {}

def write(**line):
    with writing:
        print(json.dumps({"jsonrpc": "2.0", **line}), flush=True)

def ask(method, **params):
    number = next(numbers)
    answers[number] = queue.Queue()
    write(id=number, method=method, params=params)
    answer = answers[number].get()
    del answers[number]
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    return answer["result"]

def think(order):
    run, text = order["run"], order["input"]["text"]
    try:
        memory = {"run": run, "scope": "conversation", "key": "count"}
        count = (ask("state.get", **memory)["value"] or 0) + 1
        ask("state.set", **memory, value=count)
        date = ask("tool.call", run=run, tool="terminal", arguments={"command": "date +%Y"})["output"]
        for word in f"Message {count}: you wrote {text!r}, in the year {date.split()[0]}.".split(" "):
            write(method="message.delta", params={"run": run, "text": word + " "})
        write(method="message.completed", params={"run": run})
        write(method="completed", params={"run": run})
    except RuntimeError as error:
        write(method="failed", params={"run": run, "reason": str(error)})

for line in map(json.loads, sys.stdin):
    if line.get("method") == "initialize":
        write(id=line["id"], result={"protocol": 1, "version": "1.0", "capabilities": ["streaming", "tool_calling"]})
    elif line.get("method") == "run":
        threading.Thread(target=think, args=(line["params"],), daemon=True).start()
    elif "method" not in line and line["id"] in answers:
        answers[line["id"]].put(line)
