// OpenAI's own client for Node, unmodified, against a real gateway.
//
//     suite.mjs BASE KEY MODEL     every check; the last line counts them

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

// Installed where this is started, not beside it.
const require = createRequire(pathToFileURL(path.join(process.cwd(), "here.js")));
const { default: OpenAI } = await import(pathToFileURL(require.resolve("openai")));
const version = JSON.parse(readFileSync("node_modules/openai/package.json")).version;

const [base, key, model] = process.argv.slice(2);
const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const client = (apiKey = key, settings = {}) =>
  new OpenAI({ baseURL: `${base}/v1`, apiKey, maxRetries: 0, timeout: 30_000, ...settings });
const user = (content) => [{ role: "user", content }];
const ask = (who, content, wishes = {}, options = {}) =>
  who.chat.completions.create({ model: "assistant", messages: user(content), ...wishes }, options);

/** The operator's own API. */
async function call(where, body) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const method = body ? "POST" : "GET";
  const answer = await fetch(base + where, { method, headers, body: body && JSON.stringify(body) });
  return answer.json();
}
const newKey = async (name) => (await call("/api/keys", { name, scopes: ["chat"] })).key;
const seen = async () => (await (await fetch(model.replace(/\/v1$/, "/seen"))).json()).last;

async function rejects(kind, act, code) {
  const error = await act().then(
    (answer) => assert.fail(`expected ${kind.name}, found ${JSON.stringify(answer)}`),
    (error) => error,
  );
  assert.ok(error instanceof kind, `expected ${kind.name}, found ${error}`);
  if (code) assert.equal(error.code, code, error.message);
  return error;
}

async function collect(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}
const said = (chunks) => chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");

const checks = {
  async models_are_listed() {
    const ids = [];
    for await (const one of client().models.list()) ids.push(one.id);
    assert.deepEqual(ids, ["assistant"]);
  },
  async an_answer_and_what_it_cost() {
    const answer = await ask(client(), "hello");
    assert.equal(answer.choices[0].message.content, "re: hello");
    assert.equal(answer.choices[0].finish_reason, "stop");
    assert.ok(answer.usage.prompt_tokens > 0 && answer.usage.completion_tokens > 0);
  },
  async a_stream_and_what_it_cost() {
    const wishes = { stream: true, stream_options: { include_usage: true } };
    const chunks = await collect(await ask(client(), "words 30", wishes));
    assert.equal(said(chunks).split(" ").length, 30);
    assert.equal(chunks.at(-2).choices[0].finish_reason, "stop");
    assert.deepEqual(chunks.at(-1).choices, []);
    assert.ok(chunks.at(-1).usage.total_tokens > 0);
  },
  async the_streaming_runner_understands_it() {
    const stream = client().chat.completions.stream({ model: "assistant", messages: user("hello") });
    assert.equal(await stream.finalContent(), "re: hello");
  },
  async tools_in_a_stream_do_no_harm() {
    const chunks = await collect(await ask(client(), "tool: echo heron", { stream: true }));
    assert.match(said(chunks), /heron/);
    const steps = chunks.filter((chunk) => chunk.talaria).map((chunk) => chunk.talaria.status);
    assert.deepEqual(steps, ["running", "completed"]);
  },
  async system_messages_and_pictures_reach_the_model() {
    const parts = [
      { type: "image_url", image_url: { url: PICTURE } },
      { type: "text", text: "hello" },
    ];
    const messages = [{ role: "system", content: "Speak of herons." }, ...user(parts)];
    await client().chat.completions.create({ model: "assistant", messages });
    const asked = JSON.stringify((await seen()).messages);
    assert.ok(asked.includes("Speak of herons."), asked);
    assert.ok(asked.includes(PICTURE), "the picture got lost");
  },
  async a_conversation_goes_on() {
    const { response } = await ask(client(), "one").withResponse();
    const headers = { "x-talaria-session-id": response.headers.get("x-talaria-session-id") };
    await ask(client(), "two", {}, { headers });
    const asked = (await seen()).messages.filter((one) => one.role !== "system");
    assert.deepEqual(asked.map((one) => one.content), ["one", "re: one", "two"]);
    const stranger = client(await newKey("stranger"));
    await rejects(OpenAI.NotFoundError, () => ask(stranger, "x", {}, { headers }), "not_found");
  },
  async responses_are_made_streamed_kept_and_deleted() {
    const { responses } = client();
    const first = await responses.create({ model: "assistant", input: "one" });
    assert.equal(first.output_text, "re: one");
    const follow = { model: "assistant", input: "words 30", previous_response_id: first.id };
    const events = await collect(await responses.create({ ...follow, stream: true }));
    const deltas = events.filter((event) => event.type === "response.output_text.delta");
    assert.equal(deltas.map((event) => event.delta).join("").split(" ").length, 30);
    assert.equal(events.at(-1).type, "response.completed");
    const { id } = events.at(-1).response;
    assert.equal((await responses.retrieve(id)).status, "completed");
    await responses.delete(id);
    await rejects(OpenAI.NotFoundError, () => responses.retrieve(id), "not_found");
  },
  async errors_are_the_clients_own() {
    const who = client();
    await rejects(OpenAI.AuthenticationError, () => ask(client("wrong"), "x"), "unauthorized");
    await rejects(OpenAI.NotFoundError, () => ask(who, "x", { model: "gpt-4o" }), "model_not_found");
    await rejects(OpenAI.BadRequestError, () => ask(who, "x", { n: 2 }), "unsupported_parameter");
    await rejects(OpenAI.BadRequestError, () => ask(who, ""), "bad_input");
    const big = await rejects(OpenAI.APIError, () => ask(who, "x".repeat(11_000_000)), "too_large");
    assert.equal(big.status, 413);
  },
  async failures_of_the_model_have_codes() {
    const who = client(key, { maxRetries: 2 });
    const refused = await rejects(OpenAI.InternalServerError, () => ask(who, "fail 400"), "model_refused");
    assert.equal(refused.status, 502);
    await rejects(OpenAI.BadRequestError, () => ask(who, "fail 413"), "context_length_exceeded");
    const busy = await rejects(OpenAI.RateLimitError, () => ask(who, "fail 429"), "model_overloaded");
    assert.equal(busy.headers.get("retry-after"), "1");
    assert.equal(busy.headers.get("x-should-retry"), "false");
    const cut = async () => collect(await ask(who, "fail 400", { stream: true }));
    await rejects(OpenAI.APIError, cut, "model_refused");
  },
  async an_answer_that_was_cut_says_so() {
    const answer = await ask(client(), "words 30", { max_completion_tokens: 5 });
    assert.equal(answer.choices[0].finish_reason, "length");
    const wish = { model: "assistant", input: "words 30", max_output_tokens: 5 };
    const response = await client().responses.create(wish);
    assert.equal(response.status, "incomplete");
    assert.equal(response.incomplete_details.reason, "max_output_tokens");
    assert.equal(response.output_text, answer.choices[0].message.content);
  },
  async a_tool_in_a_response_is_nothing_to_run() {
    const made = await client().responses.create({ model: "assistant", input: "tool: echo heron" });
    assert.deepEqual(made.output.map((item) => item.type), ["mcp_call", "message"]);
    assert.match(made.output[0].output, /heron/);
    assert.match(made.output_text, /heron/);
  },
  async a_response_is_followed_twice_and_read_again() {
    const { responses } = client();
    const first = await responses.create({ model: "assistant", input: "one" });
    for (const input of ["left", "right"]) {
      const follow = { model: "assistant", input, previous_response_id: first.id, stream: true };
      const events = await collect(await responses.create(follow));
      const asked = (await seen()).messages.filter((one) => one.role !== "system");
      assert.deepEqual(asked.map((one) => one.content), ["one", "re: one", input]);
      const { id } = events.at(-1).response;
      const rest = await collect(await responses.retrieve(id, { stream: true, starting_after: 3 }));
      assert.deepEqual(rest, events.slice(4));
    }
  },
  async the_same_key_is_the_same_answer() {
    const headers = { "Idempotency-Key": "suite-mjs" };
    const first = await ask(client(), "once", {}, { headers });
    const again = await ask(client(), "once", {}, { headers });
    assert.equal(first.id, again.id);
    await rejects(OpenAI.ConflictError, () => ask(client(), "twice", {}, { headers }), "conflict");
  },
  async who_asks_too_often_waits() {
    const apiKey = await newKey("hasty");
    const headers = { "x-talaria-session-id": "0198c0de-0000-7000-8000-000000000001" };
    const who = client(apiKey);
    let refused;
    for (let tries = 0; tries < 5_000 && !refused; tries += 1) {
      const error = await ask(who, "x", {}, { headers }).catch((error) => error);
      if (error instanceof OpenAI.RateLimitError) refused = error;
      else assert.ok(error instanceof OpenAI.NotFoundError, `${error}`);
    }
    assert.equal(refused.headers.get("retry-after"), "1");
    const patient = client(apiKey, { maxRetries: 3 });
    assert.equal((await ask(patient, "hello")).choices[0].message.content, "re: hello");
  },
  async a_turn_that_nobody_waits_for_ends() {
    const hasty = client(key, { timeout: 1_000 });
    await rejects(OpenAI.APIConnectionTimeoutError, () => ask(hasty, "hang"));
    const until = Date.now() + 20_000;
    while ((await call("/api/runs?limit=1")).data[0].state !== "cancelled") {
      assert.ok(Date.now() < until, "the turn goes on");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`  ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`  FAILED ${name}: ${error}`);
  }
}
const count = Object.keys(checks).length;
console.log(`node openai ${version}: ${count - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
