#!/usr/bin/env node
// A Talaria runner without dependencies: it remembers, streams and calls a tool. See docs/runner-protocol.md.
import { createInterface } from "node:readline";

let numbers = 0;
const answers = new Map();

const write = (line) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...line }) + "\n");

const ask = (method, params) =>
  new Promise((resolve, reject) => {
    answers.set(++numbers, { resolve, reject });
    write({ id: numbers, method, params });
  });

async function think({ run, input }) {
  const tell = (method, params = {}) => write({ method, params: { run, ...params } });
  try {
    const memory = { run, scope: "conversation", key: "count" };
    const count = ((await ask("state.get", memory)).value ?? 0) + 1;
    await ask("state.set", { ...memory, value: count });
    const date = await ask("tool.call", { run, tool: "terminal", arguments: { command: "date +%Y" } });
    const year = date.output.split(/\s/)[0];
    const answer = `Message ${count}: you wrote '${input.text}', in the year ${year}.`;
    for (const word of answer.split(" ")) tell("message.delta", { text: word + " " });
    tell("message.completed");
    tell("completed");
  } catch (error) {
    tell("failed", { reason: error.message });
  }
}

createInterface({ input: process.stdin }).on("line", (text) => {
  const { id, method, params, result, error } = JSON.parse(text);
  if (method === "initialize") {
    write({ id, result: { protocol: 1, version: "1.0", capabilities: ["streaming", "tool_calling"] } });
  } else if (method === "run") {
    think(params);
  } else if (method === undefined && answers.has(id)) {
    const { resolve, reject } = answers.get(id);
    answers.delete(id);
    error ? reject(new Error(error.message)) : resolve(result);
  }
});
