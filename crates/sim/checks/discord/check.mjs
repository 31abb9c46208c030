// discord.js, unmodified, against simulated Discord.
//
//     talaria-sim discord --listen 127.0.0.1:4812 --token T &
//     node check.mjs http://127.0.0.1:4812 T
//
// Needs discord.js 14 (npm). Says "ok" and ends with 0, or says what is wrong.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

// Found from where it is started, so that nothing has to be installed beside this file.
const require = createRequire(`${process.cwd()}/`);
const {
  ActionRowBuilder,
  AttachmentBuilder,
  ButtonBuilder,
  ButtonStyle,
  Client,
  DiscordAPIError,
  GatewayIntentBits,
  Partials,
  version,
} = require("discord.js");

const [url, token] = process.argv.slice(2);
const room = `room ${process.hrtime.bigint()}`;
const patience = 30_000;

async function sim(path, body) {
  const headers = { "content-type": "application/json" };
  const options = body && { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await fetch(`${url}/sim/${path}`, options);
  assert.ok(answer.ok, `${path}: ${answer.status}`);
  return answer.json();
}

const write = (text, more = {}) =>
  sim("message", { chat: room, kind: "group", sender: "ada", text, ...more });
const chat = (thread) => {
  const query = thread === undefined ? "" : `?thread=${encodeURIComponent(thread)}`;
  return sim(`chats/${encodeURIComponent(room)}${query}`);
};

const late = setTimeout(() => {
  console.error("it took too long");
  process.exit(1);
}, 3 * patience);

const { Guilds, GuildMessages, MessageContent, DirectMessages } = GatewayIntentBits;
const client = new Client({
  intents: [Guilds, GuildMessages, MessageContent, DirectMessages],
  partials: [Partials.Channel],
  rest: { api: `${url}/api`, version: "10" },
});

// The next of these events for which this holds; asked for before it is caused.
const next = (event, holds = () => true) =>
  new Promise((resolve) => {
    const hear = (heard) => {
      if (holds(heard)) {
        client.off(event, hear);
        resolve(heard);
      }
    };
    client.on(event, hear);
  });
const says = (text) => (message) => message.content.endsWith(text) && !message.author.bot;
const heard = async (text, more) => {
  const hearing = next("messageCreate", says(text));
  await write(text, more);
  return hearing;
};
const fails = async (doing, code, status) => {
  await assert.rejects(doing, (error) => {
    assert.ok(error instanceof DiscordAPIError, String(error));
    assert.deepEqual([error.code, error.status], [code, status]);
    return true;
  });
};

const ready = next("clientReady");
await client.login(token);
await ready;

const message = await heard("hello", { mentioned: true });
assert.ok(message.mentions.users.has(client.user.id));
assert.equal(message.channel.name, room);
const reply = await message.reply("hi");
assert.equal(reply.reference.messageId, message.id);
await reply.edit("hi, ada");
await message.channel.sendTyping();
await message.react("✅");
let shown = await chat();
assert.deepEqual(shown.messages.map((it) => it.text), ["hello", "hi, ada"]);
assert.equal(shown.messages[0].marks[0][1], "✅");
assert.equal(shown.signs.length, 1);

const direct = await heard("psst", { chat: `chat of ${room}`, kind: "direct", sender: room });
assert.ok(direct.channel.isDMBased());
await direct.channel.send("yes?");

const button = new ButtonBuilder().setCustomId("approve").setLabel("Approve");
const row = new ActionRowBuilder().addComponents(button.setStyle(ButtonStyle.Success));
const asked = await message.channel.send({ content: "may I?", components: [row] });
const pressing = next("interactionCreate");
await sim("press", { message: asked.id, button: "Approve", sender: "ada" });
const pressed = await pressing;
assert.ok(pressed.isButton() && pressed.customId === "approve" && pressed.message.id === asked.id);
await pressed.deferUpdate();

await client.application.commands.set([
  { name: "title", description: "Name this", options: [{ name: "text", description: "It", type: 3 }] },
]);
const choosing = next("interactionCreate");
await sim("command", { chat: room, kind: "group", sender: "ada", name: "title", text: "plans" });
const chosen = await choosing;
assert.ok(chosen.isChatInputCommand() && chosen.options.getString("text") === "plans");
await chosen.reply({ content: "Got it.", flags: 64 });

const report = new AttachmentBuilder(Buffer.from("all is well"), { name: "report.txt" });
const sent = await message.channel.send({ content: "the report", files: [report] });
const file = sent.attachments.first();
assert.equal(await (await fetch(file.url)).text(), "all is well");

const thread = await message.startThread({ name: "plans" });
await thread.send("here");
assert.deepEqual((await chat(thread.id)).messages.map((it) => it.text), ["here"]);
const inside = await heard("in it", { thread: thread.id });
assert.ok(inside.channel.isThread() && inside.channel.parent.name === room);

await fails(message.channel.send("x".repeat(2001)), 50035, 400);
await fails(client.channels.fetch("42"), 10003, 404);
await sim("fault", { on: "send", do: "403 50013" });
await fails(message.channel.send("no"), 50013, 403);
// The library waits by itself for as long as it is told, and then succeeds.
await sim("fault", { on: "send", do: "429", retry_after: 1 });
await message.channel.send("after a while");

const resumed = next("shardResume");
await sim("fault", { on: "socket", do: "400 reconnect" });
const away = next("messageCreate", says("while away"));
await write("while away");
await Promise.all([away, resumed]);
await heard("and back");

clearTimeout(late);
await client.destroy();
console.log(`ok: discord.js ${version}`);
process.exit(0);
