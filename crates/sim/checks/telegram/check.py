"""Does an independent client work against the simulated Bot API?

    talaria-sim telegram --listen 127.0.0.1:4803 --token 1000001:secret &
    python3 check.py http://127.0.0.1:4803 1000001:secret

Runs python-telegram-bot and aiogram, each unmodified, through the same story: receive, reply, edit, typing, buttons and a
press, files up and down, a topic, a mark, the errors by each library's own names, a rival, a webhook's absence, a
reconnect after a lost answer. Needs nothing but the two libraries. Says what it did; ends with 1 at the first surprise.
"""

import asyncio
import json
import logging
import sys
import urllib.request

URL, TOKEN = sys.argv[1].rstrip("/"), sys.argv[2]
BOT = int(TOKEN.split(":")[0])
FORUM = -1009876543210
# What goes wrong on purpose is not worth a word.
logging.disable(logging.CRITICAL)


def sim(path, body=None):
    """Asks the control side."""
    payload = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"{URL}/sim/{path}", data=payload, headers={"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def write(chat, kind, text, **more):
    """Somebody writes; gives the message's number."""
    sender = more.pop("sender", "4242")
    body = {"chat": str(chat), "kind": kind, "sender": sender, "text": text, **more}
    return int(sim("message", body)["id"])


def fault(on, do, **more):
    sim("fault", {"on": on, "do": do, **more})


def shown(chat, message):
    """A message as people see it."""
    messages = sim(f"chats/{chat}")["messages"]
    return next(found for found in messages if found["message_id"] == str(message))


def expect(what, condition, found=None):
    if not condition:
        print(f"  NOT {what}: {found!r}")
        sys.exit(1)
    print(f"  {what}")


async def to_thread(function, *arguments, **more):
    """The control side is asked beside the loop, as a person would."""
    return await asyncio.to_thread(function, *arguments, **more)


async def python_telegram_bot(chat):
    import telegram
    from telegram import InlineKeyboardButton, InlineKeyboardMarkup, ReactionTypeEmoji, error
    from telegram.ext import (
        Application,
        CallbackQueryHandler,
        MessageHandler,
        MessageReactionHandler,
        filters,
    )

    print(f"python-telegram-bot {telegram.__version__}")
    heard = asyncio.Queue()

    async def hear(update, _context):
        await heard.put(update)

    builder = Application.builder().token(TOKEN)
    builder = builder.base_url(f"{URL}/bot").base_file_url(f"{URL}/file/bot")
    application = builder.get_updates_read_timeout(60).build()
    application.add_handler(MessageHandler(filters.ALL, hear))
    application.add_handler(CallbackQueryHandler(hear))
    application.add_handler(MessageReactionHandler(hear))
    application.add_error_handler(hear)
    bot = application.bot

    first = await to_thread(write, chat, "direct", "written while nobody listened", sender=str(chat))
    async with application:
        await application.start()
        await application.updater.start_polling(
            timeout=5, allowed_updates=telegram.Update.ALL_TYPES, drop_pending_updates=False
        )

        async def next_update():
            return await asyncio.wait_for(heard.get(), 20)

        me = await bot.get_me()
        expect("knows who it is", me.id == BOT and me.is_bot, me)
        update = await next_update()
        expect("hears what was written before", update.message.message_id == first, update)
        expect("in a direct chat with its writer", update.message.chat.id == chat == update.message.from_user.id, update)

        sent = await update.message.reply_text("<b>bold</b> &amp; more", parse_mode="HTML", do_quote=True)
        seen = await to_thread(shown, chat, sent.message_id)
        expect("replies, and people see it", seen["text"] == "bold & more" and seen["reply_to"] == str(first), seen)
        expect("entities come back", sent.entities[0].type == "bold", sent.entities)
        await sent.edit_text("changed")
        seen = await to_thread(shown, chat, sent.message_id)
        expect("edits", seen["text"] == "changed" and seen["edits"] == 1, seen)
        await expect_error("an edit that changes nothing", error.BadRequest, "not modified", sent.edit_text("changed"))

        await bot.send_chat_action(chat, "typing")
        signs = (await to_thread(sim, f"chats/{chat}"))["signs"]
        expect("types", signs[-1]["says"] == "typing", signs)

        keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="token:yes")]])
        asked = await bot.send_message(chat, "May I?", reply_markup=keyboard)
        press = {"message": str(asked.message_id), "button": "Yes", "sender": str(chat)}
        await to_thread(sim, "press", press)
        update = await next_update()
        query = update.callback_query
        expect("hears a press", query.data == "token:yes" and query.message.message_id == asked.message_id, update)
        expect("answers it", await query.answer("thanks"))
        await expect_error("a press that is answered twice", error.BadRequest, "query is too old", query.answer())

        content = bytes(range(256)) * 100
        document = await bot.send_document(chat, content, filename="all.bin", caption="look")
        seen = await to_thread(shown, chat, document.message_id)
        expect("sends a file", seen["file"]["name"] == "all.bin" and seen["text"] == "look", seen["file"]["name"])
        back = await (await bot.get_file(document.document.file_id)).download_as_bytearray()
        expect("fetches it to the byte", bytes(back) == content, len(back))
        photo = await bot.send_photo(chat, b"not really a picture", filename="p.png")
        expect("sends a picture", len(photo.photo) == 2, photo)
        file = {"name": "n.txt", "media_type": "text/plain", "content": "what I noticed"}
        await to_thread(write, chat, "direct", "", sender=str(chat), files=[file])
        update = await next_update()
        back = await (await update.message.document.get_file()).download_as_bytearray()
        expect("fetches what somebody sent", bytes(back) == b"what I noticed", back)

        question = await to_thread(write, FORUM, "forum", "hello", thread="42")
        update = await next_update()
        expect("hears a topic", update.message.message_thread_id == 42 and update.message.is_topic_message, update)
        answer = await bot.send_message(FORUM, "in the topic", message_thread_id=42)
        seen = await to_thread(shown, FORUM, answer.message_id)
        expect("answers in it", seen["thread"] == "42", seen)
        topic = await bot.create_forum_topic(FORUM, "A report")
        answer = await bot.send_message(FORUM, "there", message_thread_id=topic.message_thread_id)
        seen = await to_thread(shown, FORUM, answer.message_id)
        expect("opens a topic", seen["thread"] == str(topic.message_thread_id), seen)
        gone = bot.send_message(FORUM, "x", message_thread_id=4711)
        await expect_error("a topic that is not there", error.BadRequest, "message thread not found", gone)
        general = bot.send_message(FORUM, "x", message_thread_id=1)
        await expect_error("General by its number", error.BadRequest, "message thread not found", general)

        await bot.set_message_reaction(FORUM, question, "👀")
        seen = await to_thread(shown, FORUM, question)
        expect("marks", seen["marks"] == [[str(BOT), "👀"]], seen)
        odd = bot.set_message_reaction(FORUM, question, ReactionTypeEmoji("🧀"))
        await expect_error("a mark that is none", error.BadRequest, "REACTION_INVALID", odd)
        reaction = {"message": str(answer.message_id), "reaction": "🎉", "sender": "4242"}
        await to_thread(sim, "reaction", reaction)
        update = await next_update()
        expect("hears a mark", update.message_reaction.new_reaction[0].emoji == "🎉", update)

        await bot.set_my_commands([("help", "what I understand")])
        expect("shows commands", (await bot.get_my_commands())[0].command == "help")

        await to_thread(fault, "send", "429", retry_after=37)
        try:
            await bot.send_message(chat, "x")
            expect("is told to wait", False)
        except error.RetryAfter as told:
            wait = told.retry_after
            wait = wait.total_seconds() if hasattr(wait, "total_seconds") else wait
            expect("is told to wait", wait == 37, wait)
        await to_thread(fault, "send", "403")
        await expect_error("forbidden", error.Forbidden, "blocked", bot.send_message(chat, "x"))
        await expect_error("a chat that is not there", error.BadRequest, "Chat not found", bot.send_message(12, "x"))
        bad = bot.send_message(chat, "<p>x</p>", parse_mode="HTML")
        await expect_error("bad markup", error.BadRequest, "Can't parse entities", bad)
        await expect_error("too long", error.BadRequest, "too long", bot.send_message(chat, "x" * 4097))
        await to_thread(fault, "send", "400 migrate -1005")
        try:
            await bot.send_message(chat, "x")
            expect("is told of a migration", False)
        except error.ChatMigrated as told:
            expect("is told of a migration", told.new_chat_id == -1005, told)
        await to_thread(fault, "send", "500")
        await expect_error("a server that is not well", error.NetworkError, "", bot.send_message(chat, "x"))

        await to_thread(fault, "updates", "drop_after_accept")
        again = await to_thread(write, chat, "direct", "after a lost answer", sender=str(chat))
        update = await next_update()
        while isinstance(update, telegram.Update) is False or update.message is None:
            update = await next_update()
        expect("reconnects and loses nothing", update.message.message_id == again, update)
        await application.updater.stop()
        await application.stop()

    rival = telegram.Bot("9:nobody", base_url=f"{URL}/bot")
    await expect_error("a token that is none", error.InvalidToken, "", rival.get_me())


async def expect_error(what, kind, words, attempt):
    try:
        await attempt
    except kind as told:
        expect(f"{what} is its {kind.__name__}", words.lower() in str(told).lower(), str(told))
        return
    expect(what, False, "no error")


async def with_aiogram(chat):
    import aiogram
    from aiogram import Bot, Dispatcher, exceptions
    from aiogram.client.session.aiohttp import AiohttpSession
    from aiogram.client.telegram import TelegramAPIServer
    from aiogram.types import BufferedInputFile, InlineKeyboardButton, InlineKeyboardMarkup

    print(f"aiogram {aiogram.__version__}")
    session = AiohttpSession(api=TelegramAPIServer.from_base(URL))
    bot, dispatcher, heard = Bot(TOKEN, session=session), Dispatcher(), asyncio.Queue()

    @dispatcher.message()
    @dispatcher.callback_query()
    async def hear(event):
        await heard.put(event)

    polling = asyncio.create_task(dispatcher.start_polling(bot, handle_signals=False, polling_timeout=5))

    async def next_event():
        return await asyncio.wait_for(heard.get(), 20)

    first = await to_thread(write, chat, "direct", "/start now", sender=str(chat))
    message = await next_event()
    expect("hears", message.message_id == first and message.text == "/start now", message)
    expect("finds the command", message.entities[0].type == "bot_command", message.entities)
    sent = await message.answer("one")
    await sent.edit_text("two")
    seen = await to_thread(shown, chat, sent.message_id)
    expect("answers and edits", seen["text"] == "two" and seen["edits"] == 1, seen)
    await bot.send_chat_action(chat, "typing")
    keyboard = InlineKeyboardMarkup(
        inline_keyboard=[[InlineKeyboardButton(text="Yes", callback_data="token:yes")]]
    )
    asked = await bot.send_message(chat, "May I?", reply_markup=keyboard)
    press = {"message": str(asked.message_id), "button": "Yes", "sender": str(chat)}
    await to_thread(sim, "press", press)
    query = await next_event()
    expect("hears a press and answers it", query.data == "token:yes" and await query.answer(), query)
    content = bytes(range(256)) * 100
    document = await bot.send_document(chat, BufferedInputFile(content, "all.bin"), caption="look")
    back = await bot.download(document.document)
    expect("sends a file and fetches it to the byte", back.read() == content)
    await to_thread(write, FORUM, "forum", "hello", thread="43")
    message = await next_event()
    answer = await message.answer("in the topic")
    seen = await to_thread(shown, FORUM, answer.message_id)
    expect("answers in the topic", seen["thread"] == "43", seen)

    await to_thread(fault, "send", "429", retry_after=37)
    try:
        await bot.send_message(chat, "x")
        expect("is told to wait", False)
    except exceptions.TelegramRetryAfter as told:
        expect("is told to wait", told.retry_after == 37, told)
    await to_thread(fault, "send", "403")
    await expect_error("forbidden", exceptions.TelegramForbiddenError, "blocked", bot.send_message(chat, "x"))
    await expect_error("bad request", exceptions.TelegramBadRequest, "chat not found", bot.send_message(12, "x"))
    await to_thread(fault, "send", "400 migrate -1005")
    await expect_error("migration", exceptions.TelegramMigrateToChat, "-1005", bot.send_message(chat, "x"))
    await to_thread(fault, "send", "500")
    await expect_error("a server that is not well", exceptions.TelegramServerError, "", bot.send_message(chat, "x"))
    await to_thread(fault, "upload", "413")
    large = bot.send_document(chat, BufferedInputFile(b"x", "x"))
    await expect_error("too large", exceptions.TelegramEntityTooLarge, "", large)
    other = Bot("9:nobody", session=session)
    await expect_error("a token that is none", exceptions.TelegramUnauthorizedError, "", other.get_me())

    # A second one asks: the first is told so.
    rival = asyncio.create_task(bot.get_updates(timeout=20))
    await asyncio.sleep(0)
    await expect_error("a rival", exceptions.TelegramConflictError, "other getUpdates", rival)
    await dispatcher.stop_polling()
    await polling
    await bot.session.close()


async def main():
    await python_telegram_bot(777001)
    await with_aiogram(777002)
    print("telegram: the simulated vendor is believed")


asyncio.run(main())
