// An independent client, unmodified, against the simulated Slack.
//
//     node crates/sim/checks/slack/check.mjs http://127.0.0.1:4805 xoxb-token [xapp-token]
//
// Needs the packages @slack/web-api and @slack/socket-mode where node finds them, and a running `talaria-sim slack`.
// Fails at the first thing that is not as the client expects it.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

// Packages are looked for where the script is started, so that none has to be beside it.
const require = createRequire(join(process.cwd(), "check.mjs"));
const { WebClient, ErrorCode, LogLevel } = require("@slack/web-api");
const { SocketModeClient } = require("@slack/socket-mode");

const [base, token, appToken = "xapp-any"] = process.argv.slice(2);
const [ADA, DIRECT] = ["U0EVE", "D0EVE"];
const PATIENCE = 20_000;

const control = async (path, body) => {
  const method = body === undefined ? "GET" : "POST";
  const headers = { "content-type": "application/json" };
  const answer = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
  return answer.json();
};

const until = async (what, holds) => {
  const end = Date.now() + PATIENCE;
  while (Date.now() < end) {
    const found = await holds();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 20));
  }
  assert.fail(`did not happen: ${what}`);
};

const web = new WebClient(token, {
  slackApiUrl: `${base}/api/`,
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
  logLevel: LogLevel.ERROR,
});
const socket = new SocketModeClient({
  appToken,
  clientOptions: { slackApiUrl: `${base}/api/` },
  logLevel: LogLevel.ERROR,
});
const heard = [];
socket.on("message", async ({ event, ack }) => {
  await ack();
  if (!event.bot_id && event.user === ADA) heard.push(event);
});
await socket.start();

const write = (text) => control("/sim/message", { chat: DIRECT, kind: "direct", sender: ADA, text });
const asked = await write("hello");
const event = await until("a message", () => heard.find((it) => it.text === "hello"));
assert.equal(event.ts, asked.id);

const sent = await web.chat.postMessage({ channel: DIRECT, text: "…", thread_ts: event.ts });
await web.chat.update({ channel: DIRECT, ts: sent.ts, text: "done" });
const shown = (await control(`/sim/chats/${DIRECT}?thread=${event.ts}`)).messages.at(-1);
assert.equal(shown.text, "done");

const shared = await web.files.uploadV2({
  channel_id: DIRECT,
  thread_ts: event.ts,
  file: Buffer.from("notes"),
  filename: "notes.txt",
});
assert.equal(shared.ok, true);
const file = (await control(`/sim/chats/${DIRECT}?thread=${event.ts}`)).messages.at(-1).file;
assert.equal(file.content, "notes");

await assert.rejects(web.chat.postMessage({ channel: "nowhere", text: "x" }), (error) => {
  assert.equal(error.code, ErrorCode.PlatformError);
  return error.data.error === "channel_not_found";
});
await control("/sim/fault", { on: "send", do: "429", retry_after: 3 });
await assert.rejects(web.chat.postMessage({ channel: DIRECT, text: "x" }), (error) => {
  assert.equal(error.code, ErrorCode.RateLimitedError);
  return error.retryAfter === 3;
});

await control("/sim/fault", { on: "socket", do: "400 refresh_requested" });
await write("before the next socket");
await write("after it");
await until("the next message", () => heard.some((it) => it.text === "after it"));
await until("everything acknowledged", async () => (await control("/sim/backlog")).backlog === 0);
await socket.disconnect();

const version = (name) => require(`${name}/package.json`).version;
console.log(`ok  @slack/web-api ${version("@slack/web-api")}, @slack/socket-mode ${version("@slack/socket-mode")}`);
