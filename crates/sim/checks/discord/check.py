"""discord.py, unmodified, against simulated Discord.

    talaria-sim discord --listen 127.0.0.1:4812 --token T &
    python3 check.py http://127.0.0.1:4812 T

Needs discord.py 2 (PyPI). Says "ok" and ends with 0, or says what is wrong.
"""

import asyncio
import io
import json
import sys
import time
import urllib.parse
import urllib.request

import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

URL, TOKEN = sys.argv[1].rstrip("/"), sys.argv[2]
Route.BASE = f"{URL}/api/v10"
DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(URL.replace("http", "ws", 1))
PATIENCE = 30
# A room of its own, so that it can be checked again.
ROOM = f"room {time.time_ns()}"


def sim(path, body=None):
    """Asks the side that people are on."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{URL}/sim/{path}", data, headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)


async def at_sim(path, body=None):
    return await asyncio.to_thread(sim, path, body)


async def chat_of(name, thread=None):
    """What a person sees."""
    path = f"chats/{urllib.parse.quote(name)}"
    if thread is not None:
        path += f"?thread={urllib.parse.quote(thread)}"
    return await at_sim(path)


def write(text, **more):
    written = {"chat": ROOM, "kind": "group", "sender": "ada", "text": text}
    return {**written, **more}


def fault(on, do, **more):
    return {"on": on, "do": do, **more}


class Bot(discord.Client):
    """Keeps what it hears."""

    def __init__(self):
        intents = discord.Intents.default()
        intents.message_content = True
        super().__init__(intents=intents)
        self.heard = asyncio.Queue()
        self.resumed = asyncio.Event()
        self.tree = app_commands.CommandTree(self)

    async def on_message(self, message):
        if message.author.id != self.user.id:
            await self.heard.put(message)

    async def on_resumed(self):
        self.resumed.set()

    async def next(self):
        return await asyncio.wait_for(self.heard.get(), PATIENCE)


async def talk(bot):
    await at_sim("message", write("hello", mentioned=True))
    message = await bot.next()
    assert message.content == f"<@{bot.user.id}> hello", message.content
    assert bot.user in message.mentions
    assert message.guild is not None and message.channel.name == ROOM

    reply = await message.reply("hi", mention_author=False)
    assert reply.reference.message_id == message.id
    edited = await reply.edit(content="hi, ada")
    assert edited.content == "hi, ada" and edited.edited_at is not None
    async with message.channel.typing():
        pass
    await message.add_reaction("👀")
    await message.remove_reaction("👀", bot.user)
    await message.add_reaction("✅")
    chat = await chat_of(ROOM)
    assert [shown["text"] for shown in chat["messages"]] == ["hello", "hi, ada"], chat
    assert chat["messages"][1]["reply_to"] == str(message.id)
    assert chat["messages"][0]["marks"] == [[str(bot.user.id), "✅"]], chat
    assert chat["signs"], chat
    return message


async def direct(bot):
    await at_sim("message", write("psst", chat=f"chat of {ROOM}", kind="direct", sender=ROOM))
    message = await bot.next()
    assert isinstance(message.channel, discord.DMChannel), message.channel
    await message.channel.send("yes?")
    await message.author.send("are you there?")
    chat = await chat_of(f"chat of {ROOM}")
    texts = [shown["text"] for shown in chat["messages"]]
    assert texts == ["psst", "yes?", "are you there?"], texts


async def press(bot, message):
    pressed = asyncio.get_running_loop().create_future()

    class Buttons(discord.ui.View):
        @discord.ui.button(label="Approve", custom_id="approve")
        async def approve(self, interaction, button):
            await interaction.response.defer()
            pressed.set_result(interaction)

    shown = await message.channel.send("may I?", view=Buttons())
    press = {"message": str(shown.id), "button": "Approve", "sender": "ada"}
    assert (await at_sim("press", press))["found"]
    interaction = await asyncio.wait_for(pressed, PATIENCE)
    assert interaction.user.name == "ada" and interaction.message.id == shown.id


async def choose(bot):
    chosen = asyncio.get_running_loop().create_future()

    @bot.tree.command(name="title", description="Name this conversation")
    async def title(interaction, text: str):
        await interaction.response.send_message("Got it.", ephemeral=True)
        chosen.set_result(text)

    registered = await bot.tree.sync()
    assert [command.name for command in registered] == ["title"], registered
    command = {"chat": ROOM, "kind": "group", "sender": "ada", "name": "title", "text": "plans"}
    await at_sim("command", command)
    assert await asyncio.wait_for(chosen, PATIENCE) == "plans"


async def files(bot, message):
    report = discord.File(io.BytesIO(b"all is well"), filename="report.txt")
    sent = await message.channel.send("the report", file=report)
    assert sent.attachments[0].filename == "report.txt"
    assert await sent.attachments[0].read() == b"all is well"
    notes = {"name": "notes.txt", "media_type": "text/plain", "content": "some notes"}
    await at_sim("message", write("see", files=[notes]))
    heard = await bot.next()
    assert heard.attachments[0].content_type == "text/plain"
    assert await heard.attachments[0].read() == b"some notes"


async def threads(bot, message):
    thread = await message.create_thread(name=f"{ROOM} plans")
    await thread.send("here")
    chat = await chat_of(ROOM, str(thread.id))
    assert [shown["text"] for shown in chat["messages"]] == ["here"], chat
    await at_sim("message", write("in it", thread=str(thread.id)))
    heard = await bot.next()
    assert isinstance(heard.channel, discord.Thread), heard.channel
    assert heard.channel.id == thread.id and heard.channel.parent.name == ROOM
    await at_sim("message", write("an idea", chat=f"{ROOM} ideas", kind="forum", thread=f"{ROOM} post"))
    heard = await bot.next()
    assert isinstance(heard.channel.parent, discord.ForumChannel), heard.channel.parent
    await at_sim("message", write("news", chat=f"{ROOM} news", kind="channel"))
    heard = await bot.next()
    assert heard.channel.is_news()


async def errors(bot, message):
    channel = message.channel

    async def fails(with_type, code, doing):
        try:
            await doing
        except discord.HTTPException as error:
            assert type(error) is with_type and error.code == code, (type(error), error.code)
        else:
            raise AssertionError(f"no {with_type.__name__}")

    await fails(discord.HTTPException, 50035, channel.send("x" * 2001))
    await fails(discord.HTTPException, 50006, channel.send(""))
    await fails(discord.NotFound, 10008, channel.fetch_message(42))
    await fails(discord.NotFound, 10003, bot.fetch_channel(42))
    await at_sim("fault", fault("send", "403 50013"))
    await fails(discord.Forbidden, 50013, channel.send("no"))
    # The library waits by itself for as long as it is told, and then succeeds.
    await at_sim("fault", fault("send", "429", retry_after=1))
    await channel.send("after a while")
    await at_sim("fault", fault("send", "400 50035"))
    await fails(discord.HTTPException, 50035, channel.send("no"))
    # A nonce is one message.
    for _ in range(2):
        await channel.send("once", nonce="1234")


async def history(bot, message):
    texts = [it.content async for it in message.channel.history(after=message, limit=None)]
    chat = await chat_of(ROOM, "")
    shown = [it["text"] for it in chat["messages"]][1:]
    assert texts == shown, (texts, shown)


async def reconnect(bot):
    await at_sim("fault", fault("socket", "400 reconnect"))
    await at_sim("message", write("while away"))
    heard = await bot.next()
    assert heard.content == "while away"
    await asyncio.wait_for(bot.resumed.wait(), PATIENCE)
    await at_sim("message", write("and back"))
    assert (await bot.next()).content == "and back"


async def unauthorized():
    bot = discord.Client(intents=discord.Intents.default())
    try:
        await bot.login("not the token")
    except discord.LoginFailure:
        pass
    else:
        raise AssertionError("any token is accepted")
    finally:
        await bot.close()


async def main():
    await unauthorized()
    bot = Bot()
    async with bot:
        running = asyncio.create_task(bot.start(TOKEN))
        ready = asyncio.create_task(bot.wait_until_ready())
        # A client that is told nothing more is ready after a while of its own.
        await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
        assert ready.done(), running
        message = await talk(bot)
        await direct(bot)
        await press(bot, message)
        await choose(bot)
        await files(bot, message)
        await threads(bot, message)
        await errors(bot, message)
        await history(bot, message)
        await reconnect(bot)
    print(f"ok: discord.py {discord.__version__}")


asyncio.run(main())
